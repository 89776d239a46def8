// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.zk.internal.session.Lists;
import java.util.List;

/** The length in bytes that the next list of one path seems to have: that of the last one. */
final class ListLength {
    /** More bytes than a child takes in a list, if it is of a client. */
    private static final int LONG_ENTRY = 64;

    private long last = Lists.UNKNOWN_LENGTH;

    void listed(List<String> children) {
        long bytes = 0;
        for (String child : children) {
            bytes += Integer.BYTES + child.length();
        }
        last = bytes;
    }

    /** Notes that the path was created: it has one child. */
    void ofNewPath() {
        last = 1;
    }

    long bytes() {
        return last;
    }

    /**
     * Returns the length that a list for these requests seems to have at most: that of the last one, or what the number
     * of a member's node says. The path had no more children than that when the node was created.
     */
    long atMost(List<ListRequest> requests) {
        long bytes = last;
        for (ListRequest request : requests) {
            bytes = Math.min(
                    bytes,
                    request.member()
                            .node()
                            .filter(name -> !name.overflowed())
                            .map(name -> LONG_ENTRY * (name.sequence() + 1L))
                            .orElse(bytes));
        }
        return bytes;
    }
}
