// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.recipe.LockTarget;
import java.util.ArrayList;
import java.util.List;

/**
 * The newest node by which a client was granted something, as long as it lived to see it.
 *
 * @param node the entry of the history by which the node came
 */
record Granted(LockTarget member, int node) {
    private boolean excludes() {
        return member.recipe().tag() == Tag.WRITE;
    }

    /** Whether tokens do not grow when this is granted after {@code before}. */
    boolean isBehind(Granted before) {
        return member.path().equals(before.member.path()) && (excludes() || before.excludes()) && node <= before.node;
    }

    /** With this one among them, and those left out that say no more. */
    List<Granted> addTo(List<Granted> before) {
        List<Granted> all = new ArrayList<>(before);
        all.removeIf(other ->
                other.member.path().equals(member.path()) && other.excludes() == excludes() && other.node <= node);
        all.add(this);
        return List.copyOf(all);
    }
}
