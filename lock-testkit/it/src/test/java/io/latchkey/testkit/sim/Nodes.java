// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.List;
import java.util.function.Predicate;

/** Nodes of a simulated tree by their kind, in alphabetical order. */
final class Nodes {
    private Nodes() {}

    static List<String> ephemerals(Tree tree) {
        return of(tree, Tree.Node::isEphemeral);
    }

    /** The containers that have had children and are empty: ZooKeeper deletes them eventually. */
    static List<String> deserted(Tree tree) {
        return of(
                tree,
                node -> node.owner == Tree.CONTAINER
                        && node.creates > 0
                        && node.children().isEmpty());
    }

    private static List<String> of(Tree tree, Predicate<Tree.Node> kind) {
        return tree.nodes.entrySet().stream()
                .filter(node -> kind.test(node.getValue()))
                .map(node -> node.getKey())
                .sorted()
                .toList();
    }
}
