// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.session.Session;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The queues of one session, by path: those that have requests of the session, or had some lately. */
public final class SessionQueues {
    private final Session session;
    private final Map<LockPath, SessionQueue> byPath = new HashMap<>();
    /** Queues that {@link #hasPendingWork} has still to look at. */
    private final Deque<SessionQueue> unchecked = new ArrayDeque<>(0);

    public SessionQueues(Session session) {
        this.session = session;
    }

    public Session session() {
        return session;
    }

    public SessionQueue at(LockPath path) {
        return byPath.computeIfAbsent(path, p -> new SessionQueue(session, p, this::dropIfIdle));
    }

    private void dropIfIdle(SessionQueue queue) {
        if (byPath.size() > ClientContext.MOST_REMEMBERED && queue.idle()) {
            byPath.remove(queue.path(), queue);
        }
    }

    /**
     * Returns whether any queue has pending work. While a client closes, this is called after every step, so a
     * queue is looked at again only while it has pending work.
     */
    public boolean hasPendingWork() {
        if (!anyHasPendingWork()) {
            unchecked.addAll(byPath.values());
        }
        return session.hasToLook() || anyHasPendingWork();
    }

    /** Returns whether the deletion of a node whose holder has released has no response yet. */
    public boolean hasPendingReleases() {
        return byPath.values().stream().anyMatch(SessionQueue::hasPendingReleases);
    }

    private boolean anyHasPendingWork() {
        while (!unchecked.isEmpty() && !unchecked.element().hasPendingWork()) {
            unchecked.remove();
        }
        return !unchecked.isEmpty();
    }

    /**
     * Ends the session.
     *
     * @param outcome the outcome for releases without a response
     */
    public void end(ReleaseOutcome outcome) {
        session.end();
        List.copyOf(byPath.values()).forEach(queue -> queue.sessionOver(outcome));
        // A caller may keep a lease of this session. The lease must not keep requests alive that continue in later
        // sessions.
        byPath.clear();
        unchecked.clear();
    }
}
