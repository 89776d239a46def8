// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.WaitPolicy;
import java.util.List;

/**
 * Something to acquire, to hold for a while and to release.
 *
 * @param wishes the members in the oracle's words
 */
record Task(List<LockTarget> members, WaitPolicy patience, List<TaskTarget> wishes) {
    Task(List<LockTarget> members, WaitPolicy patience) {
        this(members, patience, TaskTarget.of(members));
    }

    @Override
    public String toString() {
        return members.stream()
                        .map(member -> member.recipe().describe() + " " + member.path())
                        .toList()
                + " " + patience;
    }
}
