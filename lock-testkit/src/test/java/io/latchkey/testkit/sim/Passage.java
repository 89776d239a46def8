// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.LockTarget;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a step leads to: the same wherever it is made by a client in the same {@link State} whose server has the same to
 * apply.
 *
 * @param reach on how much of that it depends
 * @param applied how many entries that the client gets to see its server has applied by the step
 * @param faults what the step costs
 * @param changes what it writes to the log, one entry for each transaction
 * @param grant what it grants
 */
record Passage(State to, Reach reach, int applied, int faults, List<List<Tree.Effect>> changes, @Nullable Grant grant) {
    /** A lease with one node. */
    record Grant(LockTarget member, String node) {}

    /** What a step depends on of the entries that a server has yet to apply. */
    enum Reach {
        /** Those that it applies. */
        APPLIED,
        /** All: it asks the leader, or is judged by the leader's tree, or would have gone on if there were more. */
        ALL
    }
}
