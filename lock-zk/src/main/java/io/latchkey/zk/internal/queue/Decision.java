// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.List;
import java.util.Optional;

/** The decision of a recipe's rule on one request in one queue. */
public sealed interface Decision {
    /**
     * The request holds, and continues to hold: later requests are behind it.
     *
     * @param next the successor, which may wait to be notified of this grant (see {@link Follow})
     */
    record Hold(Optional<NodeName> next) implements Decision {
        public Hold() {
            this(Optional.empty());
        }
    }

    /** The request asks for more permits than the capacity, and would block its successors for nothing. */
    record TooMany(int capacity) implements Decision {}

    /** The request cannot hold now. */
    sealed interface Wait extends Decision {}

    /**
     * The request cannot hold while all of {@code on} exist. It may when one of them is deleted.
     *
     * @param alone whether nothing else is in its way: it holds once the node is deleted, whatever the cause
     */
    record Blocked(List<NodeName> on, boolean alone) implements Wait {
        public Blocked {
            on = List.copyOf(on);
        }

        public Blocked(List<NodeName> on) {
            this(on, false);
        }
    }

    /**
     * The request cannot hold before {@code ahead} does. When {@code ahead} holds, it notifies the request, unless it
     * is deleted before.
     *
     * @param orLead the decision if {@code ahead} was created before the path's data was last written: it may have been
     *     granted with a larger capacity since, and then notifies no request any more
     */
    record Follow(NodeName ahead, Optional<Lead> orLead) implements Wait {}

    /** The request is the first that waits: any change in the queue may grant it. */
    record Lead(Queue seen) implements Wait {}
}
