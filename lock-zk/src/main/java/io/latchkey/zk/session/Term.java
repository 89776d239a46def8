// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of time in which the session is known to be kept by the server. It can be prolonged as long as nobody has
 * found it over; once found over it stays so, for every lease that was granted in it, even when the session turns out
 * to have lived on. Read by any thread.
 */
final class Term {
    private final Time time;
    /** Until when; null once it has lapsed. */
    private final AtomicReference<@Nullable Moment> deadline;

    private volatile boolean over;

    Term(Time time, Moment deadline) {
        this.time = time;
        this.deadline = new AtomicReference<>(deadline);
    }

    Moment now() {
        return Moment.of(time);
    }

    boolean isValid() {
        return !remaining().isZero();
    }

    /** The time left; zero once it has lapsed, which this look may find out. */
    Duration remaining() {
        while (true) {
            Moment until = deadline.get();
            if (until == null) {
                return Duration.ZERO;
            }
            Moment now = now();
            if (!until.reachedAt(now)) {
                return until.from(now);
            }
            // Fails if another thread changed the deadline in between; the next look goes by that.
            deadline.compareAndSet(until, null);
        }
    }

    /** Moves the deadline to {@code later}, unless the term has lapsed or lapses at this look; says whether it lives. */
    boolean prolong(Moment later) {
        Moment moved = deadline.updateAndGet(until -> {
            if (until == null || until.reachedAt(now())) {
                return null;
            }
            return later.isAfter(until) ? later : until;
        });
        return moved != null;
    }

    /** The server keeps the session for less long than before. */
    void shorten(Duration by) {
        deadline.updateAndGet(until -> until == null ? null : until.minus(by));
    }

    /** The session is over: so is the term. */
    void end() {
        over = true;
        deadline.set(null);
    }

    /** Whether it has ended with the session, whatever its deadline. */
    boolean isOver() {
        return over;
    }
}
