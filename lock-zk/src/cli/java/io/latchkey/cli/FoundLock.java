// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import com.google.common.collect.ImmutableMap;
import io.latchkey.zk.Layout;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A lock found by its nodes. The path of a Latchkey lock has data that describes the lock. The paths of Curator and
 * kazoo have none, so these are recognised by the names of their requests, and only while there are requests.
 *
 * @param layout the layout of the nodes
 * @param purpose kind and permits; for a Curator semaphore the number of permits in use
 */
record FoundLock(String path, Layout layout, PathData purpose) {
    /** The child of a Curator semaphore with the nodes of its leases. */
    static final String LEASES = "leases";

    static final String LOCKS = "locks";

    private static final Map<Layout, Naming> SHARED =
            ImmutableMap.of(Layout.CURATOR, Namings.CURATOR, Layout.KAZOO, Namings.KAZOO);

    /** Whether the number of permits is known. For a Curator semaphore only its clients know it. */
    boolean isCounted() {
        return layout == Layout.LATCHKEY || purpose.kind() != Kind.SEMAPHORE;
    }

    /**
     * Returns the locks whose path is the given node. The root is never one.
     *
     * @param own the purpose in the node's data, if it is in Latchkey's format
     */
    static List<FoundLock> at(String path, Optional<PathData> own, List<String> children) {
        if (path.equals("/")) {
            return List.of();
        }
        List<FoundLock> locks = new ArrayList<>();
        own.ifPresent(purpose -> locks.add(new FoundLock(path, Layout.LATCHKEY, purpose)));
        SHARED.forEach((layout, naming) -> {
            List<NodeName> requests = requests(naming, children);
            List<NodeName> alone = of(Kind.MUTEX, naming, requests);
            List<NodeName> readWrite = of(Kind.READ_WRITE, naming, requests);
            // kazoo's mutexes and writers have the same names.
            boolean isReadWrite = !alone.containsAll(readWrite);
            if (isReadWrite) {
                locks.add(new FoundLock(path, layout, PathData.READ_WRITE));
            }
            if (!alone.isEmpty() && !(isReadWrite && readWrite.containsAll(alone))) {
                locks.add(new FoundLock(path, layout, PathData.MUTEX));
            }
        });
        return locks;
    }

    private static List<NodeName> requests(Naming naming, List<String> children) {
        return children.stream().flatMap(child -> naming.parse(child).stream()).toList();
    }

    private static List<NodeName> of(Kind kind, Naming naming, List<NodeName> requests) {
        return requests.stream().filter(name -> naming.isOf(name, kind)).toList();
    }

    static boolean mayBeCuratorsSemaphore(List<String> children) {
        return children.contains(LEASES);
    }

    /**
     * Returns the Curator semaphore at the path, if it has leases or requests. The first request may wait with a node
     * under {@code leases} already, so that node is not counted as a permit.
     */
    static Optional<FoundLock> curatorsSemaphore(String path, List<String> leases, List<String> locks) {
        int permits = of(Kind.SEMAPHORE, Namings.CURATOR, requests(Namings.CURATOR, leases))
                .size();
        int turns = of(Kind.MUTEX, Namings.CURATOR, requests(Namings.CURATOR, locks))
                .size();
        int seem = Math.max(1, turns > 0 ? permits - 1 : permits);
        return permits + turns == 0
                ? Optional.empty()
                : Optional.of(new FoundLock(path, Layout.CURATOR, PathData.semaphore(seem)));
    }

    /** Whether the child of a node belongs to a Curator semaphore, and so has no locks below it. */
    static boolean isPartOf(List<FoundLock> locks, String child) {
        return (child.equals(LEASES) || child.equals(LOCKS)) && locks.stream().anyMatch(lock -> !lock.isCounted());
    }

    static boolean isNamedAsARequest(String child) {
        return NodeName.parse(child).isPresent()
                || NodeName.isRevocationNode(child)
                || SHARED.values().stream()
                        .anyMatch(naming -> naming.parse(child).isPresent());
    }
}
