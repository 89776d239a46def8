// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.turns.TurnQueue;
import java.util.List;
import java.util.Optional;

/** A caller that waits for a local turn: the lease to come, complete early if the caller gives up. */
final class LocalWaiter extends AcquireFuture implements TurnQueue.Caller<ZkLease> {
    private boolean queued;

    LocalWaiter(ClientContext context, LockTarget lock, WaitPolicy waitPolicy) {
        super(context, context.eventsOf(List.of(lock)), waitPolicy, () -> {});
        // Before the answer is open, which a failure of the engine ends at once.
        events().requested();
        open();
    }

    Recipe recipe() {
        return events().members().get(0).recipe();
    }

    @Override
    public boolean reads() {
        return recipe().tag() == Tag.READ;
    }

    @Override
    public boolean excludes() {
        return recipe().isExclusive();
    }

    /** Returns the events of a request for a node that is to serve this waiter. */
    RequestEvents ofNode() {
        return events().ofPart(members(), !queued);
    }

    /** Returns those of a request for a node that is to serve others, when this one holds already. */
    RequestEvents ofNextNode() {
        return events().ofNoCaller(members());
    }

    /** Each owner's own limit begins when the lease is passed to that owner. */
    private List<LockTarget> members() {
        return events().members().stream().map(LockTarget::unlimited).toList();
    }

    @Override
    public void queued(int position) {
        queued = true;
        events().queued(position);
    }

    @Override
    public void refuse(Throwable error) {
        boolean unused = fail(error);
    }

    @Override
    public boolean take(ZkLease lease) {
        lease.goesTo(events());
        boolean taken = complete(Optional.of(lease));
        if (!taken) {
            events().released();
        }
        return taken;
    }
}
