// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;

/**
 * The layout of the znodes that a client's locks consist of. With {@link #CURATOR} or {@link #KAZOO} a client shares
 * live paths with that library's recipes. Both sides are in one queue in the order of the server's numbers, and exclude
 * each other. After a crash of either side the next request is granted when the session ends. So a fleet can move one
 * process at a time. When no client of the other library is left, take a new path with {@link #LATCHKEY}, or the same
 * path when it is empty.
 *
 * <p>The promises for a Latchkey lease (validity, token, notification of loss) hold in every layout. They do not extend
 * to the other library's clients: these have no tokens, and may believe that they hold after their session has ended.
 *
 * <p><b>On a shared layout</b>
 *
 * <ul>
 *   <li>the path's own data is never read or written. So if one client uses a path for a mutex and another for
 *       something else, only the requests there show it. Each Latchkey request that lists the queue and finds a request
 *       of another use fails with {@link io.latchkey.lock.LockMismatchException}. That includes requests that wait and
 *       were there before the other. So one client with a wrong setting makes all waiters at the path fail; holders are
 *       not affected;
 *   <li>a release is only a deletion: the next request in the queue lists again before it holds;
 *   <li>{@code multiLock} is refused with {@link UnsupportedOperationException}: other libraries take several locks one
 *       after the other, and the two ways can deadlock with each other;
 *   <li>{@code Lease.releaseRequested} is refused likewise, and {@code Contender.requestRelease} returns that the owner
 *       does not listen; {@code Contender.evict} works on all requests;
 *   <li>when the path's sequence counter has come within a million of its end, acquiring fails with {@link
 *       io.latchkey.lock.LockException} until the empty path is deleted. It is not renewed automatically while other
 *       clients rely on it.
 * </ul>
 *
 * <p>Every client at one path, Latchkey's included, must have the same layout. A Latchkey client with another layout is
 * refused with {@code LockMismatchException} if it finds requests of this one. So are requests that already wait there,
 * when they list again. The other library does not check, so it cannot be refused. While it
 * uses the path, all Latchkey requests that wait or are made there fail with {@code LockMismatchException}.
 */
public enum Layout {
    /** Latchkey's own layout, which supports every recipe and all features. */
    LATCHKEY,

    /**
     * The layout of Apache Curator 5's recipes: {@code mutex} with {@code InterProcessMutex}, {@code readWriteLock}
     * with {@code InterProcessReadWriteLock} (downgrading included), and {@code stripedMutex} with one {@code
     * InterProcessMutex} at {@code path/0} and so on. {@code semaphore} is refused with {@link
     * UnsupportedOperationException}: a fleet that uses Curator's stops using it before it takes Latchkey's.
     *
     * <p>A semaphore of Latchkey's own layout refuses a path where Curator's semaphore has a child {@code leases}, also
     * one that is left over. If that child is a container, the server removes it some time after it is empty.
     */
    CURATOR,

    /**
     * The layout of kazoo's recipes: {@code mutex} with {@code Lock}, {@code readWriteLock} with {@code ReadLock} and
     * {@code WriteLock}, {@code stripedMutex} with one {@code Lock} at {@code path/0} and so on. A mutex fails with
     * {@link io.latchkey.lock.LockMismatchException} if a reader is in its queue, since kazoo's {@code Lock} does not
     * see readers. Paths are plain nodes that stay when they are empty, since kazoo creates a path only once. {@code
     * semaphore} is refused with {@link UnsupportedOperationException}.
     *
     * <p>A {@code ReadLock} of kazoo 2.8.0 that has to wait also waits for writers behind it, and they for it, forever.
     * This is kazoo's issue 649, and it occurs with kazoo alone as well. With such a version of kazoo, give its readers
     * a timeout.
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
