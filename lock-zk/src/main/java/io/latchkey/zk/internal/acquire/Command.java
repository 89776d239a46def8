// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
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

    /**
     * Watch what the member waits for and nothing else, and its own node if need be; tell of every change.
     *
     * @param ahead how many requests are before it
     */
    record Watch(int member, Decision.Wait how, int ahead) implements Command {}

    /** Tell who waits for the member to hold that it does; {@code next} may. */
    record Tell(int member, NodeName next) implements Command {}

    /** Take back what is watched. */
    record StopWatching() implements Command {}

    /** The member can never hold: it asks for more than the capacity. */
    record Refuse(int member, int capacity) implements Command {}

    /** Make sure that the session is alive with time left. */
    record Confirm() implements Command {}

    /**
     * Wait until the member's path is empty and make it anew, unless it has been made anew since.
     *
     * @param since the transaction that came too late in the path's life, or {@link Event.Created#UNKNOWN_TOKEN}
     */
    record Drain(int member, long since) implements Command {}

    /** The caller holds. */
    record Grant(long token) implements Command {}

    /** Delete the nodes of a holder that let go, marked as such. */
    record LeaveAsHolder(List<Placed> nodes) implements Command {}

    /** Delete the nodes; it proves nothing to those behind. */
    record Leave(List<Placed> nodes) implements Command {}

    /** The create with this id may have been carried out: look for its nodes and delete them, now and later. */
    record Disown(String id) implements Command {}

    /** The create with this id has not been carried out so far: delete its nodes if a later list shows them. */
    record Remember(String id) implements Command {}

    /** The holder's lease ended against its will. */
    record Lose(LossCause cause) implements Command {}
}
