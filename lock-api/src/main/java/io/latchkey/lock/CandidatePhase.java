// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.BodyInterruption.Demand;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A part of a candidate's life in which its thread is interrupted when it is to end: a request, or a term. */
final class CandidatePhase {
    /**
     * Bounds of the session timeout, as a lease shows it: of the time after which a body that has not ended is
     * reported, or left while the runtime ends.
     */
    static final Duration SHORTEST_PATIENCE = Duration.ofSeconds(1);

    static final Duration LONGEST_PATIENCE = Duration.ofMinutes(1);
    /** How often an interrupt is sent to a request, and looked whether the runtime ends. */
    static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Thread thread;
    private final Predicate<Runnable> aside;
    private final BiConsumer<Lease, Duration> bodyNotEnded;
    private final @Nullable Lease lease;
    /** The session timeout as far as the lease shows it. */
    private final Duration patience;

    private final BodyInterruption interruption = new BodyInterruption(this::startWatch);
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicBoolean watched = new AtomicBoolean();
    /** When the end was demanded; null before. */
    private volatile @Nullable Long demanded;

    /**
     * @param thread the candidate's
     * @param aside runs a task in a thread of its own, and returns whether there is one
     * @param bodyNotEnded takes the lease of a body that has not ended in time, and for how long it has been over
     * @param lease that of a term; null of a request
     */
    CandidatePhase(
            Thread thread, Predicate<Runnable> aside, BiConsumer<Lease, Duration> bodyNotEnded, @Nullable Lease lease) {
        this.thread = thread;
        this.aside = aside;
        this.bodyNotEnded = bodyNotEnded;
        this.lease = lease;
        Duration left = lease == null ? SHORTEST_PATIENCE : lease.remaining();
        patience = left.compareTo(SHORTEST_PATIENCE) < 0
                ? SHORTEST_PATIENCE
                : left.compareTo(LONGEST_PATIENCE) > 0 ? LONGEST_PATIENCE : left;
    }

    void demand(Demand demand) {
        if (interruption.demand(demand)) {
            startWatch();
            if (thread == Thread.currentThread() || !aside.test(this::interrupt)) {
                interruption.send();
            }
        }
    }

    /** Before any interrupt, which can block the thread that sends it. */
    private void startWatch() {
        if (watched.compareAndSet(false, true)) {
            demanded = System.nanoTime();
            if (lease != null) {
                boolean unused = aside.test(() -> watch(lease));
            }
        }
    }

    /** Interrupts. Where the thread acquires, again and again: nothing else ends that if the status is cleared. */
    private void interrupt() {
        interruption.send();
        if (lease == null) {
            while (!isOverWithin(LOOK_NANOS)) {
                interruption.sendAgain();
            }
        }
    }

    /** Reports a body that has not ended in time. */
    private void watch(Lease held) {
        if (!isOverWithin(patience.toNanos())) {
            bodyNotEnded.accept(held, age());
        }
    }

    private boolean isOverWithin(long nanos) {
        try {
            return over.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException stopped) {
            return true; // the thread is ours: only a debugger interrupts it
        }
    }

    Duration age() {
        Long since = demanded;
        return since == null ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - since);
    }

    BodyInterruption interruption() {
        return interruption;
    }

    @Nullable
    Lease lease() {
        return lease;
    }

    /** Ends it, and returns whether an interrupt may still arrive. */
    boolean end() {
        Optional<LossCause> unused = interruption.end();
        boolean left = interruption.wasLeftUnderWay();
        over.countDown();
        return left;
    }
}
