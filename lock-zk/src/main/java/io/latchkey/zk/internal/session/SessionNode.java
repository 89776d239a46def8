// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The owner of a node of the session, as checks of that node see it. Its node may come, be replaced, and go. */
public interface SessionNode {
    /** The path under which the node is. */
    String path();

    /** The node while it is known to be there. */
    Optional<NodeName> node();

    /** Whether this is the node, as far as is known, and nothing on its way replaces it. */
    boolean isAt(NodeName name);

    /** Whether it is a holder's. */
    boolean isHeld();

    /** No heartbeat need look whether the node of this holder is there: a watch tells when it goes. */
    void leaveToWatch();

    /** Whether a watch that the server has confirmed looks after the node. */
    boolean isLeftToWatch();

    /** Somebody deleted the node. */
    void nodeGone(NodeName name);

    /** A node and its owner at some moment. */
    record Standing(SessionNode owner, NodeName name) {
        public String path() {
            return owner.path() + '/' + name.text();
        }

        /** Writes that change nothing, and fail when a node is not there. */
        public static List<ZnodeStore.Write> checks(Collection<Standing> nodes) {
            List<ZnodeStore.Write> checks = new ArrayList<>(nodes.size());
            for (Standing node : nodes) {
                checks.add(new ZnodeStore.Write.Check(node.path()));
            }
            return checks;
        }

        /** Of a node that has been replaced since, or is about to be, it is no news that it is not there. */
        public boolean stands() {
            return owner.isAt(name);
        }

        public void gone() {
            owner.nodeGone(name);
        }
    }
}
