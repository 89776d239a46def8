// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.admin.Contender;
import java.time.Duration;
import java.util.List;

/**
 * A set of locks that are acquired together: all or none, with one request, one lease and one deadline.
 *
 * <p>The requests to all members are made in one transaction. So all multi-locks have a total order, each waits only
 * for older ones, and multi-locks never deadlock with each other, whatever the order of their members.
 *
 * <p><b>This does not hold for nested locks.</b> A caller that holds any lease and waits for another lock, single or
 * multi-lock, can complete a cycle of callers that wait for each other. This is not prevented, and {@link #acquire}
 * then waits forever; {@link LockClient#diagnose} finds suspected deadlocks. Combine all locks that are needed at the
 * same time in one multi-lock, or acquire the later ones with a timeout and release all leases when it elapses.
 *
 * <p>The lease holds when every member's request holds by the rule of that member. It is lost as a whole when any
 * member is lost, and released as a whole: {@link ReleaseOutcome#RELEASED} means that the nodes of all members are
 * deleted. It has one {@linkplain Lease#token token}, which increases with the exclusive grants on the path of each
 * member. Members on paths that do not exist are created. If any member fails, nothing is acquired.
 *
 * <p>Acquiring is not re-entrant, as with every {@link Acquirable}, and a multi-lock has no re-entrant view.
 */
public interface MultiLock extends Acquirable {
    /**
     * Returns the members in the order in which they were given.
     *
     * @return the members, unmodifiable
     */
    List<Acquirable> members();

    /**
     * Returns the queues of all members, one after the other, in the order of {@link #members}. A request of a
     * multi-lock is in the queue of each of its members.
     *
     * @return the requests, unmodifiable
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if the server cannot be reached
     * @throws LockException as described at {@link Acquirable}
     */
    @Override
    List<Contender> queue() throws InterruptedException;

    @Override
    MultiLock labelled(String label);

    @Override
    MultiLock heldAtMost(Duration limit);
}
