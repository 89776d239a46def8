// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import com.google.common.collect.ImmutableMap;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A lock found by its nodes. The path of a Latchkey lock has data that describes the lock. The paths of Curator and
 * kazoo have none, so these are recognised by the names of their requests, and only while there are requests.
 *
 * @param layout the name of the layout of the nodes
 * @param naming the naming of requests in that layout
 * @param purpose kind and permits; for a Curator semaphore the number of permits in use
 */
record FoundLock(LockPath path, String layout, Naming naming, PathData purpose) {
    /** The child of a Curator semaphore with the requests for a turn to take a permit. */
    static final String LOCKS = "locks";

    private static final Map<String, Naming> SHARED =
            ImmutableMap.of("curator", Namings.CURATOR, "kazoo", Namings.KAZOO);

    /** Whether this is a Curator semaphore: its requests are below two children, and only its clients know how many. */
    boolean isCuratorsSemaphore() {
        return naming.isShared() && purpose.kind() == Kind.SEMAPHORE;
    }

    /** Whether {@code child} is a request for this lock, or a node that belongs to one. */
    boolean hasRequest(String child) {
        return naming.parse(child)
                        .filter(name -> naming.isOf(name, purpose.kind()))
                        .isPresent()
                || (!naming.isShared() && NodeName.isRevocationNode(child));
    }

    LockSummary summary(List<Contender> queue) {
        LockSummary.Kind kind =
                switch (purpose.kind()) {
                    case MUTEX -> LockSummary.Kind.MUTEX;
                    case READ_WRITE -> LockSummary.Kind.READ_WRITE;
                    case SEMAPHORE -> LockSummary.Kind.SEMAPHORE;
                };
        boolean counted = !isCuratorsSemaphore();
        return new LockSummary(
                path.shown(),
                kind,
                counted ? OptionalInt.of(purpose.declared()) : OptionalInt.empty(),
                counted ? OptionalInt.of(purpose.capacity()) : OptionalInt.empty(),
                layout,
                queue);
    }

    /**
     * Returns the locks whose path is the given node.
     *
     * @param own the purpose in the node's data, if it is in Latchkey's format
     */
    static List<FoundLock> at(LockPath path, Optional<PathData> own, List<String> children) {
        List<FoundLock> locks = new ArrayList<>();
        own.ifPresent(purpose -> locks.add(new FoundLock(path, "latchkey", Namings.LATCHKEY, purpose)));
        SHARED.forEach((layout, naming) -> {
            List<NodeName> requests = requests(naming, children);
            List<NodeName> alone = of(Kind.MUTEX, naming, requests);
            List<NodeName> readWrite = of(Kind.READ_WRITE, naming, requests);
            // kazoo's mutexes and writers have the same names.
            boolean isReadWrite = !alone.containsAll(readWrite);
            if (isReadWrite) {
                locks.add(new FoundLock(path, layout, naming, PathData.READ_WRITE));
            }
            if (!alone.isEmpty() && !(isReadWrite && readWrite.containsAll(alone))) {
                locks.add(new FoundLock(path, layout, naming, PathData.MUTEX));
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
        return children.contains(Naming.CURATOR_LEASES);
    }

    /**
     * Returns the Curator semaphore at the path, if it has leases or requests. The first request may wait with a node
     * under {@code leases} already, so that node is not counted as a permit.
     */
    static Optional<FoundLock> curatorsSemaphore(LockPath path, List<String> leases, List<String> locks) {
        int permits = of(Kind.SEMAPHORE, Namings.CURATOR, requests(Namings.CURATOR, leases))
                .size();
        int turns = of(Kind.MUTEX, Namings.CURATOR, requests(Namings.CURATOR, locks))
                .size();
        int seem = Math.max(1, turns > 0 ? permits - 1 : permits);
        return permits + turns == 0
                ? Optional.empty()
                : Optional.of(new FoundLock(path, "curator", Namings.CURATOR, PathData.semaphore(seem)));
    }

    static boolean isNamedAsARequest(String child) {
        return NodeName.parse(child).isPresent()
                || NodeName.isRevocationNode(child)
                || SHARED.values().stream()
                        .anyMatch(naming -> naming.parse(child).isPresent());
    }
}
