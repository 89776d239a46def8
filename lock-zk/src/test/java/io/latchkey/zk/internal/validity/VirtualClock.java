// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;

/** Clocks that advance only when a test advances them. */
public final class VirtualClock implements Clock {
    private long nanos = Long.MAX_VALUE - 1_000_000_000L; // wraps around within the tests, as nanoTime may
    private long wallMillis = 1_700_000_000_000L;
    private Runnable beforeRead = () -> {};

    public void pass(Duration span) {
        nanos += span.toNanos();
        wallMillis += span.toMillis();
    }

    /** A suspended machine, or a wall clock set forward. */
    public void passOnTheWallOnly(Duration span) {
        wallMillis += span.toMillis();
    }

    /** An action of another thread directly before the next reading of the clocks. */
    void beforeNextRead(Runnable step) {
        beforeRead = step;
    }

    public ClockReading now() {
        return new ClockReading(nanos, wallMillis);
    }

    @Override
    public long nanos() {
        Runnable step = beforeRead;
        beforeRead = () -> {};
        step.run();
        return nanos;
    }

    @Override
    public long wallMillis() {
        return wallMillis;
    }

    @Override
    public Duration standstill(Duration span) {
        return Duration.ZERO;
    }

    /** No timer is ever due. */
    @Override
    public Timer after(Duration delay, Runnable task) {
        return () -> {};
    }

    @Override
    public void close() {}
}
