// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.threads.DaemonThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue of an observer's calls, made one at a time on a thread of its own. On a callback thread, an observer that
 * blocks would delay notices of loss if the user's executor has only that thread.
 */
public final class ObserverDispatcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ObserverDispatcher.class);
    /**
     * The maximum number of queued calls, about 5 MB; enough for ten thousand leases that turn suspect and are lost,
     * twice.
     */
    static final int MOST_WAITING = 50_000;

    private final LockObserver observer;
    private final ExecutorService thread;
    private final AtomicInteger waiting = new AtomicInteger();
    /** The number of dropped calls since the last one that was queued. */
    private final AtomicLong missed = new AtomicLong();

    private final AtomicBoolean warned = new AtomicBoolean();
    /** Whether the last call has begun. On the observer's thread. */
    private boolean ended;

    public ObserverDispatcher(LockObserver observer, String threadName) {
        this(observer, DaemonThreads.pool(1, threadName));
    }

    /**
     * Creates a dispatcher for simulations. It calls the observer in the step of the event if {@code thread} runs tasks
     * in place.
     */
    public ObserverDispatcher(LockObserver observer, ExecutorService thread) {
        this.observer = observer;
        this.thread = thread;
    }

    /** Queues a call, or drops it. Never blocks, and never throws. */
    public void announce(Consumer<LockObserver> what) {
        if (waiting.get() >= MOST_WAITING) {
            missed.incrementAndGet();
        } else {
            queue(what);
        }
    }

    /**
     * Queues the last call, however many are queued, and accepts no more. Never blocks, and never throws. Calls that
     * another thread queues in between are not made.
     */
    public void announceLast(Consumer<LockObserver> what) {
        queue(observer -> {
            ended = true;
            what.accept(observer);
        });
        close();
    }

    /** The number of dropped calls goes before the call that is queued next, so behind all that came before them. */
    private void queue(Consumer<LockObserver> what) {
        waiting.incrementAndGet();
        long leftOut = missed.getAndSet(0);
        try {
            thread.execute(() -> {
                waiting.decrementAndGet();
                if (leftOut > 0) {
                    call(told -> told.missed(leftOut));
                }
                call(what);
            });
        } catch (Throwable refused) {
            waiting.decrementAndGet();
            // The machine starts no more threads. A call after the last is not missed.
            if (!thread.isShutdown()) {
                missed.addAndGet(leftOut + 1);
            }
        }
    }

    private void call(Consumer<LockObserver> what) {
        if (ended) {
            return;
        }
        try {
            what.accept(observer);
        } catch (Throwable theirs) {
            if (warned.compareAndSet(false, true)) {
                LOG.warn(
                        "The observer {} threw an exception; the locks are not affected. Later ones are logged at debug.",
                        observer,
                        theirs);
            } else {
                LOG.debug("The observer {} threw another exception", observer, theirs);
            }
        }
    }

    /** Makes the queued calls, and accepts no more. Does not wait for them. */
    @Override
    public void close() {
        thread.shutdown();
    }
}
