// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A pair of locks on one path: many readers at a time, or one writer.
 *
 * <p>Readers and writers share one queue, first come first served. A writer holds when its request is the first in the
 * queue; a reader holds when no writer is ahead of it. A reader behind a waiting writer waits for that writer, so
 * neither readers nor writers starve.
 *
 * <p>A reader cannot upgrade to a writer, because two readers that tried would wait for each other. Release the read
 * lease, acquire the write lock, and read the data again.
 */
public interface ReadWriteLock {
    /**
     * Returns a view of this lock whose requests for reading and for writing carry {@code label}; see
     * {@link Acquirable#labelled}. {@link #asReadWriteLock} and the locks of the returned object keep it.
     *
     * @param label as in {@link Acquirable#labelled}
     * @return this lock with the label
     * @throws IllegalArgumentException as {@link Acquirable#labelled} does
     */
    ReadWriteLock labelled(String label);

    /**
     * Returns a view of this lock whose leases for reading and for writing end by themselves after {@code limit}; see
     * {@link Acquirable#heldAtMost}. A downgrade keeps the limit of the write lease.
     *
     * @param limit as in {@link Acquirable#heldAtMost}
     * @return this lock with the limit
     * @throws IllegalArgumentException as {@link Acquirable#heldAtMost} does
     */
    ReadWriteLock heldAtMost(Duration limit);

    /**
     * Returns the lock for reading, which readers share.
     *
     * @return the read lock
     */
    Acquirable readLock();

    /**
     * Returns the lock for writing, which is exclusive.
     *
     * @return the write lock
     */
    Acquirable writeLock();

    /**
     * Converts a write lease into a read lease without releasing the lock in between. Waiting writers keep waiting;
     * readers directly behind the write lease are granted.
     *
     * <p>Until the answer has come, the write lease stays valid. In that time readers behind it may hold already, so
     * write nothing after this call has begun, also in other threads.
     *
     * <p>After this method returns, the write lease is {@link LeaseState#RELEASED}, and releasing it again has no
     * effect. Stages of {@link Lease#lost} and {@link Lease#releaseRequested} that were attached to it never complete:
     * attach them to the read lease. The read lease has the same {@linkplain Lease#token token}. If this method throws,
     * the write lease is unchanged, unless it is lost.
     *
     * <p>Waits for the server. If no server can be reached, this method waits until the client has reconnected or the
     * lease is lost. Interruption does not end the wait; the interrupt status stays set.
     *
     * @param write a valid lease of this path's write lock, from this client
     * @return the read lease, to be released by the caller
     * @throws IllegalArgumentException if {@code write} is not a lease of this path's write lock, from this client
     * @throws IllegalStateException if {@code write} was released
     * @throws LeaseLostException if {@code write} was lost, before or during the call
     * @throws LockException as described in {@link Acquirable}
     */
    Lease downgrade(Lease write);

    /**
     * Converts a write lease as {@link #downgrade} does, without waiting. Cancelling the returned future does not undo
     * it: the read lease is released then.
     *
     * @param write a lease of this path's write lock, from this client
     * @return a future of the read lease, to be released by the caller; it fails with what {@link #downgrade} throws
     * @throws IllegalArgumentException if {@code write} is not a lease of this path's write lock, from this client
     */
    CompletableFuture<Lease> downgradeAsync(Lease write);

    /**
     * Returns a view of this lock as a {@link java.util.concurrent.locks.ReadWriteLock}, for code that expects one. The
     * description of {@link Mutex#asLock} applies to both of its locks. In addition:
     *
     * <ul>
     *   <li>Each of the two locks is re-entrant.
     *   <li>A thread that holds the write lock may lock the read lock as well. Unlocking the write lock while keeping
     *       the read lock is a {@linkplain #downgrade downgrade}.
     *   <li>If a thread that holds only the read lock tries to lock the write lock, in any form, that call immediately
     *       throws {@link IllegalStateException}. The thread keeps the read lock.
     * </ul>
     *
     * @return the view
     */
    java.util.concurrent.locks.ReadWriteLock asReadWriteLock();

    /**
     * Returns the lease with which the current thread holds a view of this lock, as {@link #asReadWriteLock} makes it:
     * for its {@linkplain Lease#token token} and its validity. Sends nothing. Do not release it: {@code unlock()} does,
     * and throws if it finds it released.
     *
     * @return the lease; empty if the current thread does not hold a view of this lock
     */
    Optional<Lease> leaseOfView();
}
