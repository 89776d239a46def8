// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.BodyInterruption.Demand;
import io.latchkey.lock.Leadership.Next;
import io.latchkey.lock.Leadership.Reports;
import io.latchkey.lock.Leadership.State;
import io.latchkey.lock.spi.LossNotifier;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The thread of a {@link Leadership}, and the demands of other threads on it. The thread acquires, runs the work and
 * releases, in turn.
 *
 * <p>Each wait ends by the state that it is about. An interrupt only makes code of others return, which may clear the
 * status: it is sent by a daemon thread that is made for it, since {@link Thread#interrupt} can block.
 */
// The class is long because the candidate's thread and the threads that demand its end share one state.
final class Candidacy implements Runnable {
    private static final String NAME = "latchkey-leadership";
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    /** The work of a term. */
    interface Work {
        /** Does the work, in the candidate's thread. */
        Next run(Lease lease, BodyInterruption interruption) throws Exception;
    }

    private final Mutex mutex;
    private final Work work;
    private final Reports reports;
    /** Of the user's code: threads that the library makes have it, whatever thread calls. */
    private final @Nullable ClassLoader loader;

    private final Thread thread;
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
    /** What all callers share: a stage for each would stay registered until the end. */
    private final CompletionStage<@Nullable Void> end = ended.minimalCompletionStage();
    /** What ended the candidate, if that was a failure. */
    private volatile @Nullable Throwable failure;
    /** Open until {@link #ended} is about to complete: its stages are not waited for. */
    private final CountDownLatch last = new CountDownLatch(1);

    // Written under the monitor.
    private volatile boolean closed;
    private volatile @Nullable CandidatePhase phase;

    /** The refusal after which the candidate pauses. */
    private volatile @Nullable Refusal refusal;
    /** Whether an interrupt of a former phase can still arrive. Confined to the candidate's thread. */
    private boolean interruptLeft;

    private record Refusal(Throwable why, Duration pause) {}

    /**
     * @param threads makes the candidate's thread; null for a daemon thread
     * @param user of the user's code
     */
    Candidacy(Mutex mutex, Work work, Reports reports, @Nullable ThreadFactory threads, Object user) {
        this.mutex = mutex;
        this.work = work;
        this.reports = reports;
        this.loader = user.getClass().getClassLoader();
        this.thread = threads == null
                ? daemon(this)
                : Objects.requireNonNull(threads.newThread(this), "threads made no thread");
    }

    void start() {
        thread.start();
    }

    /** Returns a daemon thread that inherits nothing from the thread that happens to make it. */
    @SuppressWarnings("ThreadPriorityCheck") // it takes the priority of the caller away
    private Thread daemon(Runnable task) {
        Thread daemon = new Thread(null, task, NAME, 0, false);
        daemon.setDaemon(true);
        daemon.setPriority(Thread.NORM_PRIORITY);
        daemon.setContextClassLoader(loader);
        return daemon;
    }

    /** Runs {@code task} in a thread of its own, and returns whether there is one. */
    private boolean aside(Runnable task) {
        try {
            daemon(task).start();
            return true;
        } catch (Throwable noThread) {
            return false;
        }
    }

    private static void report(Runnable call) {
        try {
            call.run();
        } catch (Throwable dropped) {
            // A report is for a log. Its failure has no effect on the leadership.
        }
    }

    // ---- the candidate's thread

    @Override
    public void run() {
        try {
            while (isOneMoreTermWanted()) {
                // Another term, at the end of the queue.
            }
        } catch (Throwable failed) {
            failure = failed;
        }
        boolean unused = Thread.interrupted(); // an interrupt of others is noticed or too late: no stage finds it
        last.countDown();
        Throwable failed = failure;
        if (failed == null) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(failed);
        }
    }

    private boolean isOneMoreTermWanted() throws Throwable {
        Lease lease = acquire();
        return lease != null && term(lease);
    }

    /** Returns the lease, or null when the candidate is closed. */
    private @Nullable Lease acquire() throws Throwable {
        for (int refusals = 0; ; refusals++) {
            Throwable refused;
            CandidatePhase request = null;
            try {
                request = begin(null);
                return request == null ? null : mutex.acquire();
            } catch (Throwable failed) {
                refused = failed;
            } finally {
                if (request != null) {
                    end(request);
                }
            }
            if (refused instanceof InterruptedException) {
                if (!isOwnInterrupt()) {
                    throw refused;
                }
            } else if (closed) {
                return null;
            } else if (mayPass(refused)) {
                pause(refused, refusals);
            } else {
                throw refused;
            }
        }
    }

    /** Returns whether an interrupt came from this leadership: it is closed, or one of a former phase was late. */
    private boolean isOwnInterrupt() {
        boolean late = interruptLeft;
        interruptLeft = false;
        return closed || late;
    }

    /** Returns whether the same request may be granted later, without a change of program or path. */
    private static boolean mayPass(Throwable refused) {
        if (refused instanceof LockException lock) {
            return switch (lock.reason()) {
                case DIFFERENT_KIND,
                        DIFFERENT_PERMITS,
                        DIFFERENT_LAYOUT,
                        UNKNOWN_DATA,
                        EPHEMERAL_PARENT,
                        ACCESS_DENIED,
                        BAD_PATH,
                        CLIENT_CLOSED,
                        SESSION_EXPIRED -> false;
                default -> true;
            };
        }
        return refused instanceof RuntimeException || refused instanceof VirtualMachineError;
    }

    private void pause(Throwable refused, int refusals) throws InterruptedException {
        long longest = Math.min(LONGEST_PAUSE.toNanos(), FIRST_PAUSE.toNanos() << Math.min(refusals, 10));
        long nanos = ThreadLocalRandom.current().nextLong(longest / 2, longest); // so that candidates come apart
        Duration pause = Duration.ofNanos(nanos);
        refusal = new Refusal(refused, pause);
        try {
            report(() -> reports.mutexRefused(refused, pause));
            long start = System.nanoTime();
            for (long left = nanos; left > 0 && !closed; left = nanos - (System.nanoTime() - start)) {
                if (Thread.interrupted() && !isOwnInterrupt()) {
                    throw new InterruptedException(
                            "The candidate's thread was interrupted, but not by its leadership.");
                }
                LockSupport.parkNanos(this, left);
            }
        } finally {
            refusal = null;
        }
    }

    /** Runs the work, releases, and returns whether the candidate queues again. */
    private boolean term(Lease lease) throws Throwable {
        Next next = Next.QUEUE_AGAIN;
        Throwable thrown = null;
        boolean demanded = true;
        CandidatePhase term = null;
        try {
            term = begin(lease);
            if (term != null) {
                LossNotifier.register(lease, term.interruption()::lost);
                next = work.run(lease, term.interruption());
            }
        } catch (Throwable failed) {
            thrown = failed;
        } finally {
            if (term != null) {
                end(term);
                demanded = term.interruption().isDemanded();
            }
        }
        boolean lost = lease.release() == ReleaseOutcome.LOST;
        if (thrown == null) {
            // A body that was asked to end does not choose: the reason does.
            return next == Next.QUEUE_AGAIN || demanded || lost;
        }
        if (!demanded && !lost && !(thrown instanceof InterruptedException && isOwnInterrupt())) {
            throw thrown;
        }
        if (!(thrown instanceof InterruptedException)) {
            Throwable dropped = thrown;
            report(() -> reports.exceptionDropped(lease, dropped));
        }
        return true;
    }

    /** Begins a phase; returns null if the candidate is closed. */
    private synchronized @Nullable CandidatePhase begin(@Nullable Lease lease) {
        if (closed) {
            return null;
        }
        CandidatePhase next = new CandidatePhase(
                thread, this::aside, (held, age) -> report(() -> reports.bodyNotEnded(held, age)), lease);
        phase = next;
        return next;
    }

    private void end(CandidatePhase former) {
        synchronized (this) {
            phase = null;
        }
        interruptLeft |= former.end();
    }

    // ---- other threads

    /** Returns the lease of the term while it is valid. */
    Optional<Lease> validLease() {
        return Optional.ofNullable(lease()).filter(Lease::isValid);
    }

    /** Returns the lease of the term; null between terms. */
    private @Nullable Lease lease() {
        CandidatePhase present = phase;
        return present == null ? null : present.lease();
    }

    /** Once it has ended, a stage that is complete: the shared one is so a little later, by the candidate's thread. */
    CompletionStage<@Nullable Void> ended() {
        return ended.isDone() ? ended.minimalCompletionStage() : end;
    }

    Optional<Throwable> refusal() {
        return Optional.ofNullable(refusal).map(Refusal::why);
    }

    State state() {
        if (ended.isDone()) {
            return State.ENDED;
        }
        CandidatePhase present = phase;
        if (present != null && present.lease() != null) {
            return present.interruption().isDemanded() || !present.lease().isValid() ? State.ENDING : State.LEADING;
        }
        return refusal == null ? State.QUEUEING : State.PAUSING;
    }

    void stepDown() {
        CandidatePhase present = phase;
        if (present != null && present.lease() != null) {
            present.demand(Demand.STEP_DOWN);
        }
    }

    /**
     * Ends the candidate and waits for that.
     *
     * @param longest how long to wait before the lease is released for a body that has not ended; empty without a bound
     * @return whether it has ended
     */
    boolean close(Optional<Duration> longest) {
        CandidatePhase present;
        synchronized (this) {
            closed = true; // before the interrupt: the candidate reads it without the monitor once it is interrupted
            present = phase;
        }
        LockSupport.unpark(thread);
        if (present != null) {
            present.demand(Demand.CLOSE);
        }
        if (thread == Thread.currentThread()) {
            return ended.isDone();
        }
        try {
            if (!awaitLast(longest)) {
                releaseForTheBody();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return ended.isDone();
    }

    /** The bound can appear while this waits: the runtime can begin to end, and the wait can be what it waits for. */
    private boolean awaitLast(Optional<Duration> longest) throws InterruptedException {
        long start = System.nanoTime();
        long bound = longest.map(TimeUnit.NANOSECONDS::convert).orElse(Long.MAX_VALUE);
        boolean ending = false;
        for (long waited = 0; waited < bound; waited = System.nanoTime() - start) {
            if (!ending && longest.isEmpty() && isRuntimeEnding()) {
                ending = true;
                Lease held = lease();
                long most = held == null ? 0 : TimeUnit.NANOSECONDS.convert(held.remaining());
                bound = Math.min(
                        bound,
                        waited
                                + Math.max(
                                        CandidatePhase.SHORTEST_PATIENCE.toNanos(),
                                        Math.min(most, CandidatePhase.LONGEST_PATIENCE.toNanos())));
            }
            if (last.await(Math.min(bound - waited, CandidatePhase.LOOK_NANOS), TimeUnit.NANOSECONDS)) {
                while (!ended.isDone() && thread.isAlive()) {
                    Thread.onSpinWait(); // the next statement of the candidate's thread
                }
                return true;
            }
        }
        return false;
    }

    private void releaseForTheBody() {
        Lease held = lease();
        if (held != null) {
            ReleaseOutcome unused = held.release();
        }
    }

    /** The runtime refuses this question, about a thread that is no hook, from the moment in which it begins to end. */
    private boolean isRuntimeEnding() {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(thread);
            return false;
        } catch (IllegalStateException ending) {
            return true;
        } catch (SecurityException notAllowedToAsk) {
            return false;
        }
    }

    @Override
    public String toString() {
        Refusal refused = refusal;
        CandidatePhase present = phase;
        return switch (state()) {
            case QUEUEING -> "queueing";
            case PAUSING ->
                refused == null
                        ? "candidate"
                        : "refused, tries again within " + refused.pause.toMillis() + " ms: " + refused.why;
            case LEADING -> "leads";
            case ENDING ->
                "its body was asked to end "
                        + (present == null ? 0 : present.age().toMillis()) + " ms ago and has not ended";
            case ENDED -> failure == null ? "ended" : "ended: " + failure;
        };
    }
}
