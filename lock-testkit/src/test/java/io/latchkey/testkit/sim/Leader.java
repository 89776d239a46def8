package io.latchkey.testkit.sim;

import io.latchkey.testkit.sim.Tree.Effect;
import io.latchkey.zk.queue.Kind;
import io.latchkey.zk.queue.PathData;
import io.latchkey.zk.session.Answer;
import io.latchkey.zk.session.Code;
import io.latchkey.zk.session.ZooPort;
import io.latchkey.zk.session.ZooPort.Write;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The server that orders all writes: its tree is the truth, its log is what the others follow. */
final class Leader {
    private static final byte[] EMPTY = new byte[0];
    private static final int ANY_VERSION = -1;

    private final SimulatedTime time;
    private final Tree tree = new Tree();
    private final List<Tree.Txn> log = new ArrayList<>();
    private final Set<Long> sessions = new HashSet<>();
    private long lastSession;

    Leader(SimulatedTime time) {
        this.time = time;
    }

    Tree tree() {
        return tree;
    }

    /** All transactions so far; the first has zxid 1. */
    List<Tree.Txn> log() {
        return log;
    }

    long openSession() {
        lastSession++;
        sessions.add(lastSession);
        commit(List.of());
        return lastSession;
    }

    boolean hasSession(long session) {
        return sessions.contains(session);
    }

    /** Ends a session: its ephemeral nodes go in one transaction. */
    void closeSession(long session) {
        if (sessions.remove(session)) {
            List<Effect> deletions = tree.ephemeralsOf(session).stream()
                    .<Effect>map(Effect.Deleted::new)
                    .toList();
            commit(deletions, session);
        }
    }

    /** An outcome of a write, and the transaction after which a server knows it. */
    record Outcome(Answer<ZooPort.Written> answer, long zxid) {}

    Outcome write(long session, List<Write> writes) {
        if (!sessions.contains(session)) {
            return new Outcome(Answer.failed(Code.SESSION_EXPIRED, "SESSIONEXPIRED"), tree.zxid());
        }
        Draft draft = new Draft();
        for (int i = 0; i < writes.size(); i++) {
            Code code = draft.add(session, writes.get(i));
            if (code != Code.OK) {
                // A refused transaction has a number as well.
                long zxid = commit(List.of());
                ZooPort.Refusal refusal = new ZooPort.Refusal(i, code, code.name());
                return new Outcome(Answer.of(new ZooPort.Written(List.of(), Optional.of(refusal))), zxid);
            }
        }
        long zxid = commit(draft.changes);
        List<ZooPort.Created> created = draft.created.stream()
                .map(name -> new ZooPort.Created(name, zxid))
                .toList();
        return new Outcome(Answer.of(new ZooPort.Written(created, Optional.empty())), zxid);
    }

    private long commit(List<Effect> changes) {
        return commit(changes, 0);
    }

    private long commit(List<Effect> changes, long endedSession) {
        Tree.Txn txn = new Tree.Txn(tree.zxid() + 1, time.wallMillis(), List.copyOf(changes), endedSession);
        log.add(txn);
        tree.apply(txn);
        return txn.zxid();
    }

    /** A transaction that is being put together: it sees what it has done so far. */
    private final class Draft {
        final List<Effect> changes = new ArrayList<>();
        final List<String> created = new ArrayList<>();

        Code add(long session, Write write) {
            if (write instanceof Write.CreatePath create) {
                return create(create.path(), EMPTY, 0);
            } else if (write instanceof Write.CreateNode create) {
                return create(create.path(), create.data(), session);
            } else if (write instanceof Write.CreateRequest create) {
                String parent = Tree.parent(create.path());
                if (!has(parent)) {
                    return Code.NO_NODE;
                }
                String name = String.format(Locale.ROOT, "%s%010d", create.path(), nextSequence(parent));
                return create(name, create.data(), session);
            } else if (write instanceof Write.Mark mark) {
                return set(mark.path(), EMPTY, ANY_VERSION);
            } else if (write instanceof Write.SetData set) {
                return set(set.path(), set.data(), set.version());
            } else if (write instanceof Write.Delete delete) {
                return delete(delete.path());
            } else if (write instanceof Write.Check check) {
                return has(check.path()) ? Code.OK : Code.NO_NODE;
            }
            throw new IllegalArgumentException("unknown write " + write);
        }

        private Code create(String path, byte[] data, long owner) {
            String parent = Tree.parent(path);
            if (!has(parent)) {
                return Code.NO_NODE;
            }
            if (tree.has(parent) && tree.isEphemeral(parent)) {
                return Code.NO_CHILDREN;
            }
            if (has(path)) {
                return Code.NODE_EXISTS;
            }
            changes.add(new Effect.Created(path, data, owner));
            created.add(Tree.name(path));
            return Code.OK;
        }

        private Code set(String path, byte[] data, int version) {
            if (!has(path)) {
                return Code.NO_NODE;
            }
            int now = tree.has(path) ? tree.version(path) : 0;
            if (version != ANY_VERSION && version != now) {
                return Code.BAD_VERSION;
            }
            changes.add(new Effect.DataSet(path, data));
            return Code.OK;
        }

        private Code delete(String path) {
            if (!has(path)) {
                return Code.NO_NODE;
            }
            if (tree.has(path) && tree.hasChildren(path)) {
                return Code.NOT_EMPTY;
            }
            changes.add(new Effect.Deleted(path));
            return Code.OK;
        }

        private boolean has(String path) {
            for (int i = changes.size() - 1; i >= 0; i--) {
                Effect change = changes.get(i);
                if (change instanceof Effect.Created done && done.path().equals(path)) {
                    return true;
                }
                if (change instanceof Effect.Deleted done && done.path().equals(path)) {
                    return false;
                }
            }
            return tree.has(path);
        }

        private int nextSequence(String parent) {
            int before = tree.has(parent) ? tree.nextSequence(parent) : 0;
            return before
                    + (int) changes.stream()
                            .filter(change -> change instanceof Effect.Created done
                                    && Tree.parent(done.path()).equals(parent))
                            .count();
        }
    }

    /** As an operator does by hand. */
    void delete(String path) {
        commit(List.of(new Effect.Deleted(path)));
    }

    /** As some other client does. */
    void resize(String path, int capacity) {
        PathData now = purpose(path);
        commit(List.of(new Effect.DataSet(path, now.resized(capacity).bytes())));
    }

    /** What the path is for. */
    PathData purpose(String path) {
        return PathData.parse(tree.read(path).orElseThrow().data()).orElseThrow();
    }

    /** The paths that are semaphores. */
    List<String> semaphores() {
        return tree.paths().stream()
                .filter(path -> PathData.parse(tree.read(path).orElseThrow().data())
                        .filter(data -> data.kind() == Kind.SEMAPHORE)
                        .isPresent())
                .toList();
    }

    /** The code of a write that was sent alone. */
    static Answer<ZooPort.Created> alone(Answer<ZooPort.Written> answer) {
        if (!answer.ok()) {
            return Answer.failed(answer.code(), answer.detail());
        }
        Optional<ZooPort.Refusal> refusal = answer.get().failedAt();
        return refusal.isEmpty()
                ? Answer.of(answer.get().created().get(0))
                : Answer.failed(refusal.get().code(), refusal.get().detail());
    }
}
