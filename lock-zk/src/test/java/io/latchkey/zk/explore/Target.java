// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.queue.NodeName;
import java.util.Optional;

/** What a watch is on: a request's node, or the path itself. */
record Target(int path, Optional<NodeName> node) {
    static Target of(int path) {
        return new Target(path, Optional.empty());
    }

    static Target of(int path, NodeName node) {
        return new Target(path, Optional.of(node));
    }

    @Override
    public String toString() {
        return node.map(name -> name.tag().text() + name.permits() + "#" + name.sequence())
                        .orElse("the capacity")
                + (path == 0 ? "" : " on path " + path);
    }
}
