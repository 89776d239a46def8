// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

/**
 * One watch that a server keeps for a session. It is gone when it has fired, when it is removed, and when the
 * connection ends.
 *
 * @param path the watched path
 * @param kind what is watched
 * @param session the id of the session whose watch it is
 */
public record ServerWatch(String path, Kind kind, long session) {

    /** The events that a watch is notified of. */
    public enum Kind {
        /**
         * Creation, change of data, deletion: left by {@code exists} and {@code getData}, also on paths without a node.
         */
        DATA,
        /** Children come and go, deletion: left by {@code getChildren}. */
        CHILDREN
    }

    @Override
    public String toString() {
        return kind + " watch of session 0x" + Long.toHexString(session) + " on " + path;
    }
}
