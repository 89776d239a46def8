// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The machine's clocks, and one daemon thread for a client's timers. */
public final class SystemTime implements Time {
    private final ScheduledThreadPoolExecutor timer;

    public SystemTime(String name) {
        timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Timer after(Duration delay, Runnable task) {
        try {
            Future<?> scheduled = timer.schedule(task, saturatedNanos(delay), TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException closed) {
            return () -> {};
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }

    private static long saturatedNanos(Duration delay) {
        return delay.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0 ? Long.MAX_VALUE : delay.toNanos();
    }
}
