// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

/** How the server, or the way to it, answered a request. */
public enum Status {
    OK,
    NO_NODE,
    NODE_EXISTS,
    NOT_EMPTY,
    BAD_VERSION,
    NO_AUTH,
    /** The node cannot have children: it is ephemeral. */
    NO_CHILDREN,
    /** No answer: the request may have been carried out or not. */
    CONNECTION_LOSS,
    SESSION_EXPIRED,
    LOGIN_REFUSED,
    /** The server is cut off from its quorum and serves reads only. */
    READ_ONLY,
    /** Not asked for: the answer would be longer than a packet, and break the connection. */
    TOO_LONG,
    /** Anything else; a refusal. */
    OTHER
}
