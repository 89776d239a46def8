// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

/** The result of a request to the server. */
public enum Status {
    OK,
    NO_NODE,
    NODE_EXISTS,
    NOT_EMPTY,
    BAD_VERSION,
    NO_AUTH,
    /** The node cannot have children: it is ephemeral. */
    NO_CHILDREN,
    /** No response: the request may or may not have been applied. */
    CONNECTION_LOSS,
    SESSION_EXPIRED,
    LOGIN_REFUSED,
    /** The server is cut off from its quorum and serves reads only. */
    READ_ONLY,
    /** Not sent: the response would be longer than a packet, and would break the connection. */
    TOO_LONG,
    /** Not sent: the session would have more nodes than its end can name. */
    SESSION_FULL,
    /** Any other refusal. */
    OTHER
}
