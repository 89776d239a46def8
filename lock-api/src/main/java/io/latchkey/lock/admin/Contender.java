// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.admin;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Owner;
import java.time.Instant;

/**
 * A request in the queue of a path, as returned by {@link Acquirable#queue}. It is a snapshot, for people and for
 * monitoring.
 *
 * <p>The {@link #owner} and the token of a downgraded lease are claims of the request's client, which are not verified:
 * it can claim those of another. If this client may not read a request's node, the contender has an empty label and
 * host, process id 0, session 0, {@link Instant#EPOCH} and token 0.
 *
 * <p>A name alone puts a node into a queue, and in the layouts of Curator and kazoo an application may have such names
 * ({@code block-1700000000}). Requests behind such a persistent node wait for it, so it is a contender as well, with
 * session 0 but a token. As it is not the request of a client, {@link #requestRelease} and {@link #evict} throw a {@link
 * LockException} and send nothing.
 *
 * <p>An administrator can {@linkplain #requestRelease ask} the owner to release, or {@linkplain #evict evict} the
 * request. Both methods affect only the request that this object was created for: a later request is not affected,
 * whether it is from the same owner or from another. The queue of a {@link MultiLock} has the request of every member;
 * acting on one of them acts on the whole multi-lock request. Both methods wait for the server, for a session timeout
 * at most.
 */
public interface Contender {
    /**
     * Returns whether the request holds or waits.
     *
     * @return the state
     */
    State state();

    /**
     * Returns the client that made the request, by its own account.
     *
     * @return the owner
     */
    Owner owner();

    /**
     * Returns the id of the session that the request belongs to. Servers' logs show it in hexadecimal.
     *
     * @return the id; 0 if it cannot be read, or if the node is persistent
     */
    long session();

    /**
     * Returns when the request was made, by the clock of the server that created its node. This is not the time of the
     * grant, which servers do not know.
     *
     * @return the time; {@link Instant#EPOCH} if it cannot be read
     */
    Instant requestedAt();

    /**
     * Returns the fencing token of the lease that the request has, or will have when it is granted. The token of a
     * downgraded lease is its owner's claim, so a reader can claim the token of an earlier request.
     *
     * @return the token; 0 if it cannot be read
     */
    long token();

    /**
     * Returns the number of permits that are requested.
     *
     * @return the number of permits; 1 unless the lock is a semaphore
     */
    int permits();

    /**
     * Returns the requested access, which distinguishes readers from writers.
     *
     * @return the requested access
     */
    Access access();

    /**
     * Returns whether the request is of the client through which the queue was read, whichever thread made it. This is
     * the client's own knowledge, not a claim of the owner.
     *
     * @return whether it was a request of this client when the queue was read
     */
    boolean isOwn();

    /**
     * Returns whether this is the request for which a lease was granted. A downgraded lease has the request of its
     * write lease, each request of a {@link MultiLock} is that of its lease, and with local turns several leases have
     * one request.
     *
     * @param lease a lease of any client of this implementation; it may have ended
     * @return whether the lease was granted for this request
     */
    boolean isOf(Lease lease);

    /**
     * Asks the holder to release its lease. This does not end the lease: {@link Lease#releaseRequested} notifies a
     * holder that listens, and the holder decides. A holder without a connection is notified when it reconnects in the
     * same session. Asking again is harmless.
     *
     * @return {@link ReleaseRequestResult#STORED} if the request is in the queue and its owner listens; else why not
     * @throws AccessDeniedException if this client lacks the right to read the request's node or to write to the node
     *     by which its owner listens; nothing was changed
     * @throws InterruptedException if the current thread is interrupted before or while it waits; the holder may or
     *     may not have been asked
     * @throws LockServiceUnavailableException if the server cannot be reached; the holder may or may not have been
     *     asked
     * @throws LockException as described at {@link Acquirable}
     */
    ReleaseRequestResult requestRelease() throws InterruptedException;

    /**
     * Evicts the request: deletes its node at the server. Use this for a holder that does not release. An evicted
     * holder continues its work until it checks its lease, so the store behind the lock should check
     * {@link Lease#token}.
     *
     * <ul>
     *   <li>If the request held, its lease becomes {@link LeaseState#LOST} with {@link LossCause#NODE_DELETED}. A
     *       connected holder that listens ({@link Lease#lost}, {@link Lease#releaseRequested}) learns of it at once,
     *       any other connected holder with its next heartbeat, at most a sixth of its session timeout later. A holder
     *       without a connection learns of it when it reconnects, or at its deadline. The next request in the queue
     *       does not wait for that.
     *   <li>If the request waited, it loses its place: its client makes a new request, at the end of the queue, within
     *       the caller's timeout.
     * </ul>
     *
     * @return whether the request was still in the queue
     * @throws AccessDeniedException if this client lacks the right to delete nodes under the path; nothing was changed
     * @throws InterruptedException if the current thread is interrupted before or while it waits; the request may or
     *     may not be gone
     * @throws LockServiceUnavailableException if the server cannot be reached; the request may or may not be gone
     * @throws LockException as described at {@link Acquirable}
     */
    Eviction evict() throws InterruptedException;

    /** The state of a request in its queue. */
    enum State {
        /**
         * The request holds, by the rule of the lock. Its owner may not have learned of the grant yet.
         *
         * <p>A semaphore that shrinks takes nothing from its holders, and the servers do not know them. So a request
         * that is older than the last resize also has this state if it fits the largest capacity so far: it may wait
         * after all if the semaphore has grown since it shrank. A request that this client may not read has this state
         * only if it fits the present capacity.
         */
        HOLDING,

        /** The request waits for requests ahead of it. */
        WAITING
    }

    /** The access that a request asks for. */
    enum Access {
        /** Exclusive access: a mutex, or the write side of a read-write lock. */
        EXCLUSIVE,

        /** Shared access: the read side of a read-write lock, including a downgraded lease. */
        SHARED,

        /** {@link #permits} of a semaphore. */
        PERMITS
    }

    /** The result of {@link #requestRelease}. */
    enum ReleaseRequestResult {
        /**
         * The server has stored the release request. The holder may not have received it yet; it is notified as long as
         * its session lives and it holds. With local turns, the current holder may be one that does not listen; it does
         * not pass the request on to another waiter.
         */
        STORED,

        /** The request is in the queue, but its owner does not listen: it waits, or it holds without listening. */
        NOT_LISTENING,

        /** The request is no longer in the queue. */
        GONE
    }

    /** The result of {@link #evict}. */
    enum Eviction {
        /** The request was in the queue and has been deleted. */
        EVICTED,

        /** The request was no longer in the queue. */
        GONE
    }
}
