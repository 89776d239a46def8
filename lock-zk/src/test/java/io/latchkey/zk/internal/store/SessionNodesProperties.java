// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Iterables;
import io.latchkey.zk.internal.store.ZnodeStore.CreatedNode;
import io.latchkey.zk.internal.store.ZnodeStore.Listing;
import io.latchkey.zk.internal.store.ZnodeStore.NodeData;
import io.latchkey.zk.internal.store.ZnodeStore.Refusal;
import io.latchkey.zk.internal.store.ZnodeStore.TransactionResult;
import io.latchkey.zk.internal.store.ZnodeStore.Write;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The ledger of a session's nodes beside servers that take requests, lose answers and have other clients, at random. */
class SessionNodesProperties {
    private static final byte[] DATA = new byte[0];
    /** What the path of a node takes beside its letters. */
    private static final int BYTES = 4;

    /** Each step is an action and what it is done with. */
    @Property(tries = 2_000)
    void ledgerIsNeverBelowTheTruth_andIsTheTruthBehindAListBehindABarrier(
            @ForAll @Size(max = 80) List<@IntRange(max = 9_999) Integer> steps) {
        Session session = new Session();
        for (int step : steps) {
            session.step(Action.values()[step % Action.values().length], step / Action.values().length);
            session.assertNeverBelowTheTruth();
        }
        session.settle();
        assertEquals(session.there, new TreeSet<>(session.nodes.known()));
        assertEquals(bytes(session.there), session.nodes.sum());
        for (String open : session.nodes.open()) {
            assertTrue(session.lost.contains(open), () -> open + " was not lost, of " + session.lost);
        }
    }

    private static long bytes(Collection<String> paths) {
        return paths.stream().mapToLong(path -> path.length() + BYTES).sum();
    }

    private enum Action {
        CREATE,
        CREATE_TOGETHER,
        CREATE_NAMED,
        REPLACE,
        REPEAT,
        DELETE,
        CHECK,
        LIST,
        READ,
        EXIST,
        OTHER_CLIENT_DELETES,
        LOSE_CONNECTION,
        SERVER_TAKES,
        SERVER_TAKES_ALL,
        ANSWER,
        ANSWER_ALL
    }

    /** A client's session with the servers. */
    private static final class Session {
        final SessionNodes nodes = SessionNodes.ofNewSession(0);
        /** The nodes that exist. */
        final Set<String> there = new TreeSet<>();
        /** The paths, or their beginnings, of creations whose answer was lost. */
        final Set<String> lost = new TreeSet<>();

        private final Queue<SentRequest> sent = new ArrayDeque<>();
        /** Answers and events on their way to the client, in their order. */
        private final Queue<Runnable> arriving = new ArrayDeque<>();
        /** Requests whose answers are on their way. */
        private final Queue<SentRequest> taken = new ArrayDeque<>();
        /** Writes that are committed ahead of the first of the present connection: the servers had them before. */
        private final Queue<SentRequest> late = new ArrayDeque<>();

        private final CountedStore store = new CountedStore(
                FakeStore.of(() -> nodes, (request, args) -> sent.add(request(request, args))), Long.MAX_VALUE);

        /** Replacements whose answer was lost, which are sent again as they were. */
        private final List<List<Write>> lostWrites = new ArrayList<>();

        private int numbers;

        /** A request at the server. */
        private record SentRequest(List<Write> writes, Supplier<Response<?>> action, Object then) {
            /** The server does it, and its answer is lost. */
            void takeUnanswered() {
                var unused = action.get();
            }

            void answer(Response<?> answer) {
                FakeStore.answer(then, answer);
            }
        }

        void step(Action action, int with) {
            List<String> known = nodes.known().stream().sorted().toList();
            Optional<String> one = known.isEmpty() ? Optional.empty() : Optional.of(known.get(with % known.size()));
            switch (action) {
                case CREATE -> store.create(fresh(with), DATA, answer -> {});
                case CREATE_TOGETHER ->
                    write(
                            new Write.CreatePath("/b"),
                            new Write.CreateRequest(fresh(0), DATA),
                            new Write.CreateRequest(fresh(1), DATA));
                case CREATE_NAMED -> write(new Write.CreateNode("/a/named-" + with % 2, DATA));
                case REPLACE ->
                    one.filter(path -> path.contains("write"))
                            .ifPresent(former -> write(
                                    new Write.CreateNode("/a/read-" + numbers++, DATA), new Write.Delete(former)));
                case REPEAT -> {
                    if (!lostWrites.isEmpty()) {
                        write(lostWrites.remove(0).toArray(Write[]::new));
                    }
                }
                case DELETE -> one.ifPresent(path -> write(new Write.Mark(path), new Write.Delete(path)));
                case CHECK ->
                    write(new Write.Check(one.filter(path -> with % 2 == 0).orElse("/")));
                case LIST -> {
                    if (with % 2 == 0) {
                        store.list("/a", answer -> {});
                    } else {
                        store.lists(List.of("/b", "/a"), answer -> {});
                    }
                }
                case READ -> one.ifPresent(path -> store.read(path, answer -> {}));
                case EXIST -> store.exist(known, answer -> {});
                case OTHER_CLIENT_DELETES -> otherClientDeletes(with);
                case LOSE_CONNECTION -> loseConnection(with);
                case SERVER_TAKES -> take();
                case SERVER_TAKES_ALL -> takeAll();
                case ANSWER -> arrive();
                case ANSWER_ALL -> arriveAll();
            }
        }

        private String fresh(int with) {
            return (with % 2 == 0 ? "/a" : "/b") + "/write-" + numbers++ + "-";
        }

        private void write(Write... writes) {
            store.write(List.of(writes), answer -> {});
        }

        private SentRequest request(String name, Object[] args) {
            Object then = args[args.length - 1];
            return switch (name) {
                case "create" -> {
                    List<Write> only = List.of(new Write.CreateRequest((String) args[0], DATA));
                    yield new SentRequest(only, () -> created(commit(only)), then);
                }
                case "write" -> {
                    List<Write> writes = writes(args[0]);
                    yield new SentRequest(writes, () -> commit(writes), then);
                }
                case "list" -> new SentRequest(List.of(), () -> children((String) args[0]), then);
                case "lists" ->
                    new SentRequest(List.of(), () -> Response.of(List.of(children("/b"), children("/a"))), then);
                case "read" -> new SentRequest(List.of(), () -> data((String) args[0]), then);
                case "exist" ->
                    new SentRequest(
                            List.of(),
                            () -> Response.of(((List<?>) args[0])
                                    .stream().map(this::status).toList()),
                            then);
                default -> throw new AssertionError(name);
            };
        }

        @SuppressWarnings("unchecked") // of a request to write
        private static List<Write> writes(Object argument) {
            return (List<Write>) argument;
        }

        // ---- the servers

        private static Response<CreatedNode> created(Response<TransactionResult> only) {
            return Response.of(only.get().created().get(0));
        }

        private Response<TransactionResult> commit(List<Write> writes) {
            Set<String> after = new TreeSet<>(there);
            List<CreatedNode> created = new ArrayList<>();
            for (int i = 0; i < writes.size(); i++) {
                String path = writes.get(i).path();
                Optional<Status> refused = Optional.empty();
                if (writes.get(i) instanceof Write.CreateRequest) {
                    String whole = path + String.format(Locale.ROOT, "%010d", numbers++);
                    after.add(whole);
                    created.add(new CreatedNode(CountedNode.nameOf(whole), 1));
                } else if (writes.get(i) instanceof Write.CreateNode) {
                    refused = after.add(path) ? Optional.empty() : Optional.of(Status.NODE_EXISTS);
                    created.add(new CreatedNode(CountedNode.nameOf(path), 1));
                } else if (writes.get(i) instanceof Write.CreatePath) {
                    created.add(new CreatedNode(CountedNode.nameOf(path), 1));
                } else if (!path.equals("/")) {
                    boolean exists = writes.get(i) instanceof Write.Delete ? after.remove(path) : after.contains(path);
                    refused = exists ? Optional.empty() : Optional.of(Status.NO_NODE);
                }
                if (refused.isPresent()) {
                    Refusal refusal =
                            new Refusal(i, refused.get(), refused.get().name());
                    return Response.of(new TransactionResult(List.of(), Optional.of(refusal)));
                }
            }
            there.clear();
            there.addAll(after);
            return Response.of(new TransactionResult(created, Optional.empty()));
        }

        private Response<Listing> children(String parent) {
            return Response.of(new Listing(
                    there.stream()
                            .filter(path -> path.startsWith(parent + "/"))
                            .map(CountedNode::nameOf)
                            .toList(),
                    1));
        }

        private Status status(Object path) {
            return there.contains(path) ? Status.OK : Status.NO_NODE;
        }

        private Response<?> data(String path) {
            return there.contains(path)
                    ? Response.of(new NodeData(DATA, 1, 1, 0, 0, 0, 1))
                    : Response.failed(Status.NO_NODE, "NONODE");
        }

        private void otherClientDeletes(int with) {
            if (!there.isEmpty()) {
                String path = Iterables.get(there, with % there.size());
                there.remove(path);
                arriving.add(() -> nodes.deleted(path));
            }
        }

        private void take() {
            SentRequest next = sent.poll();
            if (next == null) {
                return;
            }
            if (!next.writes.isEmpty()) {
                late.forEach(SentRequest::takeUnanswered);
                late.clear();
            }
            Response<?> answer = next.action.get();
            taken.add(next);
            arriving.add(() -> {
                taken.remove();
                next.answer(answer);
            });
        }

        private void takeAll() {
            while (!sent.isEmpty()) {
                take();
            }
        }

        private void arrive() {
            Runnable next = arriving.poll();
            if (next != null) {
                next.run();
            }
        }

        private void arriveAll() {
            while (!arriving.isEmpty()) {
                arrive();
            }
        }

        /** Some of the requests are taken all the same, at once or by the first write of the next connection. */
        private void loseConnection(int with) {
            List<SentRequest> unanswered = new ArrayList<>(taken);
            unanswered.addAll(sent);
            List<SentRequest> writes =
                    sent.stream().filter(one -> !one.writes.isEmpty()).toList();
            writes = writes.subList(0, with % (writes.size() + 1));
            if (with % 2 == 0) {
                late.addAll(writes);
            } else if (!writes.isEmpty()) {
                late.forEach(SentRequest::takeUnanswered);
                late.clear();
                writes.forEach(SentRequest::takeUnanswered);
            }
            taken.clear();
            arriving.clear();
            sent.clear();
            for (SentRequest each : unanswered) {
                each.writes.forEach(write -> lost.add(write.path()));
                if (each.writes.size() == 2 && each.writes.get(0) instanceof Write.CreateNode) {
                    lostWrites.add(each.writes);
                }
                each.answer(Response.failed(Status.CONNECTION_LOSS, "CONNECTIONLOSS"));
            }
        }

        // ---- what holds

        void assertNeverBelowTheTruth() {
            assertTrue(nodes.sum() >= bytes(there), () -> nodes.sum() + " for " + there);
        }

        void settle() {
            for (Runnable request : Arrays.<Runnable>asList(
                    () -> write(new Write.Check("/")), () -> store.lists(List.of("/b", "/a"), answer -> {}))) {
                request.run();
                takeAll();
                arriveAll();
            }
        }
    }
}
