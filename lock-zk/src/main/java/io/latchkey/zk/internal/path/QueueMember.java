// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.session.Watches;
import java.util.Optional;

/** A member of a request as the queue of its path sees it: how far it is, and what it is told. */
public interface QueueMember extends SessionNode {
    /** The id of its request's present attempt. */
    String attempt();

    /** Where its request stands. */
    State state();

    /** Whether its node is there and its request is not granted yet. */
    default boolean isWaiting() {
        return state() == State.QUEUED || state() == State.CONFIRMING;
    }

    /** Whether nothing before it keeps it from holding any more. */
    boolean isReady();

    /** Whether it holds alone. */
    boolean isExclusive();

    /** The label of the request; empty for that of its client. */
    String label();

    /** What the path's data must say. */
    PathData purpose();

    /** Whether its queue is wanted. */
    boolean wantsList();

    /** Whether it can learn later where it stands: the caller waits, and no two of its kind hold at once. */
    boolean canBePutOff();

    /** The queue, with the member's node or without it. */
    void listed(Queue queue);

    /** The path was made anew after its counter had come near its end. */
    void drained();

    /** The request cannot be served. */
    void fail(LockException error);

    /** The node {@code ahead} is watched for it, which {@code stop} ends. */
    void watches(NodeName ahead, Runnable stop);

    /** What it wants to be told of a node ahead. */
    Watches.Listener aheadListener(NodeName ahead);

    /** The one ahead was granted and let go: seen as the pair of one transaction, or in this client. */
    void released(NodeName ahead);

    /** The one ahead is gone, which proves nothing. */
    void gone(NodeName ahead);

    /** The one ahead holds. */
    void told(NodeName ahead);

    /** What it waits for may have changed. */
    void lookAgain();

    /** Watches the own node. */
    void watchOwn();

    /** Stops what {@link #watchOwn} began. */
    void forgetOwn();

    /** What may be there in place of the node, by what is on its way. */
    Optional<NodeName> replacement();

    /** Nobody listens any more to what the holder is asked; the name that the node for that goes by, if there is one. */
    Optional<NodeName> takeEar();
}
