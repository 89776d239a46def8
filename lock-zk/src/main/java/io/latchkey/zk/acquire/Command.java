package io.latchkey.zk.acquire;

import io.latchkey.zk.queue.NodeName;
import java.util.List;

/** What the shell is to do next. */
public sealed interface Command {
    /** Create the node and read the queue behind it, in one flight. */
    record Enqueue(String id) implements Command {}

    /** Once connected again: a committed write as barrier, then read the queue. */
    record Recover() implements Command {}

    /** Read the node's token. */
    record LookUp(NodeName name) implements Command {}

    /** Read the queue. */
    record ListQueue() implements Command {}

    /** Watch these and the own node; tell when one goes. */
    record Watch(List<NodeName> on) implements Command {}

    /** Take back what is watched. */
    record StopWatching() implements Command {}

    /** Make sure that the session is alive with time left. */
    record Confirm() implements Command {}

    /** Wait until the path is empty and make it anew. */
    record Drain() implements Command {}

    /** The caller holds. */
    record Grant(NodeName name, long token) implements Command {}

    /** Delete the node of a holder that let go, marked as such. */
    record LeaveAsHolder(NodeName name) implements Command {}

    /** Delete the node; it proves nothing to those behind. */
    record Leave(NodeName name) implements Command {}

    /** A node with this id may turn up: delete it when it does. */
    record Disown(String id) implements Command {}

    /** The holder's lease ended against its will. */
    record Lose() implements Command {}
}
