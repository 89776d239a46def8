// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The requests that may hold, by the leader's tree. This is a separate implementation for the oracle, because the
 * locks' own rules would justify their mistakes.
 */
final class OracleRules {
    /**
     * A request with such a number or a higher one never holds: the path is emptied and created again before the
     * counter is exhausted.
     */
    static final int WORN_OUT = Integer.MAX_VALUE - (1 << 20);

    private static final SemaphoreState NONE = new SemaphoreState(1, 1, 1);

    private static final byte[] NOTHING = {};

    private final Tree tree;
    /** Nodes of released leases: later requests of the same session may be granted before the nodes are deleted. */
    private final Set<String> released = new HashSet<>();

    private final Map<String, NavigableMap<Long, Integer>> capacities = new HashMap<>();
    /** Of nodes by their names: each is asked for again and again. */
    private final Map<String, RequestNode> requestNodes = new HashMap<>();

    OracleRules(Tree tree) {
        this.tree = tree;
    }

    void releases(Iterable<String> nodes) {
        nodes.forEach(released::add);
    }

    /** Records a grant by nodes, which may be those of a lease that was released: local turns. */
    void grants(Iterable<String> nodes) {
        nodes.forEach(released::remove);
    }

    /**
     * Returns whether the node's request may hold now: no request ahead excludes it, and there are permits for both.
     */
    boolean mayHold(String node) {
        return !isBarred(node, before -> false, room(Tree.parent(node)).now());
    }

    /**
     * Returns whether it may be granted. In contrast to {@link #mayHold}, a request that could have been granted before
     * a shrink may still be, and an exclusive node of its own session does not block it that was released or that
     * {@code nobodyHolds}.
     */
    boolean mayBeGranted(String node, Predicate<String> nobodyHolds) {
        return !isBarred(node, before -> released.contains(before) || nobodyHolds.test(before), mostSince(node));
    }

    /** Records capacities that the leader has written. */
    void wrote(Tree.Txn txn) {
        for (Tree.Effect change : txn.changes()) {
            byte[] data = change instanceof Tree.Effect.DataSet set
                    ? set.data()
                    : change instanceof Tree.Effect.Created created ? created.data() : NOTHING;
            Optional<SemaphoreState> room = SemaphoreState.of(data);
            if (room.isPresent()) {
                capacities
                        .computeIfAbsent(change.path(), unused -> new TreeMap<>())
                        .put(txn.zxid(), room.get().now());
            }
        }
    }

    /** The most permits that there were while the node was there. */
    private int mostSince(String node) {
        NavigableMap<Long, Integer> all = capacities.get(Tree.parent(node));
        if (all == null) {
            return 1;
        }
        Long first = all.floorKey(tree.get(node).czxid);
        return Collections.max((first == null ? all : all.tailMap(first, true)).values());
    }

    private boolean isBarred(String node, Predicate<String> isLetGo, int capacity) {
        String path = Tree.parent(node);
        long owner = tree.get(node).owner;
        RequestNode mine = requestNode(Tree.name(node));
        if (mine.number() >= WORN_OUT) {
            return true;
        }
        long taken = mine.permits();
        for (String child : tree.get(path).children()) {
            RequestNode other = requestNode(child);
            if (!other.isBefore(mine)) {
                continue;
            }
            if (other.bars(mine)) {
                String before = path + '/' + child;
                boolean handsOver = other.sort() == RequestNode.Sort.WRITE
                        && isLetGo.test(before)
                        && tree.get(before).owner == owner;
                if (!handsOver) {
                    return true;
                }
            }
            taken += other.permits();
        }
        return mine.sort() == RequestNode.Sort.PERMITS && taken > capacity;
    }

    private RequestNode requestNode(String name) {
        RequestNode known = requestNodes.get(name);
        if (known == null) {
            known = RequestNode.of(name);
            requestNodes.put(name, known);
        }
        return known;
    }

    /** Whether the path does not exist, or its counter is so near its end that no new request may hold. */
    boolean isWornOut(String path) {
        Tree.Node node = tree.find(path);
        return node == null || node.creates >= WORN_OUT;
    }

    /** The number of permits of the path, which is defined for semaphores only. */
    SemaphoreState room(String path) {
        return SemaphoreState.of(tree.get(path).data).orElse(NONE);
    }

    /** The paths that are semaphores. */
    Map<String, SemaphoreState> semaphores() {
        Map<String, SemaphoreState> found = new HashMap<>();
        tree.forEach((path, node) -> SemaphoreState.of(node.data).ifPresent(room -> found.put(path, room)));
        return found;
    }
}
