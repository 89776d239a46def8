// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import io.latchkey.lock.LockObserver;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells an observer, one thing after the other, on a thread that nobody else needs: on one of the callbacks' an observer
 * that blocks would hold up news of loss where a user's executor has only one.
 */
public final class ObserverFeed implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ObserverFeed.class);
    /** What may wait for a slow observer, about 5 MB; ten thousand leases that turn suspect and are lost fit in twice. */
    static final int MOST_WAITING = 50_000;

    private static final long THREAD_IDLE_SECONDS = 10;

    private final LockObserver observer;
    private final ThreadPoolExecutor thread;
    private final AtomicLong missed = new AtomicLong();
    private final AtomicBoolean warned = new AtomicBoolean();

    public ObserverFeed(LockObserver observer, String threadName) {
        this.observer = observer;
        this.thread = new ThreadPoolExecutor(
                1,
                1,
                THREAD_IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MOST_WAITING),
                task -> {
                    Thread daemon = new Thread(task, threadName);
                    daemon.setDaemon(true);
                    return daemon;
                },
                (task, full) -> missed.incrementAndGet());
        thread.allowCoreThreadTimeOut(true);
    }

    /** Never blocks, and never throws. */
    void tell(Consumer<LockObserver> what) {
        thread.execute(() -> {
            long leftOut = missed.getAndSet(0);
            if (leftOut > 0) {
                call(told -> told.missed(leftOut));
            }
            call(what);
        });
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
