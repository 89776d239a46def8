// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A reading of both clocks. The monotonic clock stands still while a Linux machine is suspended, and the wall clock can
 * be set. So a time counts as passed when either clock has passed it. That is the safe side for a holder that relies on
 * it not having passed.
 *
 * @param nanos {@link System#nanoTime()}
 * @param wallMillis milliseconds since the epoch
 */
public record ClockReading(long nanos, long wallMillis) {
    public static ClockReading of(Clock time) {
        return new ClockReading(time.nanos(), time.wallMillis());
    }

    public ClockReading plus(Duration span) {
        return new ClockReading(nanos + span.toNanos(), wallMillis + span.toMillis());
    }

    ClockReading minus(Duration span) {
        return new ClockReading(nanos - span.toNanos(), wallMillis - span.toMillis());
    }

    /** Returns whether either clock of {@code now} has reached this reading. */
    public boolean reachedAt(ClockReading now) {
        return now.nanos - nanos >= 0 || now.wallMillis >= wallMillis;
    }

    /** Returns whether this reading is later than {@code other} on the monotonic clock. */
    boolean isAfter(ClockReading other) {
        return nanos - other.nanos > 0;
    }

    /** Returns the time from {@code earlier} to this reading, on the monotonic clock. */
    public Duration since(ClockReading earlier) {
        return Duration.ofNanos(nanos - earlier.nanos);
    }

    /**
     * Returns the time from {@code earlier} by the clock that advanced further, as after a suspension of the machine.
     */
    Duration atMostSince(ClockReading earlier) {
        long onTheWall = TimeUnit.MILLISECONDS.toNanos(wallMillis - earlier.wallMillis);
        return Duration.ofNanos(Math.max(nanos - earlier.nanos, onTheWall));
    }

    /** Returns the time from {@code now} to this reading by the clock that reaches it first; zero when reached. */
    Duration from(ClockReading now) {
        // Saturates: to the longest limit of a lease more than the representable time may be left, once the wall clock
        // was set back.
        long left = Math.min(nanos - now.nanos, TimeUnit.MILLISECONDS.toNanos(wallMillis - now.wallMillis));
        return Duration.ofNanos(Math.max(0, left));
    }
}
