// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import java.util.List;

/**
 * One way to share a path.
 *
 * @param purpose what the path's data must say
 * @param tag what the request's name says
 * @param permits how many permits it asks for
 * @param sharing whether a holder excludes all others, so that its release hands over to the next
 * @param rule who holds
 */
public record Recipe(PathData purpose, Tag tag, int permits, Sharing sharing, Rule rule) {
    /** Whether everything before a holder is known to be gone. */
    public enum Sharing {
        EXCLUSIVE,
        SHARED
    }

    /** Eight watches cost a waiter less than the write by which a holder tells the next. */
    private static final Rule SEMAPHORE_RULE = new SemaphoreRule(8);

    public static final Recipe MUTEX = new Recipe(PathData.MUTEX, Tag.WRITE, 1, Sharing.EXCLUSIVE);
    public static final Recipe WRITE = new Recipe(PathData.READ_WRITE, Tag.WRITE, 1, Sharing.EXCLUSIVE);
    public static final Recipe READ = new Recipe(PathData.READ_WRITE, Tag.READ, 1, Sharing.SHARED);

    private Recipe(PathData purpose, Tag tag, int permits, Sharing sharing) {
        this(purpose, tag, permits, sharing, ruleFor(tag));
    }

    /** So many permits of a semaphore for which so many are declared. */
    public static Recipe semaphore(int declared, int permits) {
        return new Recipe(PathData.semaphore(declared), Tag.LEASE, permits, Sharing.SHARED);
    }

    /** One of so many permits, asked for by whoever's turn it is, so that nobody else waits. */
    public static Recipe gatedPermit(int declared) {
        return new Recipe(PathData.semaphore(declared), Tag.LEASE, 1, Sharing.SHARED, Recipe::roomForAll);
    }

    /** Who holds, of the requests with this tag. */
    public static Rule ruleFor(Tag tag) {
        return switch (tag) {
            case WRITE -> Recipe::nothingBefore;
            case READ -> Recipe::noWriteBefore;
            case LEASE -> SEMAPHORE_RULE;
        };
    }

    /** For a person to read. */
    public String describe() {
        return switch (tag) {
            case WRITE -> purpose.kind() == Kind.MUTEX ? "mutex" : "write lock";
            case READ -> "read lock";
            case LEASE -> PathData.permits(permits) + " of semaphore";
        };
    }

    /**
     * The first in the queue holds; everybody else waits for the one right before. Nodes are appended only, so nothing
     * can come to stand before a holder, and the immediate predecessor stays the immediate predecessor.
     */
    private static Decision nothingBefore(Queue queue, NodeName me) {
        List<NodeName> before = queue.before(me);
        return before.isEmpty() ? new Decision.Hold() : new Decision.Blocked(List.of(before.get(before.size() - 1)));
    }

    /**
     * It holds when there is room for all up to it. Others may count those behind it as well and so wait for longer, never
     * for less. All before it hold, as far as it is its turn: any of them may leave.
     */
    private static Decision roomForAll(Queue queue, NodeName me) {
        boolean room = queue.before(me).size() < queue.purpose().capacity();
        return room ? new Decision.Hold() : new Decision.Lead(queue);
    }

    /**
     * A reader holds when no writer is before it, and waits for the nearest: before that one goes it cannot hold,
     * whatever becomes of those further ahead, so M readers behind k writers are woken M times.
     */
    private static Decision noWriteBefore(Queue queue, NodeName me) {
        List<NodeName> before = queue.before(me);
        int nearest = before.size() - 1;
        while (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {
            nearest--;
        }
        return nearest < 0 ? new Decision.Hold() : new Decision.Blocked(List.of(before.get(nearest)));
    }
}
