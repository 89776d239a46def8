// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of time in which the session is known to be kept by the server. It can be prolonged as long as nobody has
 * found it over; once found over it stays so, for every lease that was granted in it, even when the session turns out
 * to have lived on. Read by any thread.
 */
public final class ValidityPeriod {
    private final Clock time;
    /** Until when; null once it has lapsed. */
    private final AtomicReference<@Nullable ClockReading> deadline;

    private volatile boolean over;

    public ValidityPeriod(Clock time, ClockReading deadline) {
        this.time = time;
        this.deadline = new AtomicReference<>(deadline);
    }

    ClockReading now() {
        return ClockReading.of(time);
    }

    public boolean isValid() {
        return !remaining().isZero();
    }

    /** The time left; zero once it has lapsed, which this look may find out. */
    public Duration remaining() {
        while (true) {
            ClockReading until = deadline.get();
            if (until == null) {
                return Duration.ZERO;
            }
            ClockReading now = now();
            if (!until.reachedAt(now)) {
                return until.from(now);
            }
            // Fails if another thread changed the deadline in between; the next look goes by that.
            deadline.compareAndSet(until, null);
        }
    }

    /** Moves the deadline to {@code later}, unless the term has lapsed or lapses at this look; says whether it lives. */
    public boolean prolong(ClockReading later) {
        ClockReading moved = deadline.updateAndGet(until -> {
            if (until == null || until.reachedAt(now())) {
                return null;
            }
            return later.isAfter(until) ? later : until;
        });
        return moved != null;
    }

    /** The server keeps the session for less long than before. */
    public void shorten(Duration by) {
        deadline.updateAndGet(until -> until == null ? null : until.minus(by));
    }

    /** The session is over: so is the term. */
    public void end() {
        over = true;
        deadline.set(null);
    }

    /** Whether it has ended with the session, whatever its deadline. */
    public boolean isOver() {
        return over;
    }
}
