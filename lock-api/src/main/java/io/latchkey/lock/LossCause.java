// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.admin.Contender;

/** The cause of a lease's loss. Whatever the cause, other requests may hold now. */
public enum LossCause {
    /** The session has ended: it expired, or the owner of a borrowed ZooKeeper handle closed it. */
    SESSION_EXPIRED,

    /**
     * The deadline of the lease has passed without a response from the server that would have extended it. The session
     * may or may not have expired. If it is alive, the client deletes the lease's node when it can.
     */
    DEADLINE_PASSED,

    /**
     * The session is alive, but the lease's node was deleted other than by its release, for example by {@link
     * Contender#evict} or by an operator.
     */
    NODE_DELETED,

    /**
     * The lease was held for as long as {@link Acquirable#heldAtMost} allows. The session is not concerned. The client
     * deletes the lease's node when it can.
     */
    HELD_TOO_LONG,

    /** The client was closed while it held the lease, or the server refused its login when it connected again. */
    CLIENT_CLOSED,

    /**
     * An unexpected error in the client, such as a lack of memory or a missing class, has left its state unknown. The
     * client ends its session, so that the lease's node goes with it; on a borrowed handle it deletes the node.
     */
    CLIENT_FAILED
}
