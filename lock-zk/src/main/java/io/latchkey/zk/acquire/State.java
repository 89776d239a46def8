package io.latchkey.zk.acquire;

/** Where a request stands. */
public enum State {
    /** Nothing has been sent. */
    NEW,
    /** The node's creation is on the wire. */
    ENQUEUEING,
    /** The answer to the creation was lost: the node may be there or not. */
    RECOVERING,
    /** The node was found after its answer was lost; its token is being read. */
    LOOKING_UP,
    /** The node is there; the queue is being read. */
    LISTING,
    /** Something before it excludes it, and is watched. */
    WAITING,
    /** It is first; the session's validity is being made sure of. */
    CONFIRMING,
    /** The path's counter is near its end; waiting for the path to be empty and made anew. */
    DRAINING,
    /** Given up while the creation was on the wire. */
    ABANDONING,
    /** Granted. */
    HELD,
    /** Over. Its node is gone, owed to the departures, or the session's end takes it. */
    ENDED
}
