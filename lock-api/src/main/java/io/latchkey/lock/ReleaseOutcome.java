// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/** The outcome of a release. */
public enum ReleaseOutcome {
    /**
     * The lease is released, and the next request in the queue may hold: the node of the lease is deleted at the
     * server. Where waiters of one client share a node ({@code localTurns} of {@code ZkLockClient}), others of them may
     * hold by the node instead.
     */
    RELEASED,

    /**
     * The lease is released for the caller, but the server has not confirmed it: the connection was lost, the thread was
     * interrupted, or the client was closed during the call. The client retries until the node or the session is gone.
     * Waiters may have to wait until then. The caller need not do anything.
     */
    PENDING,

    /**
     * The lease was lost before it was released at the server: it was lost when the holder released it, or the response
     * to the release shows that the node was already deleted or the session had ended. Other requests may have held
     * since, so the work done under this lease may conflict with theirs, unless its writes were checked.
     */
    LOST,

    /** The lease had already been released. The call had no effect. */
    ALREADY_RELEASED
}
