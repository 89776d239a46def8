// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.leadership;

import io.latchkey.lock.Leadership;
import io.latchkey.lock.Lease;

/**
 * The work of the leader of a role. For each bean of this type, the application is a candidate for its role; the work
 * runs on a thread of the candidate while this instance leads, and is interrupted when it does so no longer. {@link
 * Leadership} has the contract.
 */
public interface LeaderTask {
    /**
     * Returns the role. Instances with the same role have one leader.
     *
     * @return the role, the last level of a path
     */
    String role();

    /**
     * Works while this instance leads, until it is interrupted or done.
     *
     * @param lease the lease of the term, whose token is the epoch
     * @return whether to be a candidate again
     * @throws Exception as {@link Leadership} describes it: if the work was not asked to end, the candidate ends for good
     */
    Leadership.Next lead(Lease lease) throws Exception;
}
