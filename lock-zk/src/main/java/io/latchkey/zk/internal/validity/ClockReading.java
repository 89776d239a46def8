// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * One instant on both clocks. The monotonic clock stands still while a Linux machine is suspended, the wall clock can be
 * set: a moment counts as passed when either clock has passed it, which is the safe side for whoever relies on it not
 * having passed.
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

    /** Whether either clock of {@code now} has reached this moment. */
    public boolean reachedAt(ClockReading now) {
        return now.nanos - nanos >= 0 || now.wallMillis >= wallMillis;
    }

    /** Whether this lies later than {@code other} on the monotonic clock. */
    boolean isAfter(ClockReading other) {
        return nanos - other.nanos > 0;
    }

    /** How long after {@code earlier} this is, on the monotonic clock. */
    public Duration since(ClockReading earlier) {
        return Duration.ofNanos(nanos - earlier.nanos);
    }

    /** The same by the clock that went further, as when a machine was suspended. */
    Duration atMostSince(ClockReading earlier) {
        long onTheWall = TimeUnit.MILLISECONDS.toNanos(wallMillis - earlier.wallMillis);
        return Duration.ofNanos(Math.max(nanos - earlier.nanos, onTheWall));
    }

    /** The time from {@code now} to this moment by the clock that reaches it first; zero when reached. */
    Duration from(ClockReading now) {
        long left = Math.min(
                nanos - now.nanos,
                Duration.ofMillis(wallMillis - now.wallMillis).toNanos());
        return Duration.ofNanos(Math.max(0, left));
    }
}
