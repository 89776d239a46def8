// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.Optional;

/**
 * The naming of {@link NodeName}. The path's data says what the path is used for.
 *
 * @param curator the names by which requests of Curator are detected at such a path
 * @param kazoo the names by which requests of kazoo are detected at such a path
 */
record OwnNaming(Naming curator, Naming kazoo) implements Naming {
    @Override
    public String prefix(Kind kind, Tag tag, String id, int permits) {
        return NodeName.prefix(tag, id, permits);
    }

    @Override
    public Optional<NodeName> parse(String child) {
        return NodeName.parse(child);
    }

    @Override
    public boolean isOf(NodeName name, Kind kind) {
        return true;
    }

    @Override
    public NodeName inPlace(NodeName name, Tag other) {
        return name.inPlaceAs(other);
    }

    @Override
    public OwnerData owner(NodeName name, byte[] data) {
        return OwnerData.parse(data);
    }

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public boolean keepsEmptyPaths() {
        return false;
    }

    /**
     * Detects requests of other libraries: neither side would wait for the other. Curator's semaphore has its requests
     * under a child.
     */
    @Override
    public Optional<OtherUse> otherUse(Kind kind, String child) {
        if (kind == Kind.SEMAPHORE && child.equals(CURATOR_LEASES)) {
            return Optional.of(new OtherUse(child, "a semaphore of Curator", false));
        }
        return curator.parse(child).isPresent()
                ? Optional.of(new OtherUse(child, "a lock of Curator", false))
                : kazoo.parse(child).isPresent()
                        ? Optional.of(new OtherUse(child, "a lock of kazoo", false))
                        : Optional.empty();
    }
}
