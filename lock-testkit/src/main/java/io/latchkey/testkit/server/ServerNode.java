// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * One node as the server has it.
 *
 * @param path the absolute path
 * @param content the data, never null; see {@link #data()} and {@link #text()}
 * @param session the session that owns this ephemeral node, 0 if the node is not ephemeral
 * @param created the zxid of its creation ({@code czxid})
 * @param changed the zxid of its last change of data ({@code mzxid})
 * @param childCounter the raw counter that numbers sequential children, see {@link EmbeddedZooKeeper#setChildCounter}
 */
public record ServerNode(String path, ByteBuffer content, long session, long created, long changed, int childCounter) {

    /**
     * Takes the content as it is now.
     *
     * @param path the absolute path
     * @param content the data, never null
     * @param session the session that owns this ephemeral node, 0 if the node is not ephemeral
     * @param created the zxid of its creation ({@code czxid})
     * @param changed the zxid of its last change of data ({@code mzxid})
     * @param childCounter the raw counter that numbers sequential children, see
     *     {@link EmbeddedZooKeeper#setChildCounter}
     */
    public ServerNode {
        content = ByteBuffer.allocate(content.remaining())
                .put(content.duplicate())
                .flip()
                .asReadOnlyBuffer();
    }

    /** {@return the data: a new array each time, empty if the node has none} */
    public byte[] data() {
        byte[] bytes = new byte[content.remaining()];
        content.duplicate().get(bytes);
        return bytes;
    }

    /** {@return whether the node ends with a session} */
    public boolean isEphemeral() {
        return session != 0;
    }

    /** {@return the last part of the path} */
    public String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** {@return the data as UTF-8 text} */
    public String text() {
        return new String(data(), StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        String owner = isEphemeral() ? " of session 0x" + Long.toHexString(session) : "";
        return path + owner + " (czxid 0x" + Long.toHexString(created) + ", " + content.remaining() + " bytes)";
    }

    /**
     * One watch that a server keeps for a session. It is gone when it has fired, when it is removed, and when the
     * connection ends.
     *
     * @param path the watched path
     * @param kind what is watched
     * @param session the id of the session whose watch it is
     */
    public record Watch(String path, Kind kind, long session) {

        /** The events that a watch is notified of. */
        public enum Kind {
            /**
             * Creation, change of data, deletion: left by {@code exists} and {@code getData}, also on paths without a
             * node.
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
}
