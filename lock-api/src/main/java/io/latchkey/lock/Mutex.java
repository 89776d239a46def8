// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

/**
 * A lock with one holder at a time. A request holds when it is the first in the queue. {@link Acquirable} has the
 * contract.
 */
public interface Mutex extends Acquirable {
    /**
     * Returns a view of this mutex as a {@link Lock}, for code that expects one. The view is owned by the thread that
     * locks it, and re-entrant. All views of one path in one client are the same lock: a thread that has locked one
     * holds the others as well. The view does not include leases of {@link Acquirable}: a thread that holds the view
     * and calls {@link #acquire} waits for itself.
     *
     * <p>The first hold of a thread makes one request, re-entry makes none, and the last {@code unlock()} releases. In
     * detail:
     *
     * <ul>
     *   <li>{@link Lock#lock() lock()} waits as {@link #acquire} does, but interruption does not end the wait. The
     *       interrupt status is set when it returns.
     *   <li>{@link Lock#lockInterruptibly() lockInterruptibly()} waits as {@link #acquire} does.
     *   <li>{@link Lock#tryLock() tryLock()} waits for the server but not for other holders, as {@link #tryAcquire()}
     *       does, but interruption does not end the wait. It also throws {@link LockServiceUnavailableException} if no
     *       server can be reached for a session timeout.
     *   <li>{@link Lock#tryLock(long, java.util.concurrent.TimeUnit) tryLock(time, unit)} waits as
     *       {@link #tryAcquire(java.time.Duration)} does, and returns {@code false} when the time has elapsed. With a
     *       time of zero or less it behaves as {@code tryLock()}, except that it can be interrupted.
     *   <li>{@link Lock#unlock() unlock()} releases one hold. The last one releases the lease as {@link Lease#release}
     *       does. It throws {@link IllegalMonitorStateException} if the current thread does not hold the lock.
     *   <li>{@link Lock#newCondition() newCondition()} throws {@link UnsupportedOperationException}.
     * </ul>
     *
     * These methods throw the same exceptions as acquiring does.
     *
     * <p><b>Loss.</b> When the lease is lost, the thread's next call of a locking method or of {@code unlock()} throws
     * {@link LockOwnershipLostException}. The last {@code unlock()} throws it also if only the server's response to the
     * release shows the loss. Locking again, in any form, throws it and does not count as a hold. Each {@code unlock()}
     * of an earlier {@code lock()} throws it and releases one hold; after the last one the thread holds nothing and may
     * lock again. The view itself gives no access to the token and to validity; {@link #leaseOfView} does.
     *
     * <p>A thread that ends without {@code unlock()} leaves the lock held until the session ends.
     *
     * @return the view
     */
    Lock asLock();

    /**
     * Returns the lease with which the current thread holds a view of this lock, as {@link #asLock} makes it: for its
     * {@linkplain Lease#token token} and its validity. Sends nothing. Do not release it: {@code unlock()} does, and
     * throws if it finds it released.
     *
     * @return the lease; empty if the current thread does not hold a view of this lock
     */
    Optional<Lease> leaseOfView();

    @Override
    Mutex labelled(String label);

    @Override
    Mutex heldAtMost(Duration limit);
}
