// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.List;
import java.util.Optional;

/** What a rule says of one request in one queue. */
public sealed interface Decision {
    /**
     * It holds, and keeps holding: whatever comes later stands behind it.
     *
     * @param next who may wait to be told that it does (see {@link Follow})
     */
    record Hold(Optional<NodeName> next) implements Decision {
        public Hold() {
            this(Optional.empty());
        }
    }

    /** It asks for more than there is, and would block those behind it for nothing. */
    record TooMany(int capacity) implements Decision {}

    /** It cannot hold now. */
    sealed interface Wait extends Decision {}

    /** It cannot hold while all of {@code on} are there; when one of them goes it may. */
    record Blocked(List<NodeName> on) implements Wait {
        public Blocked {
            on = List.copyOf(on);
        }
    }

    /**
     * It cannot hold before {@code ahead} does, which tells when it does, or goes.
     *
     * @param orLead what to do instead if {@code ahead} was created before the path's data was last written: it may hold
     *     since then by a larger capacity, and have nothing more to tell
     */
    record Follow(NodeName ahead, Optional<Lead> orLead) implements Wait {}

    /** It is the first that waits: whatever changes in the queue may let it in. */
    record Lead(Queue seen) implements Wait {}
}
