// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A number of permits on one path. A request holds when its permits and those of all requests before it are together at
 * most the capacity. {@link #acquire} and its other forms take one permit; {@link #permits} takes several.
 *
 * <p>Requests are granted strictly first come first served, whatever they ask for. So large requests do not starve, and
 * a request may have to wait although the permits that it asks for are free.
 *
 * <p>A permit is a {@link Lease}: it is given back by releasing it, once, and it can be lost. Permits of a client that
 * crashes are free when its session has expired.
 *
 * <p>The capacity is the number of permits that all clients {@linkplain LockClient#semaphore declare}, until it is
 * {@linkplain #resize changed}. The methods that ask the server for it or change it wait for a session timeout at most; {@link #availablePermits} asks twice.
 * If the current thread is interrupted, before or while they wait, they throw {@link LockUnavailableException}, and the
 * interrupt status stays set.
 */
public interface Semaphore extends Acquirable {
    /**
     * Returns what acquires {@code n} permits with one lease: all or none. This method sends nothing.
     *
     * <p>The server alone knows the present capacity, which another client may have changed. If it is smaller than {@code
     * n}, or becomes so while the request waits, acquiring throws {@link LockMismatchException} with both numbers and
     * leaves the queue, so as not to block it.
     *
     * @param n the number of permits, at least 1
     * @return what acquires them
     * @throws IllegalArgumentException if {@code n} is zero or negative
     * @throws UnsupportedOperationException if this client's implementation gives permits one at a time and {@code n} is
     *     more
     */
    Acquirable permits(int n);

    /**
     * Asks the server for the capacity: the number of permits that can be held at a time. It is the declared number if
     * the path does not exist.
     *
     * @return the capacity, at least 1
     * @throws LockUnavailableException if the server cannot be reached, or the current thread is interrupted
     * @throws LockException as described in {@link Acquirable}
     */
    int capacity();

    /**
     * Asks the server how many permits are not held. That is a view of the queue at one moment, for people and for
     * monitoring. It says nothing of what a request would get: earlier requests may wait for those permits. After a
     * {@linkplain #resize resize} to fewer, requests that waited at that time may count as held.
     *
     * @return the capacity less the permits held, or zero if more are held than the capacity
     * @throws LockUnavailableException if the server cannot be reached, or the current thread is interrupted
     * @throws LockException as described in {@link Acquirable}
     */
    int availablePermits();

    /**
     * Changes the capacity, for all clients, and creates the path if it does not exist. The change lasts as long as the
     * path exists; a path that has gone and come again has the declared capacity.
     *
     * <p>A larger capacity lets waiting requests in. A smaller one takes a permit from nobody: those who hold keep what
     * they hold, also those whose turn had come by then without their having heard of it, and nobody else is let in until
     * enough is released. A waiting request for more than the new capacity fails with {@link LockMismatchException}.
     *
     * <p>If this method throws {@link LockUnavailableException}, the change may have been made or not. To call it again
     * is harmless.
     *
     * @param capacity the new capacity, at least 1
     * @throws IllegalArgumentException if {@code capacity} is zero or negative
     * @throws LockUnavailableException if the server cannot be reached, or the current thread is interrupted
     * @throws LockException as described in {@link Acquirable}
     * @throws UnsupportedOperationException if this client's implementation does not offer it
     */
    void resize(int capacity);
}
