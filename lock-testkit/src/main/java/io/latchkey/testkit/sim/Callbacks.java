// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Where users' callbacks run: a few daemon threads, and somebody who wants to know when they have nothing to do. */
final class Callbacks implements Executor {
    private static final int THREADS = 4;
    private static final long IDLE_THREAD_LIVES_SECONDS = 1;

    private final ThreadPoolExecutor threads;
    private int unfinished;

    Callbacks() {
        threads = new ThreadPoolExecutor(
                THREADS, THREADS, IDLE_THREAD_LIVES_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "latchkey-simulated-callback");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable task) {
        count(1);
        threads.execute(() -> {
            try {
                task.run();
            } finally {
                count(-1);
            }
        });
    }

    private synchronized void count(int more) {
        unfinished += more;
        notifyAll();
    }

    /** Waits until all have run, but no longer than the limit: one may wait for something that the caller has yet to do. */
    synchronized void awaitIdle(long limitMillis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        while (unfinished > 0) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                return;
            }
            try {
                wait(left);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    void close() {
        threads.shutdown();
    }
}
