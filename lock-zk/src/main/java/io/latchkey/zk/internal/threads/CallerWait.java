// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The wait of a caller's thread for an answer: the only one of the client.
 *
 * <p>A future's own {@code get} and {@code join} are not used, because in a worker of a fork-join pool they first run
 * other tasks of that worker on the same stack: a task that holds a lock would be buried below one that waits for it.
 * They also throw if the pool refuses a spare thread. This wait offers the pool to make up for the blocked worker, does
 * without if the pool refuses, runs nothing, and ends by the answer, the time or an interruption only.
 */
public final class CallerWait implements ForkJoinPool.ManagedBlocker {
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE / 2);

    private final CompletableFuture<?> answer;
    private final boolean timed;
    private final long deadline;
    private final boolean interruptibly;
    private boolean interrupted;

    private CallerWait(CompletableFuture<?> answer, boolean timed, Duration longest, boolean interruptibly) {
        this.answer = answer;
        this.timed = timed;
        this.deadline = System.nanoTime() + (longest.compareTo(LONGEST) > 0 ? LONGEST : longest).toNanos();
        this.interruptibly = interruptibly;
    }

    /** Waits until {@code answer} is complete. */
    public static void await(CompletableFuture<?> answer) throws InterruptedException {
        check(new CallerWait(answer, false, Duration.ZERO, true));
    }

    /** Waits until {@code answer} is complete, for {@code longest} at most, and returns whether it is. */
    public static boolean await(CompletableFuture<?> answer, Duration longest) throws InterruptedException {
        check(new CallerWait(answer, true, longest, true));
        return answer.isDone();
    }

    /** An interruption that comes with the answer is left to the caller, which has the answer. */
    private static void check(CallerWait over) throws InterruptedException {
        if (over.hasBeenInterrupted()) {
            if (!over.answer.isDone()) {
                throw new InterruptedException();
            }
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until {@code answer} is complete. An interruption does not end the wait; the status is set afterwards. */
    public static void awaitUninterruptibly(CompletableFuture<?> answer) {
        restore(new CallerWait(answer, false, Duration.ZERO, false));
    }

    /** Waits as {@link #awaitUninterruptibly(CompletableFuture)} does, for {@code longest} at most. */
    public static boolean awaitUninterruptibly(CompletableFuture<?> answer, Duration longest) {
        restore(new CallerWait(answer, true, longest, false));
        return answer.isDone();
    }

    private static void restore(CallerWait over) {
        if (over.hasBeenInterrupted()) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns the value of a complete answer.
     *
     * @throws ExecutionException if it is complete by an error
     */
    public static <T extends @Nullable Object> T valueOf(CompletableFuture<T> complete) throws ExecutionException {
        if (!complete.isDone()) {
            throw new IllegalStateException("not complete: " + complete);
        }
        boolean interrupted = Thread.interrupted();
        try {
            return complete.get();
        } catch (InterruptedException impossible) {
            throw new IllegalStateException("a complete future does not wait", impossible);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits, and returns whether the thread was interrupted, whose status is clear then. */
    private boolean hasBeenInterrupted() {
        if (!isReleasable()) {
            Thread waiting = Thread.currentThread();
            var unused = answer.whenComplete((value, error) -> LockSupport.unpark(waiting));
            if (waiting instanceof ForkJoinWorkerThread) {
                try {
                    ForkJoinPool.managedBlock(this);
                } catch (Throwable refused) {
                    // The pool makes up for no more blocked workers, or its factory of threads fails.
                }
            }
            while (!block()) {
                // Woken for no reason.
            }
        }
        return interrupted;
    }

    @Override
    public boolean block() {
        if (!isReleasable()) {
            if (timed) {
                LockSupport.parkNanos(this, deadline - System.nanoTime());
            } else {
                LockSupport.park(this);
            }
        }
        return isReleasable();
    }

    @Override
    public boolean isReleasable() {
        if (Thread.interrupted()) {
            interrupted = true;
        }
        return answer.isDone() || (interruptibly && interrupted) || (timed && System.nanoTime() - deadline >= 0);
    }
}
