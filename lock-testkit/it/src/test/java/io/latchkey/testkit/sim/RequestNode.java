// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

/**
 * A request's node as the oracle reads it from the tree: {@code write-<id>-<number>}, {@code read-<id>-<number>},
 * {@code lease-<id>-<permits>-<number>}. Shares nothing with the locks' own parser, so that the two have no mistake in
 * common.
 *
 * @param number what the server appended; a negative number comes from a counter that has overflowed
 */
record RequestNode(Sort sort, int permits, long number) {
    private static final int DIGITS = 10;

    /** What a request asks for. */
    enum Sort {
        WRITE,
        READ,
        PERMITS
    }

    /** The request whose node it is, which must be one. */
    static RequestNode of(String node) {
        int start = node.lastIndexOf('/') + 1;
        int end = node.length() - DIGITS;
        long number = Long.parseLong(node, end, node.length(), 10);
        boolean below = node.startsWith("--", end - 2);
        Sort sort = sort(node, start);
        int permits = 1;
        if (sort == Sort.PERMITS) {
            int from = node.indexOf('-', node.indexOf('-', start) + 1) + 1;
            permits = Integer.parseInt(node, from, node.indexOf('-', from), 10);
        }
        return new RequestNode(sort, permits, below ? -number : number);
    }

    private static Sort sort(String node, int start) {
        if (node.startsWith("write-", start)) {
            return Sort.WRITE;
        } else if (node.startsWith("read-", start)) {
            return Sort.READ;
        } else if (node.startsWith("lease-", start)) {
            return Sort.PERMITS;
        }
        throw new BrokenRuleError("nodes are named as agreed", node);
    }

    boolean isBefore(RequestNode other) {
        return number < other.number;
    }

    /** Whether this one, while it is there before {@code other}, alone keeps it from holding. */
    boolean bars(RequestNode other) {
        return other.sort == Sort.WRITE || (other.sort == Sort.READ && sort == Sort.WRITE);
    }
}
