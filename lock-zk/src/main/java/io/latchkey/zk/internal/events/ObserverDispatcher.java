// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.threads.DaemonThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells an observer, one thing after the other, on a thread that nobody else needs: on one of the callbacks' an observer
 * that blocks would hold up news of loss where a user's executor has only one.
 */
public final class ObserverDispatcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ObserverDispatcher.class);
    /** What may wait for a slow observer, about 5 MB; ten thousand leases that turn suspect and are lost fit in twice. */
    static final int MOST_WAITING = 50_000;

    private final LockObserver observer;
    private final ExecutorService thread;
    private final AtomicLong missed = new AtomicLong();
    private final AtomicBoolean warned = new AtomicBoolean();

    public ObserverDispatcher(LockObserver observer, String threadName) {
        this.observer = observer;
        ThreadPoolExecutor one = DaemonThreads.pool(1, threadName, new LinkedBlockingQueue<>(MOST_WAITING));
        one.setRejectedExecutionHandler((task, full) -> missed.incrementAndGet());
        this.thread = one;
    }

    /** A feed for simulations, which tells in the step that brings the news if {@code thread} runs tasks in place. */
    public ObserverDispatcher(LockObserver observer, ExecutorService thread) {
        this.observer = observer;
        this.thread = thread;
    }

    /** Never blocks, and never throws. */
    public void tell(Consumer<LockObserver> what) {
        try {
            thread.execute(() -> {
                long leftOut = missed.getAndSet(0);
                if (leftOut > 0) {
                    call(told -> told.missed(leftOut));
                }
                call(what);
            });
        } catch (Throwable noThread) {
            // The machine starts no more threads.
            missed.incrementAndGet();
        }
    }

    private void call(Consumer<LockObserver> what) {
        try {
            what.accept(observer);
        } catch (Throwable theirs) {
            if (warned.compareAndSet(false, true)) {
                LOG.warn("The observer {} threw; the locks go on. Said once, later ones at debug.", observer, theirs);
            } else {
                LOG.debug("The observer {} threw again", observer, theirs);
            }
        }
    }

    /** Tells what is waiting, and then no more. Does not wait for that. */
    @Override
    public void close() {
        thread.shutdown();
    }
}
