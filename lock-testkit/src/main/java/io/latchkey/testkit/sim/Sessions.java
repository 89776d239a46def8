// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * The leader's sessions and their ages. As in ZooKeeper, what a client sends touches its session at the server that it is connected
 * to, at once; the leader hears of that with the server's answer to the next ping, every half tick, and only then the session's
 * time begins anew there. A session that was not touched for its time-out ends at the tick after that.
 */
final class Sessions {
    /** Of the time-outs that ZooKeeper admits the shortest: two ticks are the least, and three are what the tests use. */
    private static final int TICKS_IN_TIMEOUT = 3;

    private final SimulatedTime.View time;
    private final Expiry expiry;
    private final LongConsumer expired;
    private final Map<Long, Age> alive = new HashMap<>();
    private long last;

    /** What can end a session. */
    enum Expiry {
        /** Time, a decree, its client. */
        BY_TIME,
        /** A decree or its client; time does nothing to it, nor to the connection. */
        BY_DECREE
    }

    /** When the leader last heard of one session, and when it will hear of it next. */
    private static final class Age {
        final long timeout;
        final long tick;
        long heard;
        /** When the server of the client reports its latest touch, or 0. */
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

        /** When it ends, by what the leader has heard by now. */
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
        this.time = time.view();
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

    /** How many there have been. */
    long opened() {
        return last;
    }

    boolean has(long session) {
        return alive.containsKey(session);
    }

    boolean close(long session) {
        return alive.remove(session) != null;
    }

    /** Every session that lives. */
    Set<Long> ids() {
        return alive.keySet();
    }

    /** A server has heard of the session's client. */
    void touch(long session) {
        Age age = alive.get(session);
        if (age != null) {
            age.touch(time.nanos());
        }
    }

    /** The leader itself is asked, as when a client comes back on another connection. */
    void touchAtLeader(long session) {
        Age age = alive.get(session);
        if (age != null) {
            // A report that has come by now is older than this.
            age.settle(time.nanos());
            age.heard = time.nanos();
        }
    }

    private void watch(long session) {
        Age age = alive.get(session);
        if (age == null || expiry == Expiry.BY_DECREE) {
            return;
        }
        var unused = time.at(age.end(time.nanos()), () -> {
            Age now = alive.get(session);
            if (now != null && now.end(time.nanos()) <= time.nanos()) {
                expired.accept(session);
            } else {
                watch(session);
            }
        });
    }
}
