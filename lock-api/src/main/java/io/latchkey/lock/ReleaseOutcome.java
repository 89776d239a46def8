// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/** What became of a lease that its holder released. */
public enum ReleaseOutcome {
    /**
     * The lease is released, and the next in the queue may hold: its node is gone at the server. Where waiters of one
     * client take turns with one node ({@code localTurns} of {@code ZkLockClient}), the next of them may have the node
     * instead.
     */
    RELEASED,

    /**
     * The lease is released for the caller, but the server has not confirmed it: the connection was away, or the thread
     * was interrupted. The client goes on trying until the node or the session is gone. Others may have to wait until
     * then. There is nothing left to do for the caller.
     */
    PENDING,

    /**
     * The lease was lost before it was released at the server: it was lost when the holder released it, or the answer
     * to the release shows that the node was gone already or the session was over. Others may have held since, so the
     * work done under it may have clashed with theirs, unless its writes were checked.
     */
    LOST,

    /** The lease had been released before. This call did nothing. */
    ALREADY_RELEASED
}
