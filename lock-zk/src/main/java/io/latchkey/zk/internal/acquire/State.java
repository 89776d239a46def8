// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

/** Where a request stands. */
public enum State {
    /** Nothing has been sent. */
    NEW,
    /** The creation of its nodes is on the wire. */
    ENQUEUEING,
    /** The answer to the creation was lost: the nodes may be there or not. */
    RECOVERING,
    /** The nodes are there; each member's queue is being read, or waits for others, or is ready. */
    QUEUED,
    /** Every member is ready; the session's validity is being made sure of. */
    CONFIRMING,
    /** A path's counter is near its end; waiting for the path to be empty and made anew. */
    DRAINING,
    /** Given up while the creation was on the wire. */
    ABANDONING,
    /** Granted. */
    HELD,
    /** Over. Its nodes are gone, owed to the departures, or the session's end takes them. */
    ENDED
}
