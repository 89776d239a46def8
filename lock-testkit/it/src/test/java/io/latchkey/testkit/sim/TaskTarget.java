// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import java.util.ArrayList;
import java.util.List;

/** What a worker asks for at one path, in the oracle's words. */
record TaskTarget(String path, RequestNode.Sort sort, int permits) {
    static TaskTarget of(LockTarget member) {
        Recipe recipe = member.recipe();
        if (recipe.equals(Recipe.READ)) {
            return new TaskTarget(member.path().node(), RequestNode.Sort.READ, 1);
        }
        boolean alone = recipe.equals(Recipe.MUTEX) || recipe.equals(Recipe.WRITE);
        return new TaskTarget(
                member.path().node(),
                alone ? RequestNode.Sort.WRITE : RequestNode.Sort.PERMITS,
                alone ? 1 : recipe.permits());
    }

    static List<TaskTarget> of(List<LockTarget> members) {
        List<TaskTarget> wishes = new ArrayList<>(members.size());
        for (LockTarget member : members) {
            wishes.add(of(member));
        }
        return wishes;
    }

    /** The same, content with reading. */
    TaskTarget downgraded() {
        return new TaskTarget(path, RequestNode.Sort.READ, 1);
    }

    /**
     * @param turns whether a reader may hold by the node of a writer of its client
     */
    boolean isGrantedBy(RequestNode requestNode, boolean turns) {
        boolean byAWriter = turns && sort == RequestNode.Sort.READ && requestNode.sort() == RequestNode.Sort.WRITE;
        return byAWriter || (requestNode.sort() == sort && requestNode.permits() == permits);
    }
}
