// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.admin.Contender;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Leader election over a {@link Mutex}: of all processes that start a candidate on one path, one at a time leads. An
 * object of this class is one candidate. It queues for the mutex, runs a body while it leads, steps down when the lease
 * is lost, and queues again until it is closed or its body ends it.
 *
 * <pre>{@code
 * try (Leadership candidate = Leadership.start(locks.mutex("/billing/leader"), lease -> {
 *     billing.runUntilInterrupted(lease.token());
 *     return Leadership.Next.QUEUE_AGAIN;
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
 *       higher epoch, also after a forced expiry: give it to every store that the leader writes to. Exceptions are an
 *       ensemble that is restored from an older copy, and candidates of one client with local turns, whose terms can have
 *       the same epoch. When a session is ended by force, two candidates may find {@link #isLeader} {@code true} for a
 *       short time, and only this order remains.
 *   <li><b>First come, first served.</b> The candidates are the {@linkplain #candidates queue} of the mutex.
 *   <li><b>One leads.</b> While a candidate is not closed and a server answers, one leads within a session timeout,
 *       plus the pause after a refusal. A body that does not end when it is asked to can delay this.
 * </ul>
 *
 * <h2>How a term ends</h2>
 *
 * <table>
 * <caption>The end of a term, and what the candidate does then</caption>
 * <tr><th>what happens</th><th>the body</th><th>then the candidate</th></tr>
 * <tr><td>the body returns {@link Next#QUEUE_AGAIN}, or its lease is released otherwise and it returns</td><td></td>
 *     <td>queues again, behind all others</td></tr>
 * <tr><td>the body returns {@link Next#END}</td><td></td><td>ends for good</td></tr>
 * <tr><td>the body throws, an error as well</td><td></td><td>ends for good; {@link #ended} fails with it</td></tr>
 * <tr><td>the lease is lost: by its deadline, by the end of the session, by deletion of its node, by a limit</td>
 *     <td>is interrupted</td><td>queues again when the body has ended</td></tr>
 * <tr><td>{@link #stepDown}</td><td>is interrupted</td>
 *     <td>releases when the body has ended, and queues again, behind all others</td></tr>
 * <tr><td>{@link #close()}</td><td>is interrupted</td><td>releases when the body has ended, and ends for good</td></tr>
 * <tr><td>{@link #close(Duration)}, also {@link #close()} while the runtime ends</td><td>is interrupted</td>
 *     <td>as with {@code close()}; if the time passes first, the mutex is released for the body</td></tr>
 * <tr><td>the client is closed</td><td>is interrupted</td>
 *     <td>ends for good; {@link #ended} fails with {@link ClientClosedException}</td></tr>
 * <tr><td>other code interrupts the candidate's thread</td><td>is interrupted</td>
 *     <td>ends for good if the body throws the {@link InterruptedException}, or if the thread is interrupted when it is
 *     to release or to queue</td></tr>
 * </table>
 *
 * <p>A body that was asked to end may throw whatever it likes, or return: the row holds. Its exception is {@linkplain
 * Reports#exceptionDropped reported}, unless it is an {@code InterruptedException}. The {@link LeaseLostException} of
 * another lease does not count as the loss of this one.
 *
 * <p><b>A body that does not end</b> when it was asked to continues to lead while its lease is valid. After a loss
 * others lead, and this candidate does not queue before its body has ended. {@link #state} is {@link State#ENDING}
 * then, {@link #toString} has for how long, and {@link Reports#bodyNotEnded} is called. A later reason to end
 * interrupts again: {@code close} after {@code stepDown} or a loss, and a loss after either.
 *
 * <h2>When the mutex is refused</h2>
 *
 * A candidate to which the servers refuse the mutex for now (they throttle, a quota is exceeded, no session is
 * connected, the client has an unexpected error) tries again, after a pause that grows from a tenth of a second to ten
 * seconds and is {@linkplain Reports#mutexRefused reported}. {@link #state} is {@link State#PAUSING} then, and
 * {@link #refusal} has the reason. It ends for good, with the exception, where the same request cannot be granted
 * later: the client is closed ({@link ClientClosedException}) or its borrowed session has ended
 * ({@link SessionExpiredException}); the path is bad ({@link BadPathException}), for another kind of lock
 * ({@link LockMismatchException}) or below an ephemeral node ({@link LockException.Reason#EPHEMERAL_PARENT}); access is
 * denied ({@link AccessDeniedException}). An {@link Error} other than a {@link VirtualMachineError} also ends it.
 *
 * <h2>Threads</h2>
 *
 * A candidate has one thread, on which body and listener run. A further daemon thread is made for each reason to end,
 * to interrupt it: {@link Thread#interrupt} can block. One more in a term reports a body that does not end. Threads
 * that this class makes have the class loader of the body or listener as context class loader, normal priority, and no
 * inheritable thread-locals. All methods may be called by any thread.
 */
public final class Leadership implements AutoCloseable {
    private final Mutex mutex;
    private final Candidacy candidacy;

    /** What a candidate does after a term whose body was not asked to end. */
    public enum Next {
        /** Queues again, behind all other candidates. */
        QUEUE_AGAIN,
        /** Ends for good. */
        END
    }

    /** What a candidate does now. */
    public enum State {
        /** It queues, or is about to. */
        QUEUEING,
        /** The mutex was refused: {@link Leadership#refusal}. It tries again after a pause. */
        PAUSING,
        /** The body has begun, and its lease is valid. */
        LEADING,
        /** The lease is lost, or the body was asked to end, and it has not ended. */
        ENDING,
        /** It has ended for good: {@link Leadership#ended}. */
        ENDED
    }

    /**
     * What a program should log of a candidate, except its end: see {@link #ended}. Every method does nothing unless it
     * is overridden. An exception of a method has no effect.
     */
    public interface Reports {
        /**
         * The mutex was refused, and is tried again. Called on the candidate's thread, before the pause.
         *
         * @param why the refusal, in most cases a {@link LockException}
         * @param pause how long the candidate waits before it tries again
         */
        default void mutexRefused(Throwable why, Duration pause) {}

        /**
         * The body was asked to end, and has not ended within about a session timeout (a second at least, a minute at
         * most). Until it does, this candidate neither queues nor ends. Called once in a term, on a thread of its own.
         *
         * @param lease the lease of the term; it may be valid
         * @param overdue the time since the body was asked to end
         */
        default void bodyNotEnded(Lease lease, Duration overdue) {}

        /**
         * A body that was asked to end has thrown something other than an {@link InterruptedException}, which has no
         * effect. Called on the candidate's thread, after the release.
         *
         * @param lease the lease of the term, which has ended
         * @param thrown what the body threw
         */
        default void exceptionDropped(Lease lease, Throwable thrown) {}

        /**
         * Returns reports that are a sentence each, such as for {@code logger::warn}.
         *
         * @param log takes a sentence
         * @return the reports
         */
        static Reports to(Consumer<String> log) {
            Objects.requireNonNull(log, "log");
            return new Reports() {
                @Override
                public void mutexRefused(Throwable why, Duration pause) {
                    log.accept("A candidate for a leadership was refused and does not queue. It tries again in "
                            + pause.toMillis() + " ms. The refusal: " + why);
                }

                @Override
                public void bodyNotEnded(Lease lease, Duration overdue) {
                    log.accept("The leader of " + lease.path() + " with epoch " + lease.token() + " was asked to end "
                            + overdue.toMillis() + " ms ago, and its body has not ended. While the lease is valid"
                            + " no other candidate leads. Look at the candidate's thread.");
                }

                @Override
                public void exceptionDropped(Lease lease, Throwable thrown) {
                    log.accept("The leader of " + lease.path() + " with epoch " + lease.token()
                            + " was asked to end, and its body threw, which changes nothing: " + thrown);
                }
            };
        }
    }

    /** A listener to the terms of a candidate. Its methods run on the candidate's thread, one after the other. */
    public interface Listener extends Reports {
        /**
         * The candidate leads, or has led: {@link Leadership#isLeader} says whether it still does. The thread is
         * interrupted when the term ends while this method runs. The term ends as well if this method clears the status
         * and returns, and if it returned before.
         *
         * @param lease the lease of the term, whose token is the epoch; it is released after {@link #termOver}
         * @throws InterruptedException if it was interrupted
         */
        void elected(Lease lease) throws InterruptedException;

        /**
         * The term is over: the lease is lost, or is released when this method returns. Called once after each {@link
         * #elected}, however that ended. The interrupt that ended the term is cleared; a later reason to end, such as
         * a {@link Leadership#close()} after a {@link Leadership#stepDown}, interrupts this method.
         *
         * @param lease the lease of the term
         */
        void termOver(Lease lease);
    }

    private Leadership(
            Mutex mutex, Candidacy.Work work, Reports reports, @Nullable ThreadFactory threads, Object user) {
        this.mutex = Objects.requireNonNull(mutex, "mutex");
        this.candidacy = new Candidacy(mutex, work, Objects.requireNonNull(reports, "reports"), threads, user);
        candidacy.start();
    }

    /**
     * Starts a candidate that runs {@code body} whenever it leads, on a daemon thread of its own. Nothing is reported.
     *
     * @param mutex the mutex that stands for the leadership
     * @param body what to do while leading, until it is interrupted or done
     * @return the candidate, to be closed by the caller
     */
    public static Leadership start(Mutex mutex, LeaseFunction<Next, ? extends Exception> body) {
        return start(mutex, body, new Reports() {});
    }

    /**
     * Starts a candidate as {@link #start(Mutex, LeaseFunction)} does, which reports what a program should log.
     *
     * @param mutex the mutex that stands for the leadership
     * @param body what to do while leading, until it is interrupted or done
     * @param reports what to log, such as {@link Reports#to Reports.to(logger::warn)}
     * @return the candidate, to be closed by the caller
     */
    public static Leadership start(Mutex mutex, LeaseFunction<Next, ? extends Exception> body, Reports reports) {
        return new Leadership(mutex, work(body), reports, null, body);
    }

    /**
     * Starts a candidate as {@link #start(Mutex, LeaseFunction, Reports)} does, on a thread that {@code threads} makes.
     *
     * @param mutex the mutex that stands for the leadership
     * @param body what to do while leading, until it is interrupted or done
     * @param reports what to log, such as {@link Reports#to Reports.to(logger::warn)}
     * @param threads makes the thread of the candidate; it may be virtual
     * @return the candidate, to be closed by the caller
     */
    public static Leadership start(
            Mutex mutex, LeaseFunction<Next, ? extends Exception> body, Reports reports, ThreadFactory threads) {
        return new Leadership(mutex, work(body), reports, Objects.requireNonNull(threads, "threads"), body);
    }

    private static Candidacy.Work work(LeaseFunction<Next, ? extends Exception> body) {
        Objects.requireNonNull(body, "body");
        return (lease, interruption) -> body.apply(lease);
    }

    /**
     * Starts a candidate that tells {@code listener} when it begins and ceases to lead, on a daemon thread of its own. It
     * leads until the lease is lost or released, or until {@link #stepDown} or {@link #close()}.
     *
     * @param mutex the mutex that stands for the leadership
     * @param listener the listener
     * @return the candidate, to be closed by the caller
     */
    public static Leadership start(Mutex mutex, Listener listener) {
        Objects.requireNonNull(listener, "listener");
        Candidacy.Work work = (lease, interruption) -> {
            try {
                listener.elected(lease);
                interruption.awaitDemand(lease);
            } finally {
                interruption.acknowledge(lease);
                listener.termOver(lease);
            }
            return Next.QUEUE_AGAIN;
        };
        return new Leadership(mutex, work, listener, null, listener);
    }

    /**
     * Returns whether this candidate leads: its body has begun and not ended, and its lease is valid. Sends nothing.
     *
     * @return {@code true} if it leads at the moment of the call
     */
    public boolean isLeader() {
        return candidacy.validLease().isPresent();
    }

    /**
     * Returns the epoch of the present term: the token of its lease. Sends nothing.
     *
     * @return the epoch; empty if this candidate does not lead
     */
    public OptionalLong epoch() {
        return candidacy.validLease().stream().mapToLong(Lease::token).findFirst();
    }

    /**
     * Returns the leader: the first of the {@link #candidates}, if its request holds. Asks the server.
     *
     * @return the leader, by its own account; empty if there is no candidate
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockException as {@link Acquirable#queue} does
     */
    public Optional<Contender> leader() throws InterruptedException {
        return candidates().stream()
                .filter(candidate -> candidate.state() == Contender.State.HOLDING)
                .findFirst();
    }

    /**
     * Returns all candidates, the leader first: the queue of the mutex. Asks the server.
     *
     * @return the candidates in their order, unmodifiable
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockException as {@link Acquirable#queue} does
     */
    public List<Contender> candidates() throws InterruptedException {
        return mutex.queue();
    }

    /**
     * Returns what this candidate does now. Sends nothing.
     *
     * @return the state
     */
    public State state() {
        return candidacy.state();
    }

    /**
     * Returns why this candidate pauses: the refusal after which it tries again.
     *
     * @return the refusal; empty if {@link #state} is not {@link State#PAUSING}
     */
    public Optional<Throwable> refusal() {
        return candidacy.refusal();
    }

    /**
     * Ends the present term, if this candidate leads: interrupts the body. When that has ended, the candidate releases
     * the mutex and queues again, behind all others. Does not wait. A second call in a term has no effect.
     */
    public void stepDown() {
        candidacy.stepDown();
    }

    /**
     * Ends this candidate for good: steps down, or leaves the queue. Waits until the body has ended and the release has
     * been sent, as long as that takes. If the server cannot confirm the release, the client retries it in the
     * background ({@link ReleaseOutcome#PENDING}). When called on the candidate's own thread, as in the body, it does
     * not wait. If the current thread is interrupted, before or while it waits, this method waits no longer, and the
     * interrupt status stays set. Idempotent. Does not close the client of the mutex.
     *
     * <p>While the runtime ends ({@link System#exit}, a signal), as in a shutdown hook, this method waits as
     * {@link #close(Duration)} does, for the time that the lease remains valid without another response of a server,
     * which is less than a session timeout (a second at least, a minute at most). A body that called
     * {@code System.exit} does not end, and the runtime waits for its hooks.
     */
    @Override
    public void close() {
        boolean unused = candidacy.close(Optional.empty());
    }

    /**
     * Ends this candidate for good as {@link #close()} does: interrupts the body at once, and waits for it for {@code
     * grace} at most, and then for the release, up to about a session timeout if no server answers. If the body has not
     * ended by then, the mutex is released for it: another candidate can lead, while the body goes on until it ends.
     * Only a store that compares {@linkplain #epoch epochs} refuses its writes then. The time counts while the runtime
     * ends as well. ({@link LockClient#close(Duration)} is gentler: it asks holders, and interrupts at the end of the
     * grace.)
     *
     * @param grace how long the body may take to end, zero or more
     * @return whether this candidate has ended; if not, it will when its body does, and never leads again
     * @throws IllegalArgumentException if {@code grace} is negative
     */
    public boolean close(Duration grace) {
        Objects.requireNonNull(grace, "grace");
        if (grace.isNegative()) {
            throw new IllegalArgumentException("grace is negative: " + grace + ". The candidate is not closed.");
        }
        return candidacy.close(Optional.of(grace));
    }

    /**
     * Returns a stage that completes when this candidate has ended for good: normally after {@link #close()} or
     * {@link Next#END}; exceptionally with what the body threw, or with what acquiring threw and cannot pass, such as a
     * {@link ClientClosedException}. Dependent stages that are attached before the end run on the candidate's thread,
     * without an interrupt status, and {@link #close()} does not wait for them; later ones on the thread that attaches them.
     *
     * @return a stage that completes at the end
     */
    @SuppressWarnings("exports") // org.jspecify is needed only by tools that read its annotations
    public CompletionStage<@Nullable Void> ended() {
        return candidacy.ended();
    }

    @Override
    public String toString() {
        return "Leadership[" + mutex + ", " + candidacy + "]";
    }
}
