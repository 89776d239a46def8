package io.latchkey.testkit.sim;

import io.latchkey.zk.session.Member;
import io.latchkey.zk.session.Patience;
import java.util.List;

/** Something to acquire, to hold for a while and to release. */
record Task(List<Member> members, Patience patience) {
    @Override
    public String toString() {
        return members.stream()
                        .map(member -> member.recipe().describe() + " " + member.path())
                        .toList()
                + " " + patience;
    }
}
