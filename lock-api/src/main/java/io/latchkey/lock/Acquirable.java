// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Something that can be acquired: a mutex, a read lock or a write lock, permits of a semaphore, or several of these at
 * once. This is the contract of acquiring; the recipes only say what they add.
 *
 * <p>To acquire gives a {@link Lease}. Whoever has the lease holds the lock, whichever thread that is, until the lease
 * is released or lost. A lease that nobody releases is held until its session ends.
 *
 * <h2>Requests and their order</h2>
 *
 * Each call is a request of its own, also from the same thread: acquiring is <b>not re-entrant</b>. A caller that holds
 * a mutex and calls {@link #acquire} on the same path waits for itself, forever. {@link Mutex#asLock} is re-entrant.
 *
 * <p>Requests on a path are granted strictly first come first served, in the order in which the ensemble took them. A
 * request that could hold beside the present holders still waits behind earlier requests that cannot.
 *
 * <p>A caller that holds one lock while it waits for another can deadlock with a caller that takes them in the other
 * order. Nothing prevents this; {@link LockClient#diagnose} finds suspects. Use a {@link MultiLock} instead, or a
 * time-out.
 *
 * <h2>How a call ends</h2>
 *
 * <ul>
 *   <li><b>Granted.</b> The lease was valid when it was granted, and its request stands in the queue at the server.
 *   <li><b>Out of time.</b> An empty result, never an exception.
 *   <li><b>Interrupted.</b> {@link InterruptedException}, and the interrupt status is cleared. If the thread is already
 *       interrupted on entry, nothing is sent. A grant that comes too late is given back.
 *   <li><b>Failed.</b> One of the exceptions below.
 * </ul>
 *
 * A call that does not end with a lease leaves nothing behind: neither a request nor a watch at the server. What cannot
 * be taken back at once because the connection is away, the client takes back in the background as soon as it can, or
 * the server does when the session ends.
 *
 * <p>All forms of acquiring fail in the same way. The asynchronous forms throw only what is wrong with their arguments;
 * all else completes their future.
 *
 * <ul>
 *   <li>{@link LockMismatchException}: the path is for another kind of lock, for another number of permits, or for clients
 *       of another layout; or more permits are asked for than the semaphore has.
 *   <li>{@link AccessDeniedException}: the server does not let this client create or read what it must.
 *   <li>{@link SessionExpiredException}: the client borrows its session, and that session has ended.
 *   <li>{@link ClientClosedException}: the client was closed before the call or while it waited.
 *   <li>{@link LockException} itself: the server refused the request for another reason, which {@link LockException#reason} and
 *       the message give.
 * </ul>
 *
 * A lost connection is none of these. Every form waits for the connection as long as its time allows. Only
 * {@link #tryAcquire()}, which has no time of its own, throws {@link LockUnavailableException}. If the session expires
 * meanwhile and the client owns it, the request queues again in the new session, at the end of the queue.
 *
 * <h2>Threads</h2>
 *
 * The methods without {@code Async} in their name wait for answers that the ZooKeeper client's event thread delivers.
 * Do not call them on that thread, as in a ZooKeeper watcher of your own on a borrowed handle.
 *
 * <p>Within one client, what a thread did before it released a lease <i>happens-before</i> what another thread does
 * after it was granted the next conflicting lease on the path. Between processes only the store that they share can
 * give such an order.
 */
public interface Acquirable {
    /**
     * Acquires, and waits as long as it takes: for other holders, for the connection, and, where the client owns its
     * session, through the expiry of that session.
     *
     * @return the lease, to be released by the caller
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockException as described {@linkplain Acquirable above}
     */
    Lease acquire() throws InterruptedException;

    /**
     * Acquires if that is possible now. Waits for the server's answer, but not for other holders. When the result is
     * empty, the request is gone from the queue.
     *
     * <p>An empty result means that another request held, or waited, when this one was made. If the server is out of
     * reach for a session timeout, nothing is known about that, and the call throws.
     *
     * @return the lease, to be released by the caller; or empty if others are before this request
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockUnavailableException if the server could not be reached for a session timeout
     * @throws LockException as described {@linkplain Acquirable above}
     */
    Optional<Lease> tryAcquire() throws InterruptedException;

    /**
     * Acquires if that is possible within a time. Returns when the time is over, whether the server can be reached or
     * not. If the request cannot be taken back within the time, the client does so in the background.
     *
     * <p>The time covers everything, the answers of the server included. A time shorter than a round trip to the server
     * therefore gives an empty result even if the lock is free. Only zero is different: it asks for "now or never", and
     * does exactly what {@link #tryAcquire()} does.
     *
     * @param timeout how long to wait at most, zero or more. More than {@link Long#MAX_VALUE} nanoseconds (292 years)
     *     counts as that.
     * @return the lease, to be released by the caller; or empty if the time is over
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockUnavailableException only if {@code timeout} is zero; see {@link #tryAcquire()}
     * @throws LockException as described {@linkplain Acquirable above}
     */
    Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException;

    /**
     * Acquires as {@link #acquire} does, without blocking the caller.
     *
     * <p>To cancel the returned future leaves the queue. So does every other way of completing it before the client
     * does, such as {@link CompletableFuture#orTimeout}. A lease that can no longer be handed over is given back.
     * Cancel this future itself: to cancel a stage that depends on it does not reach it.
     *
     * <p>When the client completes the future, the stages that depend on it run on the client's callback executor,
     * never on ZooKeeper's event thread. They share that executor with all callbacks of the client, so they should not
     * block. The future itself is completed there: while stages block all threads of the executor, no other future of
     * the client completes, although its request may be granted. {@link #acquire} and {@link #tryAcquire} do not need
     * the executor.
     *
     * @return a future that completes with the lease, to be released by whoever gets it; or exceptionally with a
     *     {@link LockException}
     */
    CompletableFuture<Lease> acquireAsync();

    /**
     * Acquires as {@link #tryAcquire(Duration)} does, without blocking the caller. What {@link #acquireAsync} says of
     * its future, of cancelling and of dependent stages, holds here as well.
     *
     * @param timeout how long to wait at most, zero or more; see {@link #tryAcquire(Duration)}
     * @return a future that completes when {@link #tryAcquire(Duration)} would return: with the lease, to be released
     *     by whoever gets it; with empty if the time is over; or exceptionally with a {@link LockException}
     * @throws IllegalArgumentException if {@code timeout} is negative
     */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout);

    /**
     * Acquires as {@link #acquire} does, runs {@code body} in the current thread, and releases the lease when the body
     * returns or throws.
     *
     * <p>If the lease is lost meanwhile, the body is neither interrupted nor repeated, and its result is returned all
     * the same. So the body should call {@link Lease#ensureValid} before each step that needs the lock, and give
     * {@link Lease#token} to what it writes to.
     *
     * @param body what to do while the lease is held
     * @param <T> the type of the result
     * @param <X> the type of the checked exception that the body may throw
     * @return what the body returned
     * @throws X if the body throws it; the lease is released before it gets here
     * @throws InterruptedException if the current thread is interrupted before the body begins; the body is not run
     * @throws LockException as described {@linkplain Acquirable above}; the body is not run
     */
    @SuppressWarnings("exports") // who reads the annotations has org.jspecify; who does not must not need it
    default <T extends @Nullable Object, X extends Throwable> T call(LeaseFunction<T, X> body)
            throws X, InterruptedException {
        Objects.requireNonNull(body, "body");
        try (Lease lease = acquire()) {
            return body.apply(lease);
        }
    }

    /**
     * Acquires, runs {@code body} and releases, as {@link #call} does, for a body without a result.
     *
     * @param body what to do while the lease is held
     * @param <X> the type of the checked exception that the body may throw
     * @throws X if the body throws it; the lease is released before it gets here
     * @throws InterruptedException if the current thread is interrupted before the body begins; the body is not run
     * @throws LockException as described {@linkplain Acquirable above}; the body is not run
     */
    default <X extends Throwable> void run(LeaseAction<X> body) throws X, InterruptedException {
        Objects.requireNonNull(body, "body");
        try (Lease lease = acquire()) {
            body.accept(lease);
        }
    }

    /**
     * Returns who holds and who waits on the path, first come first. It shows all requests on the path, of whatever
     * client, and not only those that were made through this object.
     *
     * <p>The result is for people and for monitoring. It was true at the server at one moment, and may be out of date
     * when this method returns. Contenders that leave while they are read may be missing.
     *
     * <p>Waits for the server, for a session timeout at most; of a {@link MultiLock} for each member's queue in turn. Not
     * interruptible in the usual way, since it throws no
     * {@link InterruptedException}: if the current thread is interrupted, before or while it waits, it throws
     * {@link LockUnavailableException}, and the interrupt status stays set.
     *
     * @return the contenders in the order of the queue, unmodifiable; empty if there are none
     * @throws LockUnavailableException if the server cannot be reached, or the current thread is interrupted
     * @throws LockException as described {@linkplain Acquirable above}
     */
    List<Contender> queue();
}
