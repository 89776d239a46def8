// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.testkit.sim.Tree.Effect;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.store.ZnodeStore.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The server that orders all writes: its tree is authoritative, and the other servers follow its log. */
final class Leader {
    private static final Response<ZnodeStore.TransactionResult> EXPIRED =
            Response.failed(Status.SESSION_EXPIRED, "SESSIONEXPIRED");

    private final SimulatedTime time;
    private final Tree tree = new Tree();
    private final List<Tree.Txn> log = new ArrayList<>();
    private final Counters counters = new Counters();
    private int servers;
    private final Sessions sessions;

    Leader(SimulatedTime time, Sessions.Expiry expiry) {
        this.time = time;
        this.sessions = new Sessions(time, expiry, session -> {
            counters.expiredByTime++;
            closeSession(session);
        });
    }

    SimulatedTime time() {
        return time;
    }

    Tree tree() {
        return tree;
    }

    /** All transactions so far; the first has zxid 1. */
    List<Tree.Txn> log() {
        return log;
    }

    /** Returns the address of a server that is started. */
    String newAddress() {
        servers++;
        return "server " + servers;
    }

    Counters counters() {
        return counters;
    }

    Sessions sessions() {
        return sessions;
    }

    long openSession(long timeoutNanos) {
        long session = sessions.open(timeoutNanos);
        commit(List.of(), 0);
        return session;
    }

    boolean hasSession(long session) {
        return sessions.has(session);
    }

    /** Ends a session: its ephemeral nodes go in one transaction. */
    void closeSession(long session) {
        if (sessions.close(session)) {
            List<Effect> deletions = new ArrayList<>();
            for (String path : tree.ephemeralsOf(session)) {
                deletions.add(Effect.Deleted.of(path));
            }
            commit(deletions, session);
        }
    }

    /** The response to a write, and the transaction that a server must have applied to send it. */
    record Outcome(Response<ZnodeStore.TransactionResult> answer, long zxid) {}

    Outcome write(long session, List<Write> writes) {
        if (!sessions.has(session)) {
            counters.writesOfDeadSessions++;
            return new Outcome(EXPIRED, tree.zxid());
        }
        PendingTransaction transaction = new PendingTransaction(tree);
        for (int i = 0; i < writes.size(); i++) {
            Status code = transaction.add(session, writes.get(i));
            if (code != Status.OK) {
                // A refused transaction has a number as well.
                long zxid = commit(List.of(), 0);
                ZnodeStore.Refusal refusal = new ZnodeStore.Refusal(i, code, code.name());
                return new Outcome(
                        Response.of(new ZnodeStore.TransactionResult(List.of(), Optional.of(refusal))), zxid);
            }
        }
        long zxid = commit(transaction.changes(), 0);
        List<ZnodeStore.CreatedNode> created =
                new ArrayList<>(transaction.created().size());
        for (String name : transaction.created()) {
            created.add(new ZnodeStore.CreatedNode(name, zxid));
        }
        return new Outcome(Response.of(new ZnodeStore.TransactionResult(created, Optional.empty())), zxid);
    }

    long commit(List<Effect> changes, long endedSession) {
        Tree.Txn txn = new Tree.Txn(tree.zxid() + 1, time.wallMillis(), changes, endedSession);
        log.add(txn);
        tree.apply(txn);
        return txn.zxid();
    }

    // ---- what others do

    /** Deletes a node, as an operator does by hand. */
    void delete(String path) {
        commit(List.of(Effect.Deleted.of(path)), 0);
    }

    /** Returns the response to a write without a transaction. */
    static Response<ZnodeStore.CreatedNode> alone(Response<ZnodeStore.TransactionResult> answer) {
        if (!answer.ok()) {
            return Response.failed(answer.code(), answer.detail());
        }
        Optional<ZnodeStore.Refusal> refusal = answer.get().failedAt();
        return refusal.isEmpty()
                ? Response.of(answer.get().created().get(0))
                : Response.failed(refusal.get().code(), refusal.get().detail());
    }
}
