// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** An event in the life of a request. Members are counted from 0. */
public sealed interface Event {
    /** The caller asks for the lock, and a session exists. */
    record Begin() implements Event {}

    /**
     * The nodes were created, in one transaction.
     *
     * @param names one for each member
     * @param alone the members whose path was created in the same transaction, so that no request can be before theirs
     * @param token the transaction's zxid, or {@link #UNKNOWN_TOKEN} if the server did not return it
     */
    record Created(List<NodeName> names, Set<Integer> alone, long token) implements Event {
        public static final long UNKNOWN_TOKEN = 0;
    }

    /** The response to the create was lost, or does not say whether the create was applied. */
    record CreateLost() implements Event {}

    /** There is no node: the server refused the create, or none was sent. */
    record CreateRefused() implements Event {}

    /** A queue, read after the node was created (or, while recovering, after a barrier in the same session). */
    record Listed(int member, Queue queue) implements Event {}

    /** The token was read from a node. */
    record Found(long token) implements Event {}

    /**
     * Nothing is in the member's way any more. The exclusive holder that it waits for has released, so everything
     * before that is gone, too; or the only node in its way is deleted, whatever the cause (docs/protocol.md,
     * "Hand-over and the release mark").
     */
    record Unblocked(int member) implements Event {}

    /**
     * What the member waits for may have changed: a node ahead was deleted in a way that proves nothing or announced
     * its grant, the capacity changed, or a watch could not be set.
     */
    record LookAgain(int member) implements Event {}

    /** A node of the request does not exist any more, and not because this client deleted it. */
    record OwnNodeGone(int member) implements Event {}

    /** The session is confirmed to be alive at the server, with time left. */
    record Confirmed() implements Event {}

    /** The path was renewed after its counter had come near its end. */
    record Renewed() implements Event {}

    /** The caller does not want the lock any more: timeout, interrupt, cancellation, close, or an error. */
    record GiveUp() implements Event {}

    /**
     * The holder releases, or its client closes.
     *
     * @param then receives the outcome
     */
    record Release(Consumer<ReleaseOutcome> then) implements Event {}

    /** The holder's node was replaced in its place by a reader's (docs/protocol.md, "Downgrade"). */
    record Downgraded(NodeName by) implements Event {}

    /**
     * The holder's validity deadline passed, or the limit of its last lease, although the session may live. A lease
     * whose limit has passed has ended for that reason before.
     */
    record Lapsed() implements Event {}

    /**
     * The session is over for this client, and with it all leases. Its nodes may still be there for a while
     * (docs/protocol.md, "One session per request").
     */
    record SessionOver() implements Event {}
}
