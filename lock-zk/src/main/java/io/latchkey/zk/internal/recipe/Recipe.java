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
 * A way of sharing a path.
 *
 * @param purpose the path data that is required
 * @param tag the tag in the request's name
 * @param permits the number of permits that it requests
 */
public record Recipe(PathData purpose, Tag tag, int permits) {
    /** Eight watches cost a waiter less than the write by which a holder notifies its successor. */
    private static final Rule SEMAPHORE_RULE = new SemaphoreRule(8);

    public static final Recipe MUTEX = new Recipe(PathData.MUTEX, Tag.WRITE, 1);
    public static final Recipe WRITE = new Recipe(PathData.READ_WRITE, Tag.WRITE, 1);
    public static final Recipe READ = new Recipe(PathData.READ_WRITE, Tag.READ, 1);

    /** Returns the recipe for {@code permits} of a semaphore with {@code declared} permits. */
    public static Recipe semaphore(int declared, int permits) {
        return new Recipe(PathData.semaphore(declared), Tag.LEASE, permits);
    }

    /** Returns whether a holder excludes all others: all before it are deleted, and its release grants the next one. */
    public boolean isExclusive() {
        return tag == Tag.WRITE;
    }

    /** Returns the rule that decides which requests hold. */
    public Rule rule() {
        return ruleFor(tag);
    }

    /** Returns the rule for requests with this tag. */
    public static Rule ruleFor(Tag tag) {
        return switch (tag) {
            case WRITE -> Recipe::nothingBefore;
            case READ -> Recipe::noWriteBefore;
            case LEASE -> SEMAPHORE_RULE;
        };
    }

    /** Describes the request for messages. */
    public String describe() {
        return switch (tag) {
            case WRITE -> purpose.kind() == Kind.MUTEX ? "mutex" : "write lock";
            case READ -> "read lock";
            case LEASE -> PathData.permits(permits) + " of semaphore";
        };
    }

    /**
     * Grants the first request in the queue; every other one waits for its predecessor. Later requests are behind, and
     * a downgrade puts a node only into its writer's place. So none can get ahead of a holder, or between a request and
     * its predecessor.
     */
    private static Decision nothingBefore(Queue queue, NodeName me) {
        List<NodeName> before = queue.before(me);
        if (before.isEmpty()) {
            return new Decision.Hold();
        }
        NodeName last = before.get(before.size() - 1);
        // A writer that downgrades leaves a reader in its place.
        Tag replaced = queue.purpose().kind() == Kind.MUTEX ? Tag.READ : Tag.WRITE;
        return new Decision.Blocked(List.of(last), before.size() == 1 && last.tag() != replaced);
    }

    /**
     * Grants a reader if no writer is before it; otherwise it waits for the nearest one. Before that writer is deleted
     * the reader cannot hold, whatever happens further ahead. So M readers behind k writers are woken M times.
     */
    private static Decision noWriteBefore(Queue queue, NodeName me) {
        List<NodeName> before = queue.before(me);
        int nearest = before.size() - 1;
        while (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {
            nearest--;
        }
        if (nearest < 0) {
            return new Decision.Hold();
        }
        boolean alone = before.stream().limit(nearest).noneMatch(name -> name.tag() == Tag.WRITE);
        return new Decision.Blocked(List.of(before.get(nearest)), alone);
    }
}
