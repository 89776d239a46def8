// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * The leader's sessions and their ages. As in ZooKeeper, each message of a client resets the age of its session at the
 * client's server at once. The leader learns of it when that server answers the next ping, every half tick, and resets
 * the age only then. A session expires at the first tick after its timeout.
 */
final class Sessions {
    /** Ticks in a session timeout. ZooKeeper admits two or more; the tests use three. */
    private static final int TICKS_IN_TIMEOUT = 3;

    private final SimulatedTime time;
    private final SimulatedTime.View timers;
    private final Expiry expiry;
    private final LongConsumer expired;
    private final Map<Long, Age> alive = new HashMap<>();
    private long last;

    /** The events that can end a session. */
    enum Expiry {
        /** Its timeout, a forced expiry, or its client. */
        BY_TIME,
        /** A forced expiry or its client only: time ends neither the session nor the connection. */
        BY_FORCE
    }

    /** The time of the leader's last news of a session, and of its next. */
    private static final class Age {
        final long timeout;
        final long tick;
        long heard;
        /** The time at which the client's server reports its latest touch, or 0. */
        long report;

        Age(long timeout, long now) {
            this.timeout = timeout;
            this.tick = timeout / TICKS_IN_TIMEOUT;
            this.heard = now;
        }

        void touch(long now) {
            settle(now);
            long halfTick = tick / 2;
            report = (now / halfTick + 1) * halfTick;
        }

        /** Returns the time of its expiry, by the leader's news so far. */
        long end(long now) {
            settle(now);
            return ((heard + timeout) / tick + 1) * tick;
        }

        private void settle(long now) {
            if (report != 0 && report <= now) {
                heard = report;
                report = 0;
            }
        }
    }

    Sessions(SimulatedTime time, Expiry expiry, LongConsumer expired) {
        this.time = time;
        this.timers = time.view();
        this.expiry = expiry;
        this.expired = expired;
    }

    Expiry expiry() {
        return expiry;
    }

    long open(long timeoutNanos) {
        long session = ++last;
        alive.put(session, new Age(timeoutNanos, time.nanos()));
        watch(session);
        return session;
    }

    boolean has(long session) {
        return alive.containsKey(session);
    }

    boolean close(long session) {
        return alive.remove(session) != null;
    }

    /** Returns the sessions that are alive. */
    Set<Long> ids() {
        return alive.keySet();
    }

    /** Records that a server has heard from the session's client. */
    void touch(long session) {
        Age age = alive.get(session);
        if (age != null) {
            age.touch(time.nanos());
        }
    }

    /** Records that the leader itself has heard of the client, as on a reconnect. */
    void touchAtLeader(long session) {
        Age age = alive.get(session);
        if (age != null) {
            // A report that has arrived by now is older than this.
            age.settle(time.nanos());
            age.heard = time.nanos();
        }
    }

    private void watch(long session) {
        Age age = alive.get(session);
        if (age == null || expiry == Expiry.BY_FORCE) {
            return;
        }
        var unused = timers.at(SimulatedTime.ORIGIN + age.end(time.nanos()), () -> {
            Age now = alive.get(session);
            if (now != null && now.end(time.nanos()) <= time.nanos()) {
                expired.accept(session);
            } else {
                watch(session);
            }
        });
    }
}
