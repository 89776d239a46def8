// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Checks by the leader's log that clients change only nodes of their own requests. */
final class OwnNodesRule {
    static final String RULE = "clients change only their own nodes";

    private final Leader leader;
    private final Map<String, Long> owners = new HashMap<>();
    private int read;

    OwnNodesRule(Leader leader) {
        this.leader = leader;
    }

    /** Whether anything has been written since it was asked last. */
    boolean hasNews() {
        return read < leader.log().size();
    }

    /**
     * What has been written since it was asked last.
     *
     * @param writer the session whose client has written it; 0 if it was no client
     * @param reader takes each transaction in turn
     */
    void check(long writer, Consumer<Tree.Txn> reader) {
        for (; read < leader.log().size(); read++) {
            Tree.Txn txn = leader.log().get(read);
            for (Tree.Effect change : txn.changes()) {
                check(change, txn.ended() == 0 ? writer : 0);
            }
            reader.accept(txn);
        }
    }

    private void check(Tree.Effect change, long writer) {
        if (change instanceof Tree.Effect.Created created) {
            owners.put(created.path(), created.owner());
            return;
        }
        long owner = owners.getOrDefault(change.path(), Tree.NO_OWNER);
        if (writer != 0 && owner > 0 && owner != writer) {
            throw new BrokenRuleError(RULE, "session " + writer + " wrote " + change + " of session " + owner);
        }
        if (change instanceof Tree.Effect.Deleted) {
            owners.remove(change.path());
        }
    }
}
