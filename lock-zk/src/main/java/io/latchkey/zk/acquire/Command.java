package io.latchkey.zk.acquire;

import io.latchkey.zk.queue.NodeName;
import java.util.List;

/** What the shell is to do next. */
public sealed interface Command {
    /** Create the nodes, all or none, and read the queues behind them, in one flight. */
    record Enqueue(String id) implements Command {}

    /** Once connected again: a committed write as barrier, then read all queues. */
    record Recover() implements Command {}

    /** Read the token from one of the nodes. */
    record LookUp(Placed node) implements Command {}

    /** Read the member's queue. */
    record ListQueue(int member) implements Command {}

    /** Watch these and no others ahead of the member, and its own node if need be; tell when one goes. */
    record Watch(int member, List<NodeName> on) implements Command {}

    /** Take back what is watched. */
    record StopWatching() implements Command {}

    /** The member can never hold: it asks for more than the capacity. */
    record Refuse(int member, int capacity) implements Command {}

    /** Make sure that the session is alive with time left. */
    record Confirm() implements Command {}

    /** Wait until the member's path is empty and make it anew. */
    record Drain(int member) implements Command {}

    /** The caller holds. */
    record Grant(long token) implements Command {}

    /** Delete the nodes of a holder that let go, marked as such. */
    record LeaveAsHolder(List<Placed> nodes) implements Command {}

    /** Delete the nodes; it proves nothing to those behind. */
    record Leave(List<Placed> nodes) implements Command {}

    /** Nodes with this id may turn up: delete them when they do. */
    record Disown(String id) implements Command {}

    /** The holder's lease ended against its will. */
    record Lose() implements Command {}
}
