// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.session.Member;
import io.latchkey.zk.session.Patience;
import java.util.List;

/**
 * Something to acquire, to hold for a while and to release.
 *
 * @param wishes the members in the oracle's words
 */
record Task(List<Member> members, Patience patience, List<Wish> wishes) {
    Task(List<Member> members, Patience patience) {
        this(members, patience, Wish.of(members));
    }

    @Override
    public String toString() {
        return members.stream()
                        .map(member -> member.recipe().describe() + " " + member.path())
                        .toList()
                + " " + patience;
    }
}
