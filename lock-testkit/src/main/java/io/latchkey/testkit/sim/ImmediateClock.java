// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A thread-safe clock with timers. */
final class ImmediateClock implements Clock {
    private static final long NANOS_PER_MILLI = 1_000_000;
    /** Longer than any wait, without overflow when added to a time. */
    private static final Duration NEVER = Duration.ofDays(10_000);

    private final ImmediateZooKeeper of;
    private final SimulatedTime.View view;
    private final Runnable closed;

    /**
     * @param closed called when the client is closed
     */
    ImmediateClock(ImmediateZooKeeper of, SimulatedTime.View view, Runnable closed) {
        this.of = of;
        this.view = view;
        this.closed = closed;
    }

    @Override
    public long nanos() {
        return SimulatedTime.ORIGIN + of.nanos();
    }

    @Override
    public long wallMillis() {
        return SimulatedTime.START_MILLIS + of.nanos() / NANOS_PER_MILLI;
    }

    /** Always zero: timers run as soon as they are due. */
    @Override
    public Duration standstill(Duration span) {
        return Duration.ZERO;
    }

    @Override
    public Timer after(Duration delay, Runnable task) {
        long due = nanos() + (delay.compareTo(NEVER) > 0 ? NEVER : delay).toNanos();
        CarriedTimer timer = new CarriedTimer();
        of.carry(() -> timer.started = view.at(due, task));
        return timer;
    }

    @Override
    public void close() {
        of.carry(view::close);
        closed.run();
    }

    private final class CarriedTimer implements Timer {
        private @Nullable Timer started;

        @Override
        public void cancel() {
            of.carry(() -> {
                if (started != null) {
                    started.cancel();
                }
            });
        }
    }
}
