// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import com.google.common.collect.ImmutableMap;
import io.latchkey.zk.Layout;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A lock as nodes tell of it. A path of Latchkey's own says itself what it is for. Curator and kazoo write nothing into
 * theirs, so these are locks while somebody holds or waits there, and of the kind that the requests' names say.
 *
 * @param layout whose nodes these are
 * @param purpose kind and permits; of a semaphore of Curator's so many permits as seem to be there
 */
record FoundLock(String path, Layout layout, PathData purpose) {
    /** Below the path of a semaphore of Curator's. */
    static final String LEASES = "leases";

    static final String LOCKS = "locks";

    private static final Map<Layout, Naming> SHARED =
            ImmutableMap.of(Layout.CURATOR, Naming.CURATOR, Layout.KAZOO, Naming.KAZOO);

    /** Whether the number of permits is known: of a semaphore of Curator's only its clients know it. */
    boolean isCounted() {
        return layout == Layout.LATCHKEY || purpose.kind() != Kind.SEMAPHORE;
    }

    /**
     * The locks for which the node itself is the path. The root is none, whatever stands there.
     *
     * @param own what its data says, if that is Latchkey's
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
     * The semaphore for which the path is, if it is one: somebody has a permit there, or is about to take one. Who has the
     * turn has put its node under {@code leases} last and waits there, or else would not keep others from their turn.
     */
    static Optional<FoundLock> curatorsSemaphore(String path, List<String> leases, List<String> locks) {
        int permits = of(Kind.SEMAPHORE, Naming.CURATOR, requests(Naming.CURATOR, leases))
                .size();
        int turns =
                of(Kind.MUTEX, Naming.CURATOR, requests(Naming.CURATOR, locks)).size();
        int seem = Math.max(1, turns > 0 ? permits - 1 : permits);
        return permits + turns == 0
                ? Optional.empty()
                : Optional.of(new FoundLock(path, Layout.CURATOR, PathData.semaphore(seem)));
    }

    /** Whether the child of a node belongs to a semaphore there, so that there is nothing else to look for. */
    static boolean isPartOf(List<FoundLock> locks, String child) {
        return (child.equals(LEASES) || child.equals(LOCKS)) && locks.stream().anyMatch(lock -> !lock.isCounted());
    }

    static boolean isNamedAsARequest(String child) {
        return NodeName.parse(child).isPresent()
                || NodeName.isEar(child)
                || SHARED.values().stream()
                        .anyMatch(naming -> naming.parse(child).isPresent());
    }
}
