// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.admin.Contender;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A lock that can be acquired: a mutex, a read lock or a write lock, permits of a semaphore, or several of these
 * together. This interface has the contract of acquiring; each recipe documents only what it adds.
 *
 * <p>Acquiring gives a {@link Lease}. The lock is held, on behalf of any thread that has the lease, until the lease is
 * released or lost. A lease that is never released is held until its session ends.
 *
 * <h2>Requests and their order</h2>
 *
 * Each call makes a separate request, even from the same thread: acquiring is <b>not re-entrant</b>. A caller that
 * holds a mutex and calls {@link #acquire} on the same path waits for itself, forever. {@link Mutex#asLock} is
 * re-entrant.
 *
 * <p>Requests on a path are granted strictly first come first served, in the order in which the ensemble accepted them.
 * A request that is compatible with the current holders still waits behind earlier requests that are not.
 *
 * <p>A caller that holds one lock while it waits for another can deadlock with a caller that acquires the two in the
 * opposite order. This is not prevented; {@link LockClient#diagnose} finds suspected deadlocks. Use a {@link MultiLock}
 * instead, or a timeout.
 *
 * <h2>How a call ends</h2>
 *
 * <ul>
 *   <li><b>Granted.</b> The lease was valid when it was granted, and its request is in the queue at the server.
 *   <li><b>Timed out.</b> {@link #acquire(Duration)} throws a {@link LockTimeoutException}, which says why; the result
 *       of a try is empty.
 *   <li><b>Interrupted.</b> The call throws {@link InterruptedException} and the interrupt status is cleared. If the
 *       thread is already interrupted on entry, nothing is sent. A grant that arrives too late is released. ({@link
 *       #acquireUninterruptibly} continues to wait.)
 *   <li><b>Failed.</b> The call throws one of the exceptions below.
 * </ul>
 *
 * A call that does not return a lease leaves nothing behind: no request and no watch at the server. If they cannot be
 * removed at once because the connection is lost, the client removes them as soon as it can, or the server does when
 * the session ends.
 *
 * <p>All forms of acquiring fail in the same way. The asynchronous forms throw only for bad arguments; all other
 * failures complete their future exceptionally.
 *
 * <ul>
 *   <li>{@link LockMismatchException}: the path is for another kind of lock, for another number of permits, or for
 *       clients of another layout; or the request is for more permits than the semaphore has.
 *   <li>{@link AccessDeniedException}: the server denies this client a node that it must create or read.
 *   <li>{@link SessionExpiredException}: the client borrows its session, and that session has ended.
 *   <li>{@link ClientClosedException}: the client was closed before or during the call.
 *   <li>{@link LockServiceUnavailableException} with {@link LockException.Reason#CLIENT_FAILED}: an unexpected error
 *       ended the session. Try again: the client continues with a new one.
 *   <li>{@link LockException} itself: the server refused the request for another reason, given by
 *       {@link LockException#reason} and the message.
 * </ul>
 *
 * A lost connection is not a failure. Every form waits for the connection as long as its timeout allows. Only a try
 * that does not wait for other holders ({@link #tryAcquire()}, or a timeout of zero) fails when no server answers, with
 * a {@link LockServiceUnavailableException}. If the session expires during the call and the client owns the session,
 * the request queues again in the new session, at the end of the queue.
 *
 * <h2>Threads</h2>
 *
 * The methods without {@code Async} in their name wait for responses that the ZooKeeper client's event thread delivers.
 * On that thread, for example in a ZooKeeper watcher on a borrowed handle, they throw {@link IllegalStateException} and
 * send nothing. Use the asynchronous forms there.
 *
 * <p>Within one client, actions of a thread before it releases a lease <i>happen-before</i> actions of another thread
 * after it is granted the next conflicting lease on the path. Between processes, only a store that they share can
 * establish such an order.
 */
// The class is long because it is the contract of acquiring: three quarters of it are documentation.
public interface Acquirable {
    /**
     * Acquires this lock, waiting without a time limit: for other holders, for the connection, and, if the client owns
     * its session, through the expiry of that session.
     *
     * @return the lease, to be released by the caller
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockException as described {@linkplain Acquirable above}
     */
    Lease acquire() throws InterruptedException;

    /**
     * Acquires this lock as {@link #acquire()} does, waiting for {@code timeout} at most. This is the form for callers
     * that cannot go on without the lock, but not wait for ever either: if the time passes, the exception says whether
     * others held the lock or no server answered.
     *
     * <p>Returns or throws when the time has elapsed, whether or not a server can be reached. If the request cannot be
     * removed within the time, the client removes it in the background. A timeout of zero does not wait for other
     * holders; then the call waits for the server, as {@link #tryAcquire()} does.
     *
     * @param timeout the maximum time to wait, zero or more; see {@link #tryAcquire(Duration)}
     * @return the lease, to be released by the caller
     * @throws LockTimeoutException if the time has passed; its reason has what was true then
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if {@code timeout} is zero and no server answers; see {@link
     *     #tryAcquire()}
     * @throws LockException as described {@linkplain Acquirable above}
     */
    Lease acquire(Duration timeout) throws InterruptedException;

    /**
     * Acquires as {@link #acquire()} does, but an interrupt does not end the wait. If the current thread is
     * interrupted, before or while it waits, its interrupt status is set when this method returns or throws.
     *
     * <p>Only a grant or an exception ends this call. While no server answers it waits, so use it where a program has
     * nothing else to do without the lock.
     *
     * @return the lease, to be released by the caller
     * @throws LockException as described {@linkplain Acquirable above}
     */
    Lease acquireUninterruptibly();

    /**
     * Acquires this lock if it is available now. Waits for the server's response, but not for other holders. When the
     * result is empty, the request is no longer in the queue.
     *
     * <p>An empty result means that at some moment during the call another request held or waited. A client whose last
     * try found the lock busy, or that holds it itself, may learn that without a request in the queue: to poll a busy
     * lock costs the servers no write. If no server can be reached for a session timeout, the call cannot find that
     * out, and throws.
     *
     * @return the lease, to be released by the caller; or empty if other requests were ahead of this one
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if the server could not be reached for a session timeout
     * @throws LockException as described {@linkplain Acquirable above}
     */
    Optional<Lease> tryAcquire() throws InterruptedException;

    /**
     * Acquires this lock if it becomes available within the given time. Returns when the time has elapsed, whether or
     * not a server can be reached. If the request cannot be removed within the time, the client removes it in the
     * background.
     *
     * <p>The timeout covers the whole call, including the responses of the server. A timeout shorter than a round trip
     * to the server therefore gives an empty result even if the lock is free. A timeout of zero is different: the call
     * then behaves exactly as {@link #tryAcquire()}.
     *
     * @param timeout the maximum time to wait, zero or more. More than {@link Long#MAX_VALUE} nanoseconds (292 years)
     *     is treated as that value.
     * @return the lease, to be released by the caller; or empty if the time has elapsed, whether others held the lock
     *     or no server answered, which {@link #acquire(Duration)} tells apart
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if {@code timeout} is zero and no server answers; see {@link
     *     #tryAcquire()}
     * @throws LockException as described {@linkplain Acquirable above}
     */
    Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException;

    /**
     * Acquires this lock as {@link #acquire} does, without blocking the caller.
     *
     * <p>Cancelling the returned future removes the request from the queue. So does completing it in any other way
     * before the client does, for example by {@link CompletableFuture#orTimeout}. A lease that can no longer be
     * delivered is released. Cancel this future itself: cancelling a dependent stage has no effect on it.
     *
     * <p>When the client completes the future, dependent stages run on the client's callback executor, never on
     * ZooKeeper's event thread. They share that executor with all callbacks of the client, so they should not block.
     * The future itself is completed there: while stages block all threads of the executor, no other future of the
     * client completes, although its request may be granted. {@link #acquire} and {@link #tryAcquire} do not use the
     * executor.
     *
     * @return a future that completes with the lease, which its recipient must release; or exceptionally with a
     *     {@link LockException}
     */
    CompletableFuture<Lease> acquireAsync();

    /**
     * Acquires this lock as {@link #acquire(Duration)} does, without blocking the caller. Cancelling the future and its
     * dependent stages behave as described at {@link #acquireAsync()}.
     *
     * @param timeout the maximum time to wait, zero or more; see {@link #acquire(Duration)}
     * @return a future that completes with the lease, which its recipient must release; or exceptionally with a
     *     {@link LockTimeoutException} if the time has elapsed, or with another {@link LockException}
     * @throws IllegalArgumentException if {@code timeout} is negative
     */
    CompletableFuture<Lease> acquireAsync(Duration timeout);

    /**
     * Acquires this lock as {@link #tryAcquire(Duration)} does, without blocking the caller. Cancelling the future and
     * its dependent stages behave as described at {@link #acquireAsync}.
     *
     * @param timeout the maximum time to wait, zero or more; see {@link #tryAcquire(Duration)}
     * @return a future that completes when {@link #tryAcquire(Duration)} would return: with the lease, which its
     *     recipient must release; with empty if the time has elapsed; or exceptionally with a {@link LockException}
     * @throws IllegalArgumentException if {@code timeout} is negative
     */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout);

    /**
     * Acquires this lock as {@link #acquire} does, runs {@code body} in the current thread, and releases the lease when
     * the body returns or throws. Waits without a time limit. With one, use {@link #acquire(Duration)} in a
     * {@code try}, and end its block with {@link Lease#ensureValid}.
     *
     * <p>If the lease is lost while the body runs, the body runs to its end, and then the call throws a
     * {@link LeaseLostException} in place of its result or its exception: {@link OnLoss#THROW}. The body can find out
     * earlier by {@link Lease#ensureValid}, before each step that needs the lock, and should pass {@link Lease#token}
     * to every store that it writes to. {@link OnLoss} has the alternatives.
     *
     * @param body the action to run while the lease is held
     * @param <T> the type of the result
     * @param <X> the type of the checked exception that the body may throw
     * @return the result of the body
     * @throws X if the body throws it and the lease was not lost; the lease is released before the exception is
     *     propagated
     * @throws LeaseLostException if the lease was lost before the body had ended
     * @throws InterruptedException if the current thread is interrupted before the body begins, and the body is not
     *     run; or from the body itself, as {@code X}
     * @throws LockException as described {@linkplain Acquirable above}; the body is not run
     */
    @SuppressWarnings("exports") // org.jspecify is needed only by tools that read its annotations
    default <T extends @Nullable Object, X extends Throwable> T call(LeaseFunction<T, X> body)
            throws X, InterruptedException {
        return call(OnLoss.THROW, body);
    }

    /**
     * Acquires this lock, runs {@code body} and releases the lease, as {@link #call} does, for a body without a result.
     *
     * @param body the action to run while the lease is held
     * @param <X> the type of the checked exception that the body may throw
     * @throws X if the body throws it and the lease was not lost; the lease is released before the exception is
     *     propagated
     * @throws LeaseLostException if the lease was lost before the body had ended
     * @throws InterruptedException if the current thread is interrupted before the body begins, and the body is not
     *     run; or from the body itself, as {@code X}
     * @throws LockException as described {@linkplain Acquirable above}; the body is not run
     */
    default <X extends Throwable> void run(LeaseAction<X> body) throws X, InterruptedException {
        run(OnLoss.THROW, body);
    }

    /**
     * Runs {@code body} under this lock as {@link #call(LeaseFunction)} does, with a choice of what a loss of the lease
     * does to the body. With {@link OnLoss#THROW} this is {@code call(body)}; the rest describes
     * {@link OnLoss#INTERRUPT}. With both the call ends in the same way; with {@link OnLoss#IGNORE} it ends as if
     * nothing had been lost.
     *
     * <p><b>When the lease is lost while the body runs, the thread is interrupted:</b>
     *
     * <ul>
     *   <li>by the passing of the deadline before another request can be granted, if the process runs: {@link
     *       Lease#isValid} has the conditions;
     *   <li>by deletion of the node or forced expiry as soon as the client knows. The next request may be granted
     *       before;
     *   <li>by closing the client, also from within the body.
     * </ul>
     *
     * The client's callback executor is not involved, so a blocked executor delays nothing. The interruption ends waits
     * and sleeps; a computing body should check {@link Thread#interrupted} or the lease. A body that ignores the
     * interruption continues, and only a store that checks {@link Lease#token} refuses its writes.
     *
     * <p><b>How the call ends.</b> Unless {@code onLoss} is {@code IGNORE}: if the lease was lost before the body had
     * ended, the call throws a {@link LeaseLostException}, whatever the body did: its exception is the {@linkplain
     * Throwable#getCause cause}, and its result is dropped. The same holds if the body returned in time as far as the
     * client knew, and only the release answers {@link ReleaseOutcome#LOST}; the loss cause then is {@link
     * LossCause#NODE_DELETED}, unless more is known. A release that is {@link ReleaseOutcome#PENDING} lost nothing: the
     * lease was valid when the body ended, and the result is returned. A body that has released or {@linkplain
     * ReadWriteLock#downgrade downgraded} the lease by itself is not interrupted any more.
     *
     * <p><b>The interrupt status.</b> A thread has a single interrupt status, which does not show the origin of an
     * interrupt.
     *
     * <ul>
     *   <li>A thread that is already interrupted when the lease is lost gets no second interrupt: the earlier one, from
     *       another source, stays set, also after the call.
     *   <li>The interrupt of this call is cleared when the body has ended: none is pending, and none follows, after the
     *       call has returned or thrown. An interrupt from another source between it and the end of the body cannot be
     *       distinguished from it and is cleared as well. A {@code LeaseLostException} means that such an interrupt may
     *       have been cleared.
     *   <li>{@link Thread#interrupt} can block: a channel in which the body waits can take long to close, and a thread
     *       class can override the method. The body can end nevertheless. The call waits a second at most for an
     *       interrupt that is under way; one that comes later reaches what the thread does then.
     *   <li>Where bodies with {@code INTERRUPT} enclose each other and several leases are lost, each body is
     *       interrupted while it runs.
     * </ul>
     *
     * <p>The lease is watched as {@link Lease#lost} describes, which is one request more than {@code call(body)} sends.
     *
     * <p><b>Asynchronous bodies and coroutines</b> are cancelled by a thread that waits for them inside the body; a
     * virtual thread will do:
     *
     * <pre>{@code
     * mutex.call(OnLoss.INTERRUPT, lease -> {
     *     CompletableFuture<Report> work = start(lease.token());
     *     try {
     *         return work.get();
     *     } catch (InterruptedException lost) {
     *         work.cancel(true);
     *         throw lost;
     *     }
     * });
     * }</pre>
     *
     * @param onLoss the effect of a loss on the body
     * @param body the action to run while the lease is held
     * @param <T> the type of the result
     * @param <X> the type of the checked exception that the body may throw
     * @return the result of the body
     * @throws X if the body throws it and the lease was not lost; the lease is released before the exception is
     *     propagated
     * @throws LeaseLostException unless with {@code IGNORE}, if the lease was lost before the body had ended
     * @throws InterruptedException if the current thread is interrupted before the body begins, and the body is not
     *     run; or from the body itself, as {@code X}
     * @throws LockException as described {@linkplain Acquirable above}; the body is not run
     */
    @SuppressWarnings("exports") // org.jspecify is needed only by tools that read its annotations
    default <T extends @Nullable Object, X extends Throwable> T call(OnLoss onLoss, LeaseFunction<T, X> body)
            throws X, InterruptedException {
        Objects.requireNonNull(onLoss, "onLoss");
        Objects.requireNonNull(body, "body");
        return LeasedBody.call(onLoss, acquire(), body);
    }

    /**
     * Runs {@code body} under this lock as {@link #run(LeaseAction)} does, with a choice of what a loss of the lease
     * does to the body; see {@link #call(OnLoss, LeaseFunction)}.
     *
     * @param onLoss the effect of a loss on the body
     * @param body the action to run while the lease is held
     * @param <X> the type of the checked exception that the body may throw
     * @throws X if the body throws it and the lease was not lost; the lease is released before the exception is
     *     propagated
     * @throws LeaseLostException unless with {@link OnLoss#IGNORE}, if the lease was lost before the body had ended
     * @throws InterruptedException if the current thread is interrupted before the body begins, and the body is not
     *     run; or from the body itself, as {@code X}
     * @throws LockException as described {@linkplain Acquirable above}; the body is not run
     */
    default <X extends Throwable> void run(OnLoss onLoss, LeaseAction<X> body) throws X, InterruptedException {
        Objects.requireNonNull(onLoss, "onLoss");
        Objects.requireNonNull(body, "body");
        Object unused = this.<Object, X>call(onLoss, lease -> {
            body.accept(lease);
            return body;
        });
    }

    /**
     * Returns a view of this lock whose requests carry {@code label} in place of their client's: in {@link #queue}, on
     * the command line, in {@link LockObserver.Request#label} and in the log. This object is unchanged. Use it for what
     * a lock is held for: an invoice, a job, a trace. Sends nothing.
     *
     * <p>With local turns, the servers see the label of the request that the node was made for;
     * observer and log have that of each turn. In layouts that are shared with other libraries the label is part of the
     * node's data as well.
     *
     * @param label at most 256 characters, all printable: no control or format characters; an empty text stands for the
     *     client's label
     * @return the lock with the label
     * @throws IllegalArgumentException if the label is longer or has other characters
     */
    Acquirable labelled(String label);

    /**
     * Returns a view of this lock whose leases end by themselves when they have been held for {@code limit}: a holder
     * that hangs blocks others for no longer. This object is unchanged. Sends nothing.
     *
     * <p>The time counts from the grant, on the clocks of this client, as {@link Lease#isValid} describes: with a
     * connection or without. When it has passed, the lease is {@link LeaseState#LOST} with
     * {@link LossCause#HELD_TOO_LONG}, and this client deletes its node as after each loss ({@link Lease#lost}). If no
     * server can be reached, the node is deleted at the next connection, or goes with its session. Until then the lock
     * stays held for others. The work is not ended: use {@link OnLoss#INTERRUPT}, and pass {@link Lease#token} to
     * stores.
     *
     * <ul>
     *   <li>{@link Lease#remaining} is the smaller of the time to the limit and the time to the session's deadline.
     *   <li>Of limits on limits, and of the limits of a {@link MultiLock} and of its members, the smallest counts. A
     *       multi-lock has one lease, so all members are lost.
     *   <li>A {@linkplain ReadWriteLock#downgrade downgraded} lease keeps the time of its write lease; the limit of the
     *       read lock has no part in it.
     *   <li>Of {@link Mutex#asLock} the limit counts by which the thread locked first. Locking again changes nothing.
     *   <li>With local turns, each turn has its own limit.
     * </ul>
     *
     * @param limit more than zero. More than {@link Long#MAX_VALUE} nanoseconds (292 years) is treated as that value.
     * @return the lock with the limit
     * @throws IllegalArgumentException if {@code limit} is zero or negative
     */
    Acquirable heldAtMost(Duration limit);

    /**
     * Returns the requests that hold or wait on the path, in the order of the queue. The result has the requests of all
     * clients on the path, not only those that were made through this object.
     *
     * <p>The result is for people and for monitoring. It is a snapshot of the server's state, and may be out of date
     * when this method returns. Requests that leave while they are read may be missing.
     *
     * <p>Waits for the server, for a session timeout at most; a {@link MultiLock} waits that long for each member's
     * queue in turn.
     *
     * @return the contenders in the order of the queue, unmodifiable; empty if the queue is empty
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if the server cannot be reached
     * @throws LockException as described {@linkplain Acquirable above}
     */
    List<Contender> queue() throws InterruptedException;

    /**
     * Returns the requests as {@link #queue} does, without waiting.
     *
     * @return a future of the contenders in the order of the queue; it fails with what {@link #queue} throws,
     *     within about a session timeout
     */
    CompletableFuture<List<Contender>> queueAsync();
}
