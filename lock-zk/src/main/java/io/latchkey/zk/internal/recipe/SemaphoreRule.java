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
 * A request holds when its permits and those of all before it are within the capacity. What it watches until then must
 * tell of every change that lets it in, in whatever order others leave, and one change must not wake everybody
 * (docs/protocol.md, "Semaphore: blocking sets and the chain").
 *
 * <p><b>Up to {@code mostWatched} permits: a blocking certificate.</b> Predecessors whose permits alone, with its own,
 * exceed the capacity: as long as all of them are there it cannot hold, so nothing else need wake it. They are taken
 * from the shortest suffix of its predecessors that blocks, so that one release wakes waiters of at most capacity
 * permits, and heaviest first, so that they are few.
 *
 * <p><b>Above: a line.</b> A certificate would be many watches, and one release would wake many. So a request watches
 * only the one right before it, as long as that one waits itself: those behind it cannot hold before it does. It tells
 * when it holds. A request behind one that may hold leads the line and looks at every change. Why no word is missed: a
 * request that holds by a list tells the one behind it in that list; a request that comes later sees in its own list that
 * the one before may hold, since nothing can have come before that one since.
 *
 * <p><b>After a shrink</b> the one before may hold by a former capacity and have nothing more to tell. If it were followed,
 * a permit would be lost. So it is followed only if it cannot hold by the largest capacity that the path ever had, or if
 * its node is younger than the path's data. A younger one has seen no list with a former capacity, and what is before it
 * only becomes fewer: as it does not fit the capacity now, it never did, and has yet to tell. When the data is written
 * again, every waiter looks again. So requests that come after a shrink cost what they cost without it.
 *
 * @param mostWatched the largest capacity for certificates
 */
record SemaphoreRule(int mostWatched) implements Rule {
    @Override
    public Decision decide(Queue queue, NodeName me) {
        int capacity = queue.purpose().capacity();
        long free = (long) capacity - me.permits();
        if (free < 0) {
            return new Decision.TooMany(capacity);
        }
        return capacity <= mostWatched ? byCertificate(queue, me, free) : inLine(queue, me, capacity);
    }

    private static Decision byCertificate(Queue queue, NodeName me, long free) {
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

    private static Decision inLine(Queue queue, NodeName me, int capacity) {
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
