// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A store that keeps the ledger of its session's nodes, and sends no creation that would need more of the transaction
 * by which the servers end the session than the client may have. Such a creation is answered with {@link
 * Status#SESSION_FULL} at once. Events do not pass here: the listener reports deletions to the {@link #nodes() ledger}.
 */
public final class CountedStore implements ZnodeStore {
    private final ZnodeStore store;
    private final SessionNodes nodes;
    /** What the paths of the session's nodes may need together, in bytes. */
    private final long most;

    public CountedStore(ZnodeStore store, long most) {
        this.store = store;
        this.nodes = store.nodes();
        this.most = most;
    }

    @Override
    public ZnodeStore sender() {
        return store.sender();
    }

    @Override
    public SessionNodes nodes() {
        return nodes;
    }

    @Override
    public Optional<String> fullFor(List<String> beginnings) {
        return nodes.hasRoomFor(beginnings, most) ? Optional.empty() : Optional.of(howFull());
    }

    private String howFull() {
        return nodes.sum() + " of " + most + " bytes";
    }

    // ---- writes

    @Override
    public void create(String path, byte[] data, Consumer<Response<CreatedNode>> then) {
        List<Write> only = List.of(new Write.CreateRequest(path, data));
        unlessFull(
                only,
                then,
                sent -> store.create(path, data, answer -> {
                    if (answer.ok()) {
                        nodes.applied(sent, List.of(answer.get().name()));
                    } else {
                        notAnswered(sent, answer.code());
                    }
                    then.accept(answer);
                }));
    }

    @Override
    public void write(List<Write> writes, Consumer<Response<TransactionResult>> then) {
        unlessFull(
                writes,
                then,
                sent -> store.write(writes, answer -> {
                    if (answer.ok()) {
                        answer.get()
                                .failedAt()
                                .ifPresentOrElse(
                                        refusal -> failed(sent, writes, refusal),
                                        () -> nodes.applied(
                                                sent, names(writes, answer.get().created())));
                    } else {
                        notAnswered(sent, answer.code());
                    }
                    then.accept(answer);
                }));
    }

    private <T> void unlessFull(
            List<Write> writes, Consumer<Response<T>> then, Consumer<SessionNodes.SentTransaction> send) {
        Optional<SessionNodes.SentTransaction> sent = nodes.sending(creations(writes), deletions(writes), most);
        if (sent.isEmpty()) {
            then.accept(Response.failed(Status.SESSION_FULL, howFull()));
            return;
        }
        try {
            send.accept(sent.get());
        } catch (RuntimeException notSent) {
            nodes.refused(sent.get());
            throw notSent;
        }
    }

    private static List<SessionNodes.Creation> creations(List<Write> writes) {
        return writes.stream()
                .filter(CountedStore::createsNode)
                .map(write -> new SessionNodes.Creation(write.path(), write instanceof Write.CreateRequest))
                .toList();
    }

    private static List<String> deletions(List<Write> writes) {
        return writes.stream()
                .filter(Write.Delete.class::isInstance)
                .map(Write::path)
                .toList();
    }

    private static boolean createsNode(Write write) {
        return write instanceof Write.CreateRequest || write instanceof Write.CreateNode;
    }

    /** Returns the names of the session's nodes among all that a transaction created, in their order. */
    private static List<String> names(List<Write> writes, List<CreatedNode> created) {
        List<String> names = new ArrayList<>(1);
        int next = 0;
        for (Write write : writes) {
            if (createsNode(write)) {
                names.add(created.get(next++).name());
            } else if (write instanceof Write.CreatePath) {
                next++;
            }
        }
        return names;
    }

    private void notAnswered(SessionNodes.SentTransaction sent, Status code) {
        if (code.outcome() == Status.Outcome.OPEN) {
            nodes.lost(sent);
        } else {
            nodes.refused(sent);
        }
    }

    private void failed(SessionNodes.SentTransaction sent, List<Write> writes, Refusal refusal) {
        Write write = writes.get(refusal.index());
        if (refusal.code() == Status.NODE_EXISTS && createsNode(write)) {
            long before = writes.subList(0, refusal.index()).stream()
                    .filter(CountedStore::createsNode)
                    .count();
            nodes.existed(sent, (int) before);
            return;
        }
        nodes.failed(sent);
        // A creation is refused so if the path above is missing.
        if (refusal.code() == Status.NO_NODE && !createsNode(write) && !(write instanceof Write.CreatePath)) {
            nodes.gone(sent, write.path());
        }
    }

    // ---- reads

    @Override
    public void list(String path, Consumer<Response<Listing>> then) {
        store.list(path, listed(path, then));
    }

    @Override
    public void watchChildren(String path, Consumer<Response<Listing>> then) {
        store.watchChildren(path, listed(path, then));
    }

    private Consumer<Response<Listing>> listed(String path, Consumer<Response<Listing>> then) {
        SessionNodes.Look look = nodes.looking();
        return answer -> {
            listed(look, path, answer);
            then.accept(answer);
        };
    }

    private void listed(SessionNodes.Look look, String path, Response<Listing> answer) {
        if (answer.ok()) {
            nodes.listed(look, path, answer.get().children());
        } else if (answer.code() == Status.NO_NODE) {
            nodes.listed(look, path, List.of());
            nodes.gone(look, path);
        }
    }

    @Override
    public void lists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then) {
        SessionNodes.Look look = nodes.looking();
        store.lists(paths, answer -> {
            if (answer.ok()) {
                for (int i = 0; i < paths.size(); i++) {
                    listed(look, paths.get(i), answer.get().get(i));
                }
            }
            then.accept(answer);
        });
    }

    @Override
    public void exist(List<String> paths, Consumer<Response<List<Status>>> then) {
        SessionNodes.Look look = nodes.looking();
        store.exist(paths, answer -> {
            if (answer.ok()) {
                for (int i = 0; i < paths.size(); i++) {
                    goneIf(answer.get().get(i), look, paths.get(i));
                }
            }
            then.accept(answer);
        });
    }

    @Override
    public void read(String path, Consumer<Response<NodeData>> then) {
        store.read(path, seen(path, then));
    }

    @Override
    public void watchData(String path, Consumer<Response<NodeData>> then) {
        store.watchData(path, seen(path, then));
    }

    private Consumer<Response<NodeData>> seen(String path, Consumer<Response<NodeData>> then) {
        SessionNodes.Look look = nodes.looking();
        return answer -> {
            goneIf(answer.code(), look, path);
            then.accept(answer);
        };
    }

    private void goneIf(Status code, SessionNodes.Look look, String path) {
        if (code == Status.NO_NODE) {
            nodes.gone(look, path);
        }
    }

    // ---- the rest

    @Override
    public void sync(String path, Consumer<Response<String>> then) {
        store.sync(path, then);
    }

    @Override
    public long session() {
        return store.session();
    }

    @Override
    public int longestAnswer() {
        return store.longestAnswer();
    }

    @Override
    public void removeWatches(String path, Runnable then) {
        store.removeWatches(path, then);
    }

    @Override
    public void makeRoot(Consumer<Response<Boolean>> then) {
        store.makeRoot(then);
    }

    @Override
    public void close(Runnable then) {
        store.close(then);
    }

    @Override
    public boolean answersOn(Thread thread) {
        return store.answersOn(thread);
    }
}
