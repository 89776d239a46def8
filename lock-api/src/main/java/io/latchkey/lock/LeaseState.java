// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * The state of a {@link Lease}. A lease starts as {@link #HELD}. These are all transitions:
 *
 * <ul>
 *   <li>{@code HELD} to {@code SUSPECT} when the connection is lost; {@code SUSPECT} to {@code HELD} when the client
 *       reconnects in the same session, before the deadline of the lease;
 *   <li>{@code HELD} or {@code SUSPECT} to {@code LOST}, for one of the reasons in {@link LossCause};
 *   <li>{@code HELD} or {@code SUSPECT} to {@code RELEASED}, by the holder.
 * </ul>
 *
 * {@code LOST} and {@code RELEASED} are final.
 */
public enum LeaseState {
    /** The lease is valid and the client is connected to the ensemble. */
    HELD,

    /**
     * The lease is valid, but the client has no connection, or only one to a read-only server. If that lasts until the
     * deadline, the lease is lost. {@link Lease#remaining} returns the time left. (If the client is connected to a
     * server that is partitioned from the ensemble and still responds, the lease is {@link #HELD} until its deadline.)
     */
    SUSPECT,

    /** The lease was lost before it was released. Other requests may hold now. Final. */
    LOST,

    /**
     * The holder released the lease. Other requests may hold now, or once the release has reached the server:
     * {@link ReleaseOutcome} tells these cases apart. Final.
     */
    RELEASED
}
