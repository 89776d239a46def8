// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The executor of users' callbacks: a few daemon threads, and a method that waits until they are idle. */
final class Callbacks implements Executor {
    private static final int THREADS = 4;
    private static final long IDLE_THREAD_LIVES_SECONDS = 1;
    private static final long LOOK_EVERY_MILLIS = 10;
    /** The number of consecutive checks after which waiting callbacks count as blocked: about 200 ms. */
    private static final int LOOKS_AT_BLOCKED = 20;

    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final ThreadPoolExecutor threads;
    private final Set<Thread> running = new HashSet<>();
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
            begin();
            try {
                task.run();
            } finally {
                end();
            }
        });
    }

    private synchronized void count(int more) {
        unfinished += more;
        notifyAll();
    }

    private synchronized void begin() {
        running.add(Thread.currentThread());
    }

    private synchronized void end() {
        running.remove(Thread.currentThread());
        count(-1);
    }

    /**
     * Waits until every callback has either run or blocked, but for the calling one: one may wait for an action of the
     * caller. A callback that is merely not scheduled does not count as blocked, until some seconds have passed.
     */
    synchronized void awaitIdle() {
        int calling = running.contains(Thread.currentThread()) ? 1 : 0;
        long start = System.nanoTime();
        long lastLook = start;
        int blocked = 0;
        while (unfinished > calling && blocked < LOOKS_AT_BLOCKED && lastLook - start < LONGEST_NANOS) {
            try {
                wait(LOOK_EVERY_MILLIS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return;
            }
            long now = System.nanoTime();
            if (now - lastLook >= TimeUnit.MILLISECONDS.toNanos(LOOK_EVERY_MILLIS)) {
                lastLook = now;
                blocked = areBlocked() ? blocked + 1 : 0;
            }
        }
    }

    private boolean areBlocked() {
        return running.size() == Math.min(unfinished, THREADS)
                && running.stream()
                        .filter(thread -> !thread.equals(Thread.currentThread()))
                        .noneMatch(thread -> thread.getState() == Thread.State.RUNNABLE);
    }

    void close() {
        threads.shutdown();
    }
}
