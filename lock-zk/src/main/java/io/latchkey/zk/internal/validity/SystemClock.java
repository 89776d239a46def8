// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The machine's clocks, and one daemon thread for a client's timers. That thread also has a pulse: a gap between two
 * pulses shows a standstill of the process.
 */
public final class SystemClock implements Clock {
    /** The number of pulses in a session timeout. */
    private static final int PULSES = 60;

    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST = Duration.ofMillis(250);

    private final ScheduledThreadPoolExecutor timer;
    /** The times between two pulses; a standstill is within one of them. */
    private final SlidingMaximum betweenPulses = new SlidingMaximum(Duration.ZERO);

    private ClockReading pulse = ClockReading.of(this);

    /**
     * @param threads makes the thread
     * @param sessionTimeout the timeout of the sessions whose expiry bound depends on standstills
     */
    public SystemClock(ThreadFactory threads, Duration sessionTimeout) {
        timer = new ScheduledThreadPoolExecutor(1, threads);
        timer.setRemoveOnCancelPolicy(true);
        long pause = pulsePause(sessionTimeout).toNanos();
        var unused = timer.scheduleWithFixedDelay(this::takePulse, pause, pause, TimeUnit.NANOSECONDS);
    }

    /** Returns the pause between two pulses of a client with such sessions. */
    static Duration pulsePause(Duration sessionTimeout) {
        return Collections.min(List.of(LONGEST, Collections.max(List.of(SHORTEST, sessionTimeout.dividedBy(PULSES)))));
    }

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    private synchronized void takePulse() {
        ClockReading now = ClockReading.of(this);
        betweenPulses.add(now.atMostSince(pulse), now);
        pulse = now;
    }

    @Override
    public synchronized Duration standstill(Duration span) {
        ClockReading now = ClockReading.of(this);
        Duration longest = betweenPulses.within(span, now);
        Duration maybeNow = now.atMostSince(pulse);
        return Collections.max(List.of(longest, maybeNow));
    }

    @Override
    public Timer after(Duration delay, Runnable task) {
        try {
            Future<?> scheduled = timer.schedule(task, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException closed) {
            return () -> {};
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
