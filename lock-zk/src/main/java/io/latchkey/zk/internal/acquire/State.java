// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

/** The states of a request. */
public enum State {
    /** Nothing has been sent. */
    NEW,
    /**
     * The create of its nodes has been sent, or will be: it waits for a connection or the next session, for a look at
     * the queues, for a missing path to be made, or for a pause of a server that throttles.
     */
    ENQUEUEING,
    /** The response to the create was lost: the nodes may exist or not. */
    RECOVERING,
    /** The nodes exist; each member's queue is being read, or the member waits for others, or is ready. */
    QUEUED,
    /** Every member is ready; the session's validity is being confirmed, and nodes where needed. */
    CONFIRMING,
    /** A path's counter is near its end; the request waits until the path is empty and renewed. */
    RENEWING,
    /** The caller gave up before the response to the create. */
    ABANDONING,
    /** Granted. */
    HELD,
    /** Ended. Its nodes are deleted, their deletion is pending, or the end of the session deletes them. */
    ENDED
}
