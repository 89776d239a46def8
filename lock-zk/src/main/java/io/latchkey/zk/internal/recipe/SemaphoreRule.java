// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The rule of a semaphore: a request holds when its permits and those of all before it are within the capacity. The
 * watches of a waiter must fire for every change that can grant it, in whatever order others leave. One change must not
 * wake all waiters (docs/protocol.md, "Semaphore: blocking sets and the chain").
 *
 * <p><b>Up to {@code mostWatched} permits: a blocking set.</b> It consists of predecessors whose permits together with
 * those of the request exceed the capacity. While all of them exist the request cannot hold, so nothing else needs to
 * wake it. They are taken from the shortest blocking suffix of its predecessors, so one release wakes waiters of at
 * most as many permits as the capacity. Those with the most permits come first, so that the set is small.
 *
 * <p><b>Above: a chain.</b> A blocking set would need many watches, and one release would wake many waiters. So a
 * request watches only its predecessor while that one waits itself: no successor can hold before it. A request that is
 * granted notifies its successor. A request whose predecessor may hold is at the head of the chain and watches every
 * change. No notification is missed: a request that is granted by a list notifies its successor in that list. A request
 * created later sees in its own list that its predecessor may hold, since nothing can have been inserted before that
 * one.
 *
 * <p><b>After a shrink</b> the predecessor may hold by a former capacity and will not notify its successor any more.
 * Following it would lose a permit. So it is followed only if it cannot hold by the largest capacity that the path ever
 * had, or if its node is younger than the path's data. A younger one has seen no list with a former capacity, and the
 * requests before it only become fewer. Since it does not fit the capacity now, it never did, and will still notify its
 * successor. When the data is written again, every waiter lists again. So requests created after a shrink cost as much
 * as without it.
 *
 * @param mostWatched the largest capacity for blocking sets
 */
record SemaphoreRule(int mostWatched) implements Rule {
    @Override
    public Decision decide(Queue queue, NodeName me) {
        int capacity = queue.purpose().capacity();
        long free = (long) capacity - me.permits();
        if (free < 0) {
            return new Decision.TooMany(capacity);
        }
        return capacity <= mostWatched ? byBlockingSet(queue, me, free) : inChain(queue, me, capacity);
    }

    private static Decision byBlockingSet(Queue queue, NodeName me, long free) {
        List<NodeName> before = queue.before(me);
        List<NodeName> suffix = new ArrayList<>();
        long taken = 0;
        for (int i = before.size() - 1; i >= 0 && taken <= free; i--) {
            suffix.add(before.get(i));
            taken += before.get(i).permits();
        }
        if (taken <= free) {
            return new Decision.Hold();
        }
        suffix.sort(Comparator.comparingInt(NodeName::permits).reversed());
        int enough = 0;
        for (long watched = 0; watched <= free; enough++) {
            watched += suffix.get(enough).permits();
        }
        return new Decision.Blocked(suffix.subList(0, enough));
    }

    private static Decision inChain(Queue queue, NodeName me, int capacity) {
        List<NodeName> before = queue.before(me);
        long taken = queue.permitsBefore(me);
        if (taken + me.permits() <= capacity) {
            return new Decision.Hold(queue.behind(me));
        }
        Decision.Lead lead = new Decision.Lead(queue);
        boolean lastMayHold = taken <= capacity;
        boolean lastMightHold = taken <= queue.purpose().largest();
        Optional<Decision.Lead> ifOlder = lastMightHold ? Optional.of(lead) : Optional.empty();
        return lastMayHold ? lead : new Decision.Follow(before.get(before.size() - 1), ifOlder);
    }
}
