package io.latchkey.zk.acquire;

import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Queue;

/** What can happen to a request. */
public sealed interface Event {
    /** The caller asks; the session is there. */
    record Begin() implements Event {}

    /** The node was created in a path that may hold others. */
    record Created(NodeName name, long token) implements Event {}

    /** The node was created in one transaction with its path: nobody else can be there before it. */
    record CreatedAlone(NodeName name, long token) implements Event {}

    /** The answer to the creation did not come. */
    record CreateLost() implements Event {}

    /** The server refused the creation: there is no node. */
    record CreateRefused() implements Event {}

    /** The queue, read after the node was created (or, while recovering, after a barrier in the same session). */
    record Listed(Queue queue) implements Event {}

    /** The token of a node found again. */
    record Found(long token) implements Event {}

    /** The one it waits for was granted and let go cleanly: everything before it is gone, too (protocol section 4). */
    record HandedOver() implements Event {}

    /** Something it waits for went away in a way that proves nothing, or a watch could not be set. */
    record LookAgain() implements Event {}

    /** The own node is not there any more, and not by our doing. */
    record OwnNodeGone() implements Event {}

    /** The session is known to be alive at the server, with time left. */
    record Confirmed() implements Event {}

    /** The path was made anew after its counter had come near its end. */
    record Drained() implements Event {}

    /** The caller does not want it any more: time, interrupt, cancel, close, an error. */
    record GiveUp() implements Event {}

    /** The holder lets go. */
    record Release() implements Event {}

    /** The holder's validity deadline passed while the session may live. */
    record Lapsed() implements Event {}

    /** The session is over, and the node with it. */
    record SessionOver() implements Event {}
}
