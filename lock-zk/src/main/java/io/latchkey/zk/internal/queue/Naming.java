// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.Optional;

/**
 * The names of requests under a path, which decide which clients share it. All differences between Latchkey's own
 * layout and the shared ones are here (docs/protocol.md, "Shared layouts: Curator and kazoo").
 */
public interface Naming {
    /** The child of a semaphore's path under which Curator creates the requests for permits. */
    String CURATOR_LEASES = "leases";

    /** Returns the name to send to the server, which appends the sequence number. */
    String prefix(Kind kind, Tag tag, String id, int permits);

    /** Parses a child's name as a request for any kind of lock; empty if it is not a request. */
    Optional<NodeName> parse(String child);

    /** Returns whether the request belongs to the queue of a lock of this kind. */
    boolean isOf(NodeName name, Kind kind);

    /** Returns the name that replaces this one at its position in the queue, for the same request. */
    NodeName inPlace(NodeName name, Tag other);

    /** Returns the owner that the data of the request's node names. */
    OwnerData owner(NodeName name, byte[] data);

    /**
     * Returns whether clients of other libraries use these queues. They know nothing of what Latchkey adds to the
     * nodes. So the path's data is left to its users, marks and revocation nodes are not used, and a path is never
     * renewed.
     */
    boolean isShared();

    /** Returns whether the other library relies on an empty path not being deleted. */
    boolean keepsEmptyPaths();

    /**
     * Returns the other use of the path that {@code child} shows if it is not in the queue of such a lock; empty if it
     * shows none.
     */
    Optional<OtherUse> otherUse(Kind kind, String child);
}
