// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;

/**
 * Whose znodes a client's locks are made of. With {@link #CURATOR} or {@link #KAZOO} it shares live paths with that
 * library's recipes: both sides stand in one queue in the order of the server's numbers, exclude each other, and a crash
 * of either lets the next in when its session ends. So a fleet can move one process after the other. Once nobody else is
 * left, take a new path with {@link #LATCHKEY}, or the same when it is empty.
 *
 * <p>What a lease of Latchkey's promises (validity, token, loss that is told) it promises on any layout. It cannot do
 * that for the others: they have no tokens, and may believe that they hold after their session has ended.
 *
 * <p><b>On a shared layout</b>
 *
 * <ul>
 *   <li>the path's own data is never read nor written. That one client takes a path for a mutex and another for something
 *       else only shows by requests that stand there. Each request of Latchkey's that lists the queue and finds a request of
 *       another use fails with {@link io.latchkey.lock.LockMismatchException}, also one that waits and was there before the
 *       other. So one client with a wrong setting fails all that wait at the path; those that hold are not touched;
 *   <li>a release is a deletion and nothing else: the next in the queue lists once more before it holds;
 *   <li>{@code multiLock} is refused with {@link UnsupportedOperationException}: others take several locks one after the
 *       other, and the two ways deadlock with each other;
 *   <li>{@code Lease.releaseRequested} is refused likewise, and {@code Contender.requestRelease} tells that nobody
 *       listens; {@code Contender.evict} works on everybody's requests;
 *   <li>where the path's sequence counter has come within a million of its end, acquiring fails with
 *       {@link io.latchkey.lock.LockException} until somebody deletes the empty path: it is not made anew while others
 *       count on it.
 * </ul>
 *
 * <p>Every client at one path, Latchkey's included, must have the same layout. A client of Latchkey with another layout is
 * refused with {@code LockMismatchException} where it meets requests of this one, also for a semaphore; so are requests
 * that wait there already when they look again. The other library does not look, so it cannot be refused: requests of
 * Latchkey's that wait or come while it uses the path fail with {@code LockMismatchException}.
 */
public enum Layout {
    /** Latchkey's own; the only one with all it can do. Every recipe. */
    LATCHKEY,

    /**
     * That of Apache Curator 5's recipes: {@code mutex} with {@code InterProcessMutex}, {@code readWriteLock} with
     * {@code InterProcessReadWriteLock} (downgrading included), {@code stripedMutex} with one {@code InterProcessMutex} at
     * {@code path/0} and so on, and {@code semaphore} with {@code InterProcessSemaphoreV2}, of one permit with {@code
     * InterProcessSemaphoreMutex} as well.
     *
     * <p>A semaphore is taken in Curator's way: who holds a mutex at {@code path/locks} may put a node under
     * {@code path/leases} and wait there. That is two locks for a permit, and {@code tryAcquire()} may find no turn while
     * somebody else is just taking a permit. Permits come one at a time: {@code permits} of more than one and
     * {@code resize} are refused with {@link UnsupportedOperationException}. The number of permits is what each client
     * declares, and these are not compared. A client of this layout needs the right to read {@code path}. A semaphore of
     * Latchkey's own layout refuses a path with a child {@code leases}, also one that is left over: the server removes an
     * empty one after some time if it is a container.
     */
    CURATOR,

    /**
     * That of kazoo's recipes: {@code mutex} with {@code Lock}, {@code readWriteLock} with {@code ReadLock} and
     * {@code WriteLock}, {@code stripedMutex} with one {@code Lock} at {@code path/0} and so on. Where a reader
     * stands at its path, a mutex fails with {@link io.latchkey.lock.LockMismatchException}; kazoo's {@code Lock} does not
     * see readers. Paths are plain nodes that stay when they are empty, since
     * kazoo makes sure of a path only once. {@code semaphore} is refused with {@link UnsupportedOperationException}.
     *
     * <p>A {@code ReadLock} of kazoo 2.8.0 that has to wait also waits for writers behind it, and they for it, for ever: its
     * issue 649, with kazoo alone as well. With such a kazoo give its readers a time-out.
     */
    KAZOO;

    Naming naming() {
        return switch (this) {
            case LATCHKEY -> Namings.LATCHKEY;
            case CURATOR -> Namings.CURATOR;
            case KAZOO -> Namings.KAZOO;
        };
    }
}
