// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

/** The result of a request to the server, and what it says of the request's effect. */
public enum Status {
    OK(Outcome.DONE),
    NO_NODE(Outcome.REFUSED),
    NODE_EXISTS(Outcome.REFUSED),
    NOT_EMPTY(Outcome.REFUSED),
    BAD_VERSION(Outcome.REFUSED),
    NO_AUTH(Outcome.REFUSED),
    /** The node cannot have children: it is ephemeral. */
    NO_CHILDREN(Outcome.REFUSED),
    /** No response: the request may or may not have been applied. */
    CONNECTION_LOSS(Outcome.OPEN),
    SESSION_EXPIRED(Outcome.OPEN),
    /** ZooKeeper's client answers all its requests so, also those that the server has. */
    LOGIN_REFUSED(Outcome.OPEN),
    /** The server is cut off from its quorum and serves reads only. */
    READ_ONLY(Outcome.NOT_EXECUTED),
    /** Not sent: the response would be longer than a packet, and would break the connection. */
    TOO_LONG(Outcome.REFUSED),
    /** Not sent: the session would have more nodes than its end can name. */
    SESSION_FULL(Outcome.REFUSED),
    /** The server has too much to do. */
    THROTTLED(Outcome.NOT_EXECUTED),
    /** The server failed at the request, perhaps after it was applied, or has a code that this client does not know. */
    UNCLEAR(Outcome.OPEN),
    /** Any other refusal. */
    OTHER(Outcome.REFUSED);

    /** What became of a request. Only the first is an effect, and only the last leaves it open whether there is one. */
    public enum Outcome {
        DONE,
        /** Nothing was changed; the same request may succeed later. */
        NOT_EXECUTED,
        /** Nothing was changed, and nothing would be if it were sent again. */
        REFUSED,
        /** All or nothing was changed. */
        OPEN
    }

    private final Outcome outcome;

    Status(Outcome outcome) {
        this.outcome = outcome;
    }

    /** Returns what became of the request; every text that says that nothing was changed depends on this. */
    public Outcome outcome() {
        return outcome;
    }

    /**
     * Returns whether no server answered that can carry out requests. The same request may succeed on the next
     * connection.
     */
    public boolean isDisconnected() {
        return this == CONNECTION_LOSS || this == READ_ONLY;
    }

    /** Returns whether the server would not or could not do what it was asked for, whatever nodes there are. */
    public boolean isServerError() {
        return this == NO_AUTH || this == OTHER || this == UNCLEAR;
    }
}
