// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Instant;

/**
 * A request in the queue of a path, as {@link Acquirable#queue} shows it. It is a picture of one moment, for people and
 * for monitoring. Label, host and process id are what the request's owner claims, and so is the token of a downgraded
 * lease; nothing proves them, and an owner can claim those of another. They have at most 256 characters, each of which
 * shows: other claims are taken for none. Where this client may not read a request's node, it has an empty label and
 * host, process id 0, {@link Instant#EPOCH} and token 0.
 *
 * <p>An administrator can {@linkplain #requestRelease ask} its owner to let go, or {@linkplain #evict take} the request
 * away. Both concern the request that is shown, and no other: one that was made since, by the same owner or by somebody
 * else, is not touched. Of a {@link MultiLock} the queue shows every member's request; what is done to one concerns the
 * whole. Both wait for the server, for a session timeout at most, and answer to an interrupt as {@link Acquirable#queue}
 * does.
 */
public interface Contender {
    /**
     * Returns whether the request holds or waits.
     *
     * @return the state
     */
    State state();

    /**
     * Returns what the owner calls its client.
     *
     * @return the label; empty if the owner has none or it cannot be read
     */
    String label();

    /**
     * Returns the name of the owner's machine.
     *
     * @return the name; empty if it cannot be read
     */
    String host();

    /**
     * Returns the owner's process on that machine.
     *
     * @return the process id; 0 if it cannot be read
     */
    long processId();

    /**
     * Returns when the request was made, by the clock of the server that created its node; not the time of the grant.
     *
     * @return the time
     */
    Instant since();

    /**
     * Returns the fencing token of the lease that the request has, or will have when it is granted. That of a downgraded
     * lease is its owner's claim.
     *
     * @return the token
     */
    long token();

    /**
     * Returns the permits that the request asks for.
     *
     * @return the permits; 1 unless the lock is a semaphore
     */
    int permits();

    /**
     * Returns beside whom the request can hold: so a queue tells readers from writers.
     *
     * @return the access that it asks for
     */
    Access access();

    /**
     * Asks the holder to let go. Nothing happens by itself: the holder is told through
     * {@link Lease#releaseRequested}, if it has asked to be, and decides. A holder that is without a connection is told
     * when it is back in the same session. To ask again does no harm.
     *
     * @return whether there is somebody to be told
     * @throws AccessDeniedException if this client has not the right to read the request's node and to write to what its
     *     owner has created; nothing was changed
     * @throws LockUnavailableException if the server cannot be reached, or the current thread is interrupted; the holder
     *     may or may not have been asked
     * @throws LockException as described at {@link Acquirable}
     * @throws UnsupportedOperationException if this client's implementation does not offer it
     */
    default ReleaseRequestResult requestRelease() {
        throw new UnsupportedOperationException("this implementation cannot ask a holder to let go");
    }

    /**
     * Takes the request away: deletes its node at the server. This is for a holder that does not let go. What the holder
     * has begun goes on until it looks at its lease, so the store behind the lock should check {@link Lease#token}.
     *
     * <ul>
     *   <li>Who held finds its lease {@link LeaseState#LOST} with {@link LossCause#NODE_DELETED}: at once if it has asked
     *       to be told ({@link Lease#lost}, {@link Lease#releaseRequested}) and is connected, else by its next
     *       heartbeat, a sixth of its session timeout later at most; without a connection when it is back, or at its
     *       deadline. The next in the queue does not wait for that.
     *   <li>Who waited loses its place: its client makes a new request, at the end of the queue, within the caller's time.
     * </ul>
     *
     * @return whether the request was still there
     * @throws AccessDeniedException if this client has not the right to delete what is under the path; nothing was
     *     changed
     * @throws LockUnavailableException if the server cannot be reached, or the current thread is interrupted; the request
     *     may or may not be gone
     * @throws LockException as described at {@link Acquirable}
     * @throws UnsupportedOperationException if this client's implementation does not offer it
     */
    default Eviction evict() {
        throw new UnsupportedOperationException("this implementation cannot take requests away");
    }

    /** Where a request stands in its queue. */
    enum State {
        /** It holds, by the rule of the lock. Its owner may not have heard of that yet. */
        HOLDING,

        /** It waits for requests before it. */
        WAITING
    }

    /** What a request asks for. */
    enum Access {
        /** To hold alone: a mutex, or the write side of a read-write lock. */
        EXCLUSIVE,

        /** To hold beside others that share: the read side of a read-write lock, also after a downgrade. */
        SHARED,

        /** To hold {@link #permits} of a semaphore. */
        PERMITS
    }

    /** What became of {@link #requestRelease}. */
    enum ReleaseRequestResult {
        /**
         * The server has it; the holder is told as long as its session lives and it holds. Where waiters of one client take
         * turns with one node, the turn may have passed to one that has not asked to be told; it passes the node to no other.
         */
        DELIVERED,

        /** The request is there, but its owner has not asked to be told: it waits, or its holder does not listen. */
        NOT_LISTENING,

        /** The request is no longer in the queue. */
        GONE
    }

    /** What became of {@link #evict}. */
    enum Eviction {
        /** The request was in the queue, and is no more. */
        EVICTED,

        /** It had gone before. */
        GONE
    }
}
