// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.explore.Ask.Data;
import io.latchkey.zk.explore.Scope.Budget;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Tag;
import java.util.ArrayList;
import java.util.List;

/**
 * The server's tree as a value, and what may still go wrong. It keeps the laws' own books, too: which request may hold is
 * found here by plain arithmetic, without any rule, at every moment.
 */
record Server(List<Tree> trees, Budget budget) {
    /**
     * A path.
     *
     * @param nodes in order
     * @param created how many there ever were
     * @param capacities all it ever had, the present one last; a version is a place in it
     */
    record Tree(List<Node> nodes, int created, List<Integer> capacities) {
        Data data() {
            return new Data(capacities.size() - 1, capacity(), largest());
        }

        int capacity() {
            return capacities.get(capacities.size() - 1);
        }

        int largest() {
            return capacities.stream().max(Integer::compare).orElseThrow();
        }

        List<NodeName> names() {
            return nodes.stream().map(Node::name).toList();
        }

        boolean has(NodeName name) {
            return nodes.stream().anyMatch(node -> node.name().equals(name));
        }
    }

    /**
     * A request's node.
     *
     * @param admittedAt the capacity of the first moment when it might hold, 0 before that
     * @param since the version of the path's data when it was created
     * @param word whether its data was written since it was created
     */
    record Node(NodeName name, int session, int request, int admittedAt, int since, boolean word) {}

    static Server of(Scope scope) {
        List<Tree> trees = new ArrayList<>();
        for (int i = 0; i < scope.paths(); i++) {
            trees.add(new Tree(List.of(), 0, List.of(scope.capacity())));
        }
        return new Server(List.copyOf(trees), scope.budget());
    }

    /** How much has happened to it. */
    int age() {
        int age = 0;
        for (Tree tree : trees) {
            int words = (int) tree.nodes().stream().filter(Node::word).count();
            // A node counts once when it comes, twice with its word, three times when it is gone.
            age += 3 * tree.created()
                    - 2 * tree.nodes().size()
                    + words
                    + tree.capacities().size();
        }
        return age;
    }

    Server budget(Budget other) {
        return new Server(trees, other);
    }

    Server with(int path, Node node) {
        Tree tree = trees.get(path);
        List<Node> nodes = new ArrayList<>(tree.nodes());
        nodes.add(node);
        return with(path, nodes, tree.created() + 1, tree.capacities());
    }

    Server without(int path, NodeName name) {
        Tree tree = trees.get(path);
        List<Node> nodes = new ArrayList<>(tree.nodes());
        nodes.removeIf(node -> node.name().equals(name));
        return with(path, nodes, tree.created(), tree.capacities());
    }

    Server word(int path, NodeName name) {
        Tree tree = trees.get(path);
        List<Node> nodes = tree.nodes().stream()
                .map(node -> node.name().equals(name)
                        ? new Node(name, node.session(), node.request(), node.admittedAt(), node.since(), true)
                        : node)
                .toList();
        return with(path, nodes, tree.created(), tree.capacities());
    }

    Node node(int path, NodeName name) {
        return trees.get(path).nodes().stream()
                .filter(node -> node.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    Server resized(int path, int capacity) {
        Tree tree = trees.get(path);
        List<Integer> capacities = new ArrayList<>(tree.capacities());
        capacities.add(capacity);
        return with(path, tree.nodes(), tree.created(), capacities);
    }

    private Server with(int path, List<Node> nodes, int created, List<Integer> capacities) {
        List<Tree> all = new ArrayList<>(trees);
        int capacity = capacities.get(capacities.size() - 1);
        all.set(path, new Tree(admitted(nodes, capacity), created, List.copyOf(capacities)));
        return new Server(List.copyOf(all), budget);
    }

    private static List<Node> admitted(List<Node> nodes, int capacity) {
        List<Node> settled = new ArrayList<>();
        boolean news = false;
        for (int i = 0; i < nodes.size(); i++) {
            Node node = nodes.get(i);
            boolean admit = node.admittedAt() == 0 && mayHold(nodes.subList(0, i + 1), capacity);
            news |= admit;
            settled.add(
                    admit
                            ? new Node(node.name(), node.session(), node.request(), capacity, node.since(), node.word())
                            : node);
        }
        if (news) {
            Laws.checkAdmitted(
                    settled.stream().filter(node -> node.admittedAt() > 0).toList(), capacity);
        }
        return List.copyOf(settled);
    }

    boolean mayHold(int path, NodeName name) {
        Tree tree = trees.get(path);
        int place = tree.names().indexOf(name);
        return place >= 0 && mayHold(tree.nodes().subList(0, place + 1), tree.capacity());
    }

    /** Whether the last may hold when these are before it. */
    private static boolean mayHold(List<Node> upTo, int capacity) {
        Tag tag = upTo.get(upTo.size() - 1).name().tag();
        return switch (tag) {
            case LEASE -> permits(upTo) <= capacity;
            case WRITE -> upTo.size() == 1;
            case READ -> upTo.stream().noneMatch(node -> node.name().tag() == Tag.WRITE);
        };
    }

    static int permits(List<Node> nodes) {
        return nodes.stream().mapToInt(node -> node.name().permits()).sum();
    }
}
