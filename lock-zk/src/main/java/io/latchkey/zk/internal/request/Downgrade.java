// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The replacement of a write lease by a read lease (docs/protocol.md, "Downgrade"). One transaction creates a read node
 * with the write node's sequence number and deletes the write node, unmarked. So queued writers stay behind it, and
 * queued readers next to it are granted. The new name follows from the old one: a transaction that is repeated after a
 * lost response finds its own node.
 */
final class Downgrade {
    private static final Errors.Purpose DOWNGRADE = Errors.Purpose.toChange("downgrade a write lease");

    private final Holder holder;
    private final QueueEntry entry;
    private final Session session;
    private final ZkLease write;
    private final Recipe by;
    private final CompletableFuture<ZkLease> then;
    private final NodeName from;
    private final NodeName to;

    /** The request whose node is replaced. */
    interface Holder {
        /** Takes the new node, and returns a new lease with the same token, unless the former one has ended. */
        Optional<ZkLease> downgraded(ZkLease write, NodeName by);

        /** The node was not replaced. */
        void notDowngraded();
    }

    Downgrade(
            Holder holder,
            QueueEntry entry,
            Session session,
            ZkLease write,
            Recipe by,
            CompletableFuture<ZkLease> then) {
        this.holder = holder;
        this.entry = entry;
        this.session = session;
        this.write = write;
        this.by = by;
        this.then = then;
        this.from = entry.node().orElseThrow();
        this.to = entry.sessionQueue().naming().inPlace(from, by.tag());
    }

    void start() {
        entry.replacing(to);
        send();
    }

    private void send() {
        if (!entry.isHeld()) {
            return;
        }
        List<ZnodeStore.Write> writes = List.of(
                new ZnodeStore.Write.CreateNode(
                        entry.path().child(to), session.context().ownerDataWith(write.token(), entry.label())),
                new ZnodeStore.Write.Delete(entry.path().child(from)));
        session.connection().persist(entry::isHeld, writes, answer -> {
            if (entry.isHeld()) {
                answered(answer);
            }
        });
    }

    private void answered(Response<ZnodeStore.TransactionResult> answer) {
        switch (answer.code()) {
            case OK, NODE_EXISTS -> done();
            case NO_NODE -> {
                entry.notReplaced();
                entry.nodeGone(from);
            }
            case UNCLEAR -> lookLater(answer);
            default -> refused(answer);
        }
    }

    /** It may have been applied. A heartbeat is committed behind it, so the new node is there then, or never will be. */
    private void lookLater(Response<ZnodeStore.TransactionResult> unclear) {
        session.heartbeat().afterBeat(() -> {
            if (entry.isHeld()) {
                session.connection().read(entry::isHeld, entry.path().child(to), found -> {
                    if (entry.isHeld()) {
                        found(unclear, found.code());
                    }
                });
            }
        });
    }

    private void found(Response<ZnodeStore.TransactionResult> unclear, Status code) {
        switch (code) {
            case OK, NO_AUTH -> done();
            case NO_NODE -> refused(unclear);
            default -> lookLater(unclear);
        }
    }

    private void refused(Response<ZnodeStore.TransactionResult> answer) {
        entry.notReplaced();
        String displayPath = entry.path().shown();
        LockException error =
                switch (answer.code()) {
                    case NO_AUTH, SESSION_FULL -> Errors.of(displayPath, DOWNGRADE, answer);
                    default -> Errors.notDowngraded(displayPath, answer);
                };
        holder.notDowngraded();
        then.completeExceptionally(error);
    }

    private void done() {
        entry.replaced(by);
        Optional<ZkLease> read = holder.downgraded(write, to);
        read.ifPresentOrElse(then::complete, () -> refuse(write, then));
    }

    /** Fails the downgrade, as the request has ended. */
    void requestEnded() {
        entry.replacementOver();
        refuse(write, then);
    }

    /** Completes {@code then} with the reason why an ended lease cannot be downgraded. */
    static void refuse(ZkLease ended, CompletableFuture<ZkLease> then) {
        try {
            ended.ensureValid();
            then.completeExceptionally(new IllegalStateException("already being downgraded: " + ended));
        } catch (RuntimeException why) {
            then.completeExceptionally(why);
        }
    }
}
