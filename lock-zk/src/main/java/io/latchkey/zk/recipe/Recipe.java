package io.latchkey.zk.recipe;

import io.latchkey.zk.queue.Decision;
import io.latchkey.zk.queue.Kind;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Queue;
import io.latchkey.zk.queue.Tag;
import java.util.List;

/**
 * One way to share a path.
 *
 * @param kind what the path's data must say
 * @param tag what the request's name says
 * @param permits how many permits it asks for
 * @param sharing whether a holder excludes all others, so that its release hands over to the next
 * @param rule who holds
 */
public record Recipe(Kind kind, Tag tag, int permits, Sharing sharing, Rule rule) {
    /** Whether everything before a holder is known to be gone. */
    public enum Sharing {
        EXCLUSIVE,
        SHARED
    }

    public static final Recipe MUTEX = new Recipe(Kind.MUTEX, Tag.WRITE, 1, Sharing.EXCLUSIVE, Recipe::first);

    /**
     * The first in the queue holds; everybody else waits for the one right before. Nodes are appended only, so nothing
     * can come to stand before a holder, and the immediate predecessor stays the immediate predecessor.
     */
    private static Decision first(Queue queue, NodeName me) {
        List<NodeName> before = queue.before(me);
        return before.isEmpty() ? new Decision.Hold() : new Decision.Wait(List.of(before.get(before.size() - 1)));
    }
}
