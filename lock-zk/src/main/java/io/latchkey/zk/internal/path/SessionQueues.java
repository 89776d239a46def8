// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.threads.SerialExecutor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** All queues in which requests of one session stand, or stood lately, by their paths. */
public final class SessionQueues {
    private final Session session;
    private final Map<String, SessionQueue> byPath = new HashMap<>();
    /** Queues of which {@link #owes} does not know yet that they owe nothing. */
    private final Deque<SessionQueue> owing = new ArrayDeque<>(0);

    public SessionQueues(Session session) {
        this.session = session;
    }

    public Session session() {
        return session;
    }

    public SessionQueue at(String path) {
        return byPath.computeIfAbsent(path, p -> new SessionQueue(session, p, this::dropIfIdle));
    }

    private void dropIfIdle(SessionQueue queue) {
        if (byPath.size() > session.context().lanesToKeep() && queue.idle()) {
            byPath.remove(queue.path(), queue);
        }
    }

    /** Asked after every answer while a client closes: a queue is looked at again only while it owes, until none seems to. */
    public boolean owes() {
        if (!someOwes()) {
            owing.addAll(byPath.values());
        }
        return someOwes();
    }

    private boolean someOwes() {
        while (!owing.isEmpty() && !owing.element().owes()) {
            owing.remove();
        }
        return !owing.isEmpty();
    }

    /** Ends the session; {@code told} is what the callers of releases that were not answered are told. */
    public void end(ReleaseOutcome told) {
        session.end();
        SerialExecutor.attemptEach(byPath.values(), queue -> queue.sessionOver(told));
        // Somebody may keep a lease of it: that must not keep requests that go on in the next session, and so all
        // sessions.
        byPath.clear();
        owing.clear();
    }
}
