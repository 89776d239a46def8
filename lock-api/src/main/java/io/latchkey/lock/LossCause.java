// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/** Why a lease was lost. Whatever the cause, others may hold now. */
public enum LossCause {
    /** The session has ended: it expired, or the owner of a borrowed ZooKeeper handle closed it. */
    SESSION_EXPIRED,

    /**
     * The deadline of the lease has passed without an answer of the server that would have moved it on. The session may
     * or may not have expired. If it lives, the client deletes the lease's node when it can.
     */
    DEADLINE_PASSED,

    /** The session lives, but the lease's node is gone: somebody else deleted it, as {@link Contender#evict} does. */
    NODE_DELETED,

    /** The client was closed while it held the lease, or the server refused its login when it connected again. */
    CLIENT_CLOSED
}
