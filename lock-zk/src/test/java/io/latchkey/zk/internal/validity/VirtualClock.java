// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Clocks that advance only when a test advances them. */
public final class VirtualClock implements Clock {
    private long nanos = Long.MAX_VALUE - 1_000_000_000L; // wraps around within the tests, as nanoTime may
    private long wallMillis = 1_700_000_000_000L;
    private Runnable beforeRead = () -> {};
    private Duration stoodStill = Duration.ZERO;
    private long stoodStillUntil = nanos;
    /** The tasks of all timers, also of those that are cancelled: their time may have come just before. */
    private final List<Runnable> timers = new ArrayList<>();

    private final List<Duration> delays = new ArrayList<>();
    private boolean closed;

    public void pass(Duration span) {
        nanos += span.toNanos();
        wallMillis += span.toMillis();
    }

    /** A suspended machine, or a wall clock set forward. */
    public void passOnTheWallOnly(Duration span) {
        wallMillis += span.toMillis();
    }

    /** The process stood still for this long until now. */
    public void stoodStill(Duration span) {
        stoodStill = span;
        stoodStillUntil = nanos;
    }

    public List<Runnable> timers() {
        return timers;
    }

    /** Returns the delays of all timers, in the order in which they were set. */
    public List<Duration> delays() {
        return delays;
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
        return nanos - stoodStillUntil <= span.toNanos() ? stoodStill : Duration.ZERO;
    }

    /** No timer is ever due by itself. */
    @Override
    public Timer after(Duration delay, Runnable task) {
        timers.add(task);
        delays.add(delay);
        return () -> {};
    }

    @Override
    public void close() {
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }
}
