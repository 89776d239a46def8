// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.path.SessionQueue;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.Wire;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Turns a writer into a reader without letting go (docs/protocol.md, "Downgrade"): one transaction creates a read node
 * with the write node's own sequence number and deletes the write node, unmarked. So queued writers stay behind it and
 * queued readers come in. The new name follows from the old one: a transaction that is sent again after its answer was lost
 * finds its own node there.
 */
final class Downgrade {
    private final Shell shell;
    private final QueueEntry place;
    private final Session session;
    private final ZkLease write;
    private final Recipe by;
    private final CompletableFuture<ZkLease> then;
    private final NodeName from;
    private final NodeName to;

    /** The shell of the request whose node is replaced. */
    interface Shell {
        /** The node was replaced: a new lease with the same token takes over. */
        ZkLease downgraded(ZkLease write, NodeName by);

        /** The node stays as it is. */
        void notDowngraded();
    }

    Downgrade(
            Shell shell, QueueEntry place, Session session, ZkLease write, Recipe by, CompletableFuture<ZkLease> then) {
        this.shell = shell;
        this.place = place;
        this.session = session;
        this.write = write;
        this.by = by;
        this.then = then;
        this.from = place.node().orElseThrow();
        this.to = place.lane().naming().inPlace(from, by.tag());
    }

    void start() {
        place.replacing(to);
        send();
    }

    private void send() {
        if (!place.isHeld()) {
            return;
        }
        SessionQueue lane = place.lane();
        List<ZnodeStore.Write> writes = List.of(
                new ZnodeStore.Write.CreateNode(
                        lane.pathOf(to.text()), session.context().ownerDataWith(write.token(), place.label())),
                new ZnodeStore.Write.Delete(lane.pathOf(from.text())));
        session.wire().write(writes, answer -> {
            if (place.isHeld()) {
                answered(answer);
            }
        });
    }

    private void answered(Response<ZnodeStore.Written> answer) {
        switch (Wire.codeOf(answer)) {
            case OK, NODE_EXISTS -> done();
            case CONNECTION_LOSS, READ_ONLY -> session.wire().whenConnected(this::send);
            case NO_NODE -> {
                place.notReplaced();
                place.nodeGone(from);
            }
            default -> {
                place.notReplaced();
                String shown = session.context().shown(place.path());
                Response<?> refusal = Wire.plain(answer);
                LockException error = refusal.code() == Status.NO_AUTH
                        ? Errors.denied(shown, "downgrade a write lease", refusal)
                        : Errors.notDowngraded(shown, refusal);
                shell.notDowngraded();
                then.completeExceptionally(error);
            }
        }
    }

    private void done() {
        place.replaced(by);
        ZkLease read = shell.downgraded(write, to);
        if (write.handOver()) {
            then.complete(read);
        } else {
            // Released or found lost by its owner meanwhile: what follows from that is on its way.
            refuse(write, then);
        }
    }

    /** The request is over, and with it what was to be downgraded. */
    void requestEnded() {
        refuse(write, then);
    }

    /** Tells why a lease that ended cannot be downgraded. */
    static void refuse(ZkLease ended, CompletableFuture<ZkLease> then) {
        try {
            ended.ensureValid();
            then.completeExceptionally(new IllegalStateException("already being downgraded: " + ended));
        } catch (RuntimeException why) {
            then.completeExceptionally(why);
        }
    }
}
