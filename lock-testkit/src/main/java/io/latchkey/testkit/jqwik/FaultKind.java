// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

/** The kinds of faults that a schedule may draw. */
public enum FaultKind {
    /** The end of a session, in any order, now or when a request of some kind has been sent. */
    EXPIRY,
    /** The cut of a connection, in place of a request or of an answer or at any time. */
    LOSS,
    /** Frames that come late. */
    DELAY,
    /** A direction in which nothing gets through for a while. */
    BLACK_HOLE,
    /** New connections reset for a while. */
    REFUSAL,
    /** A server that is stopped and started again, or in an ensemble cut off from its leader. */
    SERVER
}
