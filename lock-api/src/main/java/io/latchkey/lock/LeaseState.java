// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * The states of a {@link Lease}. It begins as {@link #HELD}. These are all ways from one state to another:
 *
 * <ul>
 *   <li>{@code HELD} to {@code SUSPECT} when the connection is lost; {@code SUSPECT} to {@code HELD} when it is back in
 *       the same session, before the deadline of the lease;
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
     * deadline, the lease is lost. {@link Lease#remaining} tells how much time is left. (Behind a server that is cut off
     * from the others and still answers, a lease is {@link #HELD} until its deadline.)
     */
    SUSPECT,

    /** The lease was lost before it was released. Others may hold now. Final. */
    LOST,

    /**
     * The holder released the lease. Others may hold now, or as soon as the server knows. {@link ReleaseOutcome} says
     * what the server knew. Final.
     */
    RELEASED
}
