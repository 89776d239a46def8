// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.Optional;

/**
 * The names of {@link NodeName}. What a path is for stands in its data.
 *
 * @param curator the names by which requests of Curator are told that stand there by mistake
 * @param kazoo the same of kazoo
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
    public Owner owner(NodeName name, byte[] data) {
        return Owner.parse(data);
    }

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public boolean keepsEmptyPaths() {
        return false;
    }

    /** The others' requests would not be waited for, nor would they wait. Curator's semaphore has them under a child. */
    @Override
    public Optional<OtherUse> otherUse(Kind kind, String child) {
        if (kind == Kind.SEMAPHORE && child.equals(CURATORS_LEASES)) {
            return Optional.of(new OtherUse(child, "a semaphore of Curator", false));
        }
        return curator.parse(child).isPresent()
                ? Optional.of(new OtherUse(child, "a lock of Curator", false))
                : kazoo.parse(child).isPresent()
                        ? Optional.of(new OtherUse(child, "a lock of kazoo", false))
                        : Optional.empty();
    }
}
