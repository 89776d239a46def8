// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** A node of the session together with its owner, as seen by checks. The node may appear, be replaced and disappear. */
public interface SessionNode {
    /** Returns the path whose child the node is. */
    LockPath path();

    /** Returns the node while it is known to exist. */
    Optional<NodeName> node();

    /** Returns whether {@code name} is the node, as far as is known, and no pending request replaces it. */
    boolean isAt(NodeName name);

    /** Returns whether the owner holds. */
    boolean isHeld();

    /** Watches the node of this holder, so that heartbeats need not check it while the watch is confirmed. */
    void leaveToWatch();

    /** Returns whether heartbeats can leave the node out because the server has confirmed a watch on it. */
    boolean isLeftToWatch();

    /** Handles the deletion of the node by another client, unless it is another node by now. */
    void nodeGone(NodeName name);

    /** A node and its owner at one point in time. */
    record OwnedNode(SessionNode owner, NodeName name) {
        public String path() {
            return owner.path().child(name);
        }

        /** Returns checks of the nodes: writes that change nothing and fail if a node does not exist. */
        public static List<ZnodeStore.Write> checks(Collection<OwnedNode> nodes) {
            return nodes.stream()
                    .<ZnodeStore.Write>map(node -> new ZnodeStore.Write.Check(node.path()))
                    .toList();
        }

        /**
         * Handles that an answer does not show the node. Another client has deleted it, unless a pending request replaces
         * it: that may have been carried out before this answer, and its own response decides.
         */
        public void missing() {
            if (owner.isAt(name)) {
                owner.nodeGone(name);
            }
        }
    }
}
