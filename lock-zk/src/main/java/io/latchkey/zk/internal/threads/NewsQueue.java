// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The news for one listener, such as the observer or the log: delivered one at a time, in order, on a thread of the
 * listener's own. A listener that blocks delays nothing but its own news. The queue is bounded: news that do not fit
 * are counted, and the listener gets the number before the next news. Adding never blocks, and never throws.
 */
public final class NewsQueue {
    private final Executor thread;
    private final int most;
    private final LongConsumer onMissed;
    private final Consumer<Throwable> onError;
    private final AtomicInteger waiting = new AtomicInteger();
    /** The number of dropped news since the last that were queued. */
    private final AtomicLong missed = new AtomicLong();

    /**
     * @param thread runs one task at a time
     * @param most the maximum number of queued news
     * @param onMissed takes, on that thread, the number of those that were dropped
     * @param onError takes, on that thread, what a delivery throws
     */
    public NewsQueue(Executor thread, int most, LongConsumer onMissed, Consumer<Throwable> onError) {
        this.thread = thread;
        this.most = most;
        this.onMissed = onMissed;
        this.onError = onError;
    }

    /** Queues a delivery, or drops it. */
    public void add(Runnable delivery) {
        if (waiting.get() >= most) {
            missed.incrementAndGet();
        } else {
            addAnyway(delivery);
        }
    }

    /** Queues a delivery, however many are queued. */
    public void addAnyway(Runnable delivery) {
        waiting.incrementAndGet();
        long leftOut = missed.getAndSet(0);
        try {
            thread.execute(() -> {
                waiting.decrementAndGet();
                if (leftOut > 0) {
                    attempt(() -> onMissed.accept(leftOut));
                }
                attempt(delivery);
            });
        } catch (Throwable noRoom) {
            waiting.decrementAndGet();
            missed.addAndGet(leftOut + 1);
        }
    }

    private void attempt(Runnable delivery) {
        try {
            delivery.run();
        } catch (Throwable theirs) {
            try {
                onError.accept(theirs);
            } catch (Throwable again) {
                theirs.addSuppressed(again);
            }
        }
    }

    /** Waits until what is queued now is delivered, for {@code longest} at most. */
    public void awaitDelivered(Duration longest) {
        CompletableFuture<Boolean> delivered = new CompletableFuture<>();
        addAnyway(() -> delivered.complete(true));
        boolean unused = CallerWait.awaitUninterruptibly(delivered, longest);
    }
}
