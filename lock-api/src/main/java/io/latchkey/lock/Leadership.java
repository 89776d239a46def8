// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * One candidate for a leadership that a {@link Mutex} stands for: the holder of the mutex leads. It queues for the
 * mutex, runs a body while it leads, steps down when the lease is lost, and queues again until it is closed or its body
 * ends it.
 *
 * <pre>{@code
 * try (Leadership candidate = Leadership.start(locks.mutex("/billing/leader"), lease -> {
 *     billing.runUntilInterrupted(lease.token());
 *     return Leadership.Next.CANDIDATE;
 * })) {
 *     service.run(candidate::isLeader);
 * }
 * }</pre>
 *
 * <h2>What is promised</h2>
 *
 * <ul>
 *   <li><b>Leaders do not overlap.</b> The intervals in which two candidates find {@link #isLeader} {@code true} never
 *       overlap, as long as sessions expire by time; {@link Lease#isValid} has the conditions. {@code isLeader} asks
 *       the lease each time and needs no server. The body is interrupted before the next candidate can lead, as
 *       {@link Acquirable#call(OnLoss, LeaseFunction)} describes with {@link OnLoss#INTERRUPT}.
 *   <li><b>Epochs grow.</b> The epoch of a term is the {@linkplain Lease#token token} of its lease. A later term has a
 *       higher epoch, also after a forced expiry: give it to every store that the leader writes to. There are two
 *       exceptions: an ensemble that is restored from an older copy, and terms of candidates of one client whose
 *       threads share a place in the queue, which can have the same epoch. When a session is ended by force two
 *       candidates may find {@link #isLeader} {@code true} for a short time, and only this order remains.
 *   <li><b>First come, first served.</b> The candidates are the {@linkplain #candidates queue} of the mutex.
 * </ul>
 *
 * <h2>How a term ends</h2>
 *
 * <ul>
 *   <li>The body returns: {@link Next#CANDIDATE} queues again behind all other candidates, {@link Next#END} ends for
 *       good.
 *   <li>The lease is lost: the body is interrupted, and when it has ended, the candidate queues again. An exception of
 *       the body is then dropped. The {@link LeaseLostException} of another lease does not count as this.
 *   <li>{@link #stepDown} or {@link #close}: the body is interrupted; the mutex is released when it has ended. An
 *       exception of the body is then dropped. A body that ignores the interruption continues to lead.
 *   <li>The body throws otherwise: the candidate ends for good, and {@link #ended} fails with what was thrown.
 * </ul>
 *
 * A candidate has one thread, on which body and listener run. All methods may be called by any thread.
 */
public final class Leadership implements AutoCloseable {
    private final Mutex mutex;
    private final LeaseFunction<Next, ? extends Exception> body;
    private final Thread thread;
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

    // Written under the monitor.
    private volatile boolean closed;
    private volatile @Nullable Lease lease;
    /** Of the term that is under way. */
    private @Nullable BodyInterruption asked;
    /** The exception of the body. Confined to the candidate's thread. */
    private @Nullable Exception thrown;

    /** What a candidate does after a term. */
    public enum Next {
        /** Queues again, behind all other candidates. */
        CANDIDATE,

        /** Ends for good. */
        END
    }

    /** A listener to the terms of a candidate. Both methods run on the candidate's thread, one after the other. */
    public interface Listener {
        /**
         * The candidate leads. It is a notification: whether it still leads is a question to the lease, or to {@link
         * Leadership#isLeader}. The thread is interrupted when the term ends, also while this method runs.
         *
         * @param lease the lease of the term, whose token is the epoch; it is released after {@link #over}
         * @throws InterruptedException if it was interrupted
         */
        void elected(Lease lease) throws InterruptedException;

        /**
         * The term is over: the lease is lost, or is released when this method returns. Called once after each {@link
         * #elected}, however that ended.
         *
         * @param lease the lease of the term
         */
        void over(Lease lease);
    }

    private Leadership(Mutex mutex, LeaseFunction<Next, ? extends Exception> body, ThreadFactory threads) {
        this.mutex = Objects.requireNonNull(mutex, "mutex");
        this.body = Objects.requireNonNull(body, "body");
        this.thread = Objects.requireNonNull(threads, "threads").newThread(this::beCandidate);
    }

    /**
     * Makes a candidate that runs {@code body} in each of its terms, on a daemon thread of its own.
     *
     * @param mutex the mutex that stands for the leadership
     * @param body what to do while leading, until it is interrupted or done
     * @return the candidate, to be closed by the caller
     */
    public static Leadership start(Mutex mutex, LeaseFunction<Next, ? extends Exception> body) {
        return start(mutex, body, task -> {
            Thread daemon = new Thread(task, "latchkey-leadership");
            daemon.setDaemon(true);
            return daemon;
        });
    }

    /**
     * Makes a candidate that runs {@code body} in each of its terms.
     *
     * @param mutex the mutex that stands for the leadership
     * @param body what to do while leading, until it is interrupted or done
     * @param threads makes the thread of the candidate; it may be virtual
     * @return the candidate, to be closed by the caller
     */
    public static Leadership start(Mutex mutex, LeaseFunction<Next, ? extends Exception> body, ThreadFactory threads) {
        Leadership candidate = new Leadership(mutex, body, threads);
        candidate.thread.start();
        return candidate;
    }

    /**
     * Makes a candidate that tells a listener of its terms, on a daemon thread of its own. It leads until the lease is
     * lost, or until {@link #stepDown} or {@link #close}.
     *
     * @param mutex the mutex that stands for the leadership
     * @param listener the listener
     * @return the candidate, to be closed by the caller
     */
    public static Leadership start(Mutex mutex, Listener listener) {
        Objects.requireNonNull(listener, "listener");
        return start(mutex, lease -> {
            try {
                listener.elected(lease);
                new CountDownLatch(1).await();
            } finally {
                listener.over(lease);
            }
            return Next.CANDIDATE;
        });
    }

    private void beCandidate() {
        try {
            while (!closed && isOneMoreTermWanted()) {
                // Another term, at the end of the queue.
            }
            ended.complete(null);
        } catch (Throwable failed) {
            if (failed instanceof InterruptedException && closed) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(failed);
            }
        }
    }

    private boolean isOneMoreTermWanted() throws Exception {
        try {
            return mutex.<Next, Exception>call(OnLoss.INTERRUPT, this::term) == Next.CANDIDATE;
        } catch (LeaseLostException lost) {
            if (lost.equals(thrown)) {
                throw lost; // of another lock
            }
            return true;
        }
    }

    private Next term(Lease granted) throws Exception {
        BodyInterruption interruption = new BodyInterruption();
        try {
            if (!begin(granted, interruption)) {
                boolean unused = Thread.interrupted(); // from close(): else the release would not wait for its response
                return Next.END;
            }
            return body.apply(granted);
        } catch (Exception failed) {
            if (interruption.isWanted()) {
                return Next.CANDIDATE;
            }
            thrown = failed;
            throw failed;
        } finally {
            end(interruption);
        }
    }

    private synchronized boolean begin(Lease granted, BodyInterruption interruption) {
        if (!closed) {
            asked = interruption;
            lease = granted;
        }
        return !closed;
    }

    private synchronized void end(BodyInterruption interruption) {
        asked = null;
        lease = null;
        Optional<LossCause> unused = interruption.end();
    }

    /**
     * Returns whether this candidate leads: whether its body has begun and not ended, and its lease {@linkplain
     * Lease#isValid is valid}. Sends nothing.
     *
     * @return {@code true} if it leads at the moment of the call
     */
    public boolean isLeader() {
        Lease present = lease;
        return present != null && present.isValid();
    }

    /**
     * Returns the epoch of the present term: the {@linkplain Lease#token token} of its lease. Sends nothing.
     *
     * @return the epoch; empty if this candidate does not lead
     */
    public OptionalLong epoch() {
        Lease present = lease;
        return present != null && present.isValid() ? OptionalLong.of(present.token()) : OptionalLong.empty();
    }

    /**
     * Returns the leader: the first of the {@link #candidates}, if its request holds. Reads it from the server.
     *
     * @return the leader, by its own account; empty if there is no candidate
     * @throws LockException as {@link Acquirable#queue} does
     */
    public Optional<Contender> leader() {
        return candidates().stream()
                .filter(candidate -> candidate.state() == Contender.State.HOLDING)
                .findFirst();
    }

    /**
     * Returns all candidates, the leader first: the queue of the mutex. Asks the server.
     *
     * @return the candidates in their order, unmodifiable
     * @throws LockException as {@link Acquirable#queue} does
     */
    public List<Contender> candidates() {
        return mutex.queue();
    }

    /**
     * Ends the present term, if this candidate leads: interrupts the body. When that has ended, the candidate releases
     * the mutex and queues again, behind all others. Does not wait.
     */
    public synchronized void stepDown() {
        if (asked != null) {
            asked.interrupt();
        }
    }

    /**
     * Ends this candidate for good: steps down, or leaves the queue. Waits until the body has ended and the release has
     * been sent, as long as that takes. If the server cannot confirm the release, the client retries it in the
     * background ({@link ReleaseOutcome#PENDING}). When called on the candidate's own thread, as in the body, it does
     * not wait. If the current thread is interrupted, before or while it waits, this method waits no longer, and the
     * interrupt status stays set. Idempotent. Does not close the client of the mutex.
     */
    @Override
    public void close() {
        synchronized (this) {
            boolean first = !closed;
            closed = true; // before the interrupt: the candidate reads it without the monitor once it is interrupted
            if (asked != null) {
                asked.interrupt();
            } else if (first && !Thread.currentThread().equals(thread)) {
                thread.interrupt();
            }
        }
        if (!Thread.currentThread().equals(thread)) {
            try {
                thread.join();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Returns a future that completes when this candidate has ended for good: normally after {@link #close} or
     * {@link Next#END}; exceptionally with what the body threw, or with the {@link LockException} that acquiring threw,
     * such as {@link ClientClosedException}. Completing or cancelling it has no effect on others. Stages that are
     * attached before the end run on the candidate's thread, later ones on the thread that attaches them.
     *
     * @return a future of the end
     */
    @SuppressWarnings("exports") // org.jspecify is needed only by tools that read its annotations
    public CompletableFuture<@Nullable Void> ended() {
        return ended.copy();
    }

    @Override
    public String toString() {
        return "Leadership[" + mutex + ", " + (isLeader() ? "leads" : ended.isDone() ? "ended" : "candidate") + "]";
    }
}
