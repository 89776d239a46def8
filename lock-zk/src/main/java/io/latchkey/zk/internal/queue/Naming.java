// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.Optional;

/**
 * How requests are named under a path, which says with whom they share it. Whatever differs between paths of Latchkey's
 * own and those that other clients use as well is here and nowhere else (docs/protocol.md, "Shared layouts: Curator and
 * kazoo").
 */
public interface Naming {
    /** The child of a semaphore's path under which Curator's layout has the requests for permits. */
    String CURATORS_LEASES = "leases";
    /** What a path is used for where {@code child}, a request of {@link Namings#LATCHKEY}, stands. */
    static OtherUse ownLayout(String child) {
        return new OtherUse(child, "a lock of Latchkey in its own layout", false);
    }

    /** The name to ask the server for, to which it appends the sequence number. */
    String prefix(Kind kind, Tag tag, String id, int permits);

    /** The request that {@code child} is, of whatever kind of lock; empty if it is none. */
    Optional<NodeName> parse(String child);

    /** Whether the request stands in the queue of such a lock. */
    boolean isOf(NodeName name, Kind kind);

    /** The name of a node that stands in this one's place in the queue, of the same request. */
    NodeName inPlace(NodeName name, Tag other);

    /** Who made the request, as its node's data says it. */
    Owner owner(NodeName name, byte[] data);

    /**
     * Whether clients other than Latchkey's stand in these queues, who know nothing of what Latchkey adds to the mere
     * nodes: then the path's data is its users' own, nobody takes a mark for a release or has an ear, and no path is made
     * anew while others count on it.
     */
    boolean isShared();

    /** Whether the others take for granted that a path stays when it is empty. */
    boolean keepsEmptyPaths();

    /**
     * What else the path is used for, by {@code child}, which stands in no queue of such a lock; empty if it says
     * nothing.
     */
    Optional<OtherUse> otherUse(Kind kind, String child);
}
