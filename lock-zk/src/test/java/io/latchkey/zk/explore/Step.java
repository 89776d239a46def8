// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

/**
 * Something that can happen next.
 *
 * @param first the session, or the path
 * @param second the request, the new capacity, or the place in the queue
 */
record Step(Kind kind, int first, int second) {
    /** The session that takes it, or nobody. */
    int session() {
        return kind == Kind.RESIZE || kind == Kind.ROB ? Universe.NOBODY : first;
    }

    enum Kind {
        /** The server takes what a session asks. */
        SERVE,
        /** A session takes what it is told. */
        DELIVER,
        CONFIRM,
        RELEASE,
        CANCEL,
        CRASH,
        EXPIRE,
        /** An operator changes the capacity. */
        RESIZE,
        /** An operator deletes a request's node. */
        ROB
    }
}
