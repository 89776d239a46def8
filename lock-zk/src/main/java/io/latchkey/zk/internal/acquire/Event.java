// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** What can happen to a request. Members are counted from 0. */
public sealed interface Event {
    /** The caller asks; the session is there. */
    record Begin() implements Event {}

    /**
     * The nodes were created, in one transaction.
     *
     * @param names one for each member
     * @param alone the members whose path was created in the same transaction: nobody else can be there before them
     * @param token the transaction's number, or {@link #UNKNOWN_TOKEN} if the server did not say
     */
    record Created(List<NodeName> names, Set<Integer> alone, long token) implements Event {
        public static final long UNKNOWN_TOKEN = 0;
    }

    /** The answer to the creation did not come. */
    record CreateLost() implements Event {}

    /** The server refused the creation: there is no node. */
    record CreateRefused() implements Event {}

    /** A queue, read after the node was created (or, while recovering, after a barrier in the same session). */
    record Listed(int member, Queue queue) implements Event {}

    /** The token, read from a node. */
    record Found(long token) implements Event {}

    /**
     * The one it waits for was granted and let go cleanly: everything before it is gone, too (docs/protocol.md,
     * "Hand-over and the release mark").
     */
    record HandedOver(int member) implements Event {}

    /** Something it waits for went away in a way that proves nothing, or a watch could not be set. */
    record LookAgain(int member) implements Event {}

    /** A node of it is not there any more, and not by our doing. */
    record OwnNodeGone(int member) implements Event {}

    /** The session is known to be alive at the server, with time left. */
    record Confirmed() implements Event {}

    /** The path was made anew after its counter had come near its end. */
    record Drained() implements Event {}

    /** The caller does not want it any more: time, interrupt, cancel, close, an error. */
    record GiveUp() implements Event {}

    /**
     * The holder lets go.
     *
     * @param then what to tell of that
     */
    record Release(Consumer<ReleaseOutcome> then) implements Event {}

    /** The holder's node was replaced in its place by one that shares (docs/protocol.md, "Downgrade"). */
    record Downgraded(NodeName by) implements Event {}

    /** The holder's validity deadline passed while the session may live. */
    record Lapsed() implements Event {}

    /** The session is over, and the nodes with it. */
    record SessionOver() implements Event {}
}
