// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A pair of locks on one path: many readers at a time, or one writer.
 *
 * <p>Readers and writers stand in one queue, first come first served. A writer holds when nothing stands before it; a
 * reader holds when no writer stands before it. A reader that comes after a waiting writer waits for that writer, so
 * neither side starves.
 *
 * <p>A reader cannot become a writer. Two readers that tried would wait for each other. Release the read lease, acquire
 * the write lock, and look again at what you read.
 */
public interface ReadWriteLock {
    /**
     * Returns the lock that readers share.
     *
     * @return the read lock
     */
    Acquirable readLock();

    /**
     * Returns the lock that one writer has alone.
     *
     * @return the write lock
     */
    Acquirable writeLock();

    /**
     * Turns a write lease into a read lease without letting go in between. Writers that wait stay behind; readers that
     * wait right behind come in.
     *
     * <p>After return the write lease is {@link LeaseState#RELEASED}, and to release it again does nothing. The read
     * lease has the same {@linkplain Lease#token token}. If this method throws, the write lease is as it was, unless it
     * is lost.
     *
     * <p>Waits for the server. If it is out of reach, this method waits until the connection is back or the lease is
     * lost. Interruption does not end the wait; the interrupt status stays set.
     *
     * @param write a valid lease of this path's write lock, from this client
     * @return the read lease, to be released by the caller
     * @throws IllegalArgumentException if {@code write} is not a lease of this path's write lock, from this client
     * @throws IllegalStateException if {@code write} was released
     * @throws LeaseLostException if {@code write} was lost, before or during the call
     * @throws LockException as described in {@link Acquirable}
     * @throws UnsupportedOperationException if this client's implementation does not offer it
     */
    Lease downgrade(Lease write);

    /**
     * Returns a view of this lock as a {@link java.util.concurrent.locks.ReadWriteLock}, for code that expects one.
     * What {@link Mutex#asLock} says holds for both of its locks. In addition:
     *
     * <ul>
     *   <li>Each lock is re-entrant for itself.
     *   <li>A thread that holds the write lock may lock the read lock as well. When it then unlocks the write lock and
     *       keeps the read lock, that is a {@linkplain #downgrade downgrade}.
     *   <li>A thread that holds only the read lock and asks for the write lock, in whatever form, gets an
     *       {@link IllegalStateException} at once. Its read lock stays held.
     * </ul>
     *
     * @return the view
     */
    java.util.concurrent.locks.ReadWriteLock asReadWriteLock();
}
