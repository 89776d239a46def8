// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A period in which the server is known to keep the session. It can be extended until a call finds it over. From then
 * on it stays over, for every lease that was granted in it, even if the session turns out to have lived on.
 * Thread-safe.
 */
public final class ValidityPeriod {
    private final Clock time;
    /** The deadline; null once it has passed. */
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

    /** Returns the time left; zero once the deadline has passed, which this call may find out. */
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
            // Fails if another thread changed the deadline in between. Then the loop reads the new one.
            deadline.compareAndSet(until, null);
        }
    }

    /** Moves the deadline to {@code later}, unless the period is over. Returns whether it is not. */
    public boolean extend(ClockReading later) {
        ClockReading moved = deadline.updateAndGet(until -> {
            if (until == null || until.reachedAt(now())) {
                return null;
            }
            return later.isAfter(until) ? later : until;
        });
        return moved != null;
    }

    /** Moves the deadline to an earlier time, after the server shortened the session timeout. */
    public void shorten(Duration by) {
        deadline.updateAndGet(until -> until == null ? null : until.minus(by));
    }

    /** Ends the period with its session. */
    public void end() {
        over = true;
        deadline.set(null);
    }

    /** Returns whether the period ended with its session, whatever its deadline. */
    public boolean isOver() {
        return over;
    }
}
