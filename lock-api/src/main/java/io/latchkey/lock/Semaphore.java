// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A counting semaphore: a number of permits on one path. A request holds when the sum of its permits and those of all
 * requests ahead of it does not exceed the capacity. {@link #acquire} and its other forms acquire one permit;
 * {@link #permits} acquires several.
 *
 * <p>Requests are granted strictly first come first served, regardless of their numbers of permits. So large requests
 * do not starve, and a request may have to wait although enough permits for it are free.
 *
 * <p>Permits are held by a {@link Lease}, one for each request: releasing it returns all permits of the request
 * together. It can be lost. Permits of a client that
 * crashes are free when its session has expired.
 *
 * <p>The capacity is the number of permits that all clients {@linkplain LockClient#semaphore declare}, until it is
 * {@linkplain #resize changed}. The methods that read or change it wait for the server, for a session timeout at most;
 * {@link #availablePermits} waits for two responses in turn, for a session timeout at most each.
 */
public interface Semaphore extends Acquirable {
    /**
     * Returns an {@link Acquirable} for {@code n} permits with one lease: all or none. This method sends nothing.
     *
     * <p>Only the server knows the current capacity, which another client may have changed. If it is smaller than
     * {@code n}, or becomes so while the request waits, acquiring throws {@link LockMismatchException} with both
     * numbers. The request then leaves the queue, so that it does not block others.
     *
     * @param n the number of permits, at least 1
     * @return the acquirable for these permits
     * @throws IllegalArgumentException if {@code n} is zero or negative
     * @throws UnsupportedOperationException if {@code n} is greater than 1 and this client's layout grants permits only
     *     one at a time
     */
    Acquirable permits(int n);

    /**
     * Reads the capacity from the server: the number of permits that can be held at a time. It is the declared number
     * if the path does not exist.
     *
     * @return the capacity, at least 1
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if the server cannot be reached
     * @throws LockException as described in {@link Acquirable}
     */
    int capacity() throws InterruptedException;

    /**
     * Reads the number of permits that are not held from the server. It is a snapshot of the queue, for people and for
     * monitoring. It does not predict whether a request would be granted: earlier requests may wait for those permits.
     * After a {@linkplain #resize resize} to a smaller capacity, requests that waited at that time may count as
     * holders.
     *
     * @return the capacity minus the permits held, or zero if more permits are held than the capacity
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if the server cannot be reached
     * @throws LockException as described in {@link Acquirable}
     */
    int availablePermits() throws InterruptedException;

    /**
     * Changes the capacity, for all clients, and creates the path if it does not exist. The change lasts as long as the
     * path exists; a path that was removed and created again has the declared capacity. A path that an operator has
     * created as a persistent node is not removed.
     *
     * <p>A larger capacity admits waiting requests. A smaller capacity revokes no permits: holders keep theirs,
     * including requests that could hold by then although their clients had not learned of it. No other request is
     * granted until enough permits are released. A client whose callers pass permits on to one another ({@code
     * localTurns}) may go on until its next request to the servers. A waiting request for more permits than the new
     * capacity fails with {@link LockMismatchException}.
     *
     * <p>If this method throws {@link LockServiceUnavailableException}, the change may or may not have been made.
     * Calling it again is harmless.
     *
     * @param capacity the new capacity, at least 1
     * @throws IllegalArgumentException if {@code capacity} is zero or negative
     * @throws UnsupportedOperationException if this client's layout does not offer a change of capacity
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if the server cannot be reached
     * @throws LockException as described in {@link Acquirable}
     */
    void resize(int capacity) throws InterruptedException;

    /**
     * Changes the capacity as {@link #resize} does, without waiting. Cancelling the returned future may come too late
     * to prevent the change.
     *
     * @param capacity the new capacity, at least 1
     * @return a future that completes when the server has made the change; it fails with what {@link #resize} throws,
     *     within about a session timeout
     * @throws IllegalArgumentException if {@code capacity} is zero or negative
     * @throws UnsupportedOperationException if this client's layout does not offer a change of capacity
     */
    CompletableFuture<Void> resizeAsync(int capacity);

    @Override
    Semaphore labelled(String label);

    @Override
    Semaphore heldAtMost(Duration limit);
}
