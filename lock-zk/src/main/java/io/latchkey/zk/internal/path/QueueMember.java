// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.session.SessionNode;
import java.util.Optional;

/** A member of a request as seen by the queue of its path. */
public interface QueueMember extends SessionNode {
    /** Returns the id of the request's current attempt. */
    String attempt();

    /** Returns the state of the request. */
    State state();

    /** Returns whether its node exists and its request is not granted yet. */
    default boolean isWaiting() {
        return state() == State.QUEUED || state() == State.CONFIRMING;
    }

    /** Returns whether no request ahead blocks it any more. */
    boolean isReady();

    /** Returns whether its lock is exclusive. */
    boolean isExclusive();

    /** Returns the label of the request; empty if it is the client's. */
    String label();

    /** Returns what the path's data must agree with. */
    PathData purpose();

    /** Returns whether it needs a list of the queue. */
    boolean wantsList();

    /**
     * Returns whether its list can be deferred: the caller waits, and no two requests of its kind hold at the same
     * time.
     */
    boolean canBeDeferred();

    /** Takes a list of the queue, which may or may not show the member's node. */
    void listed(Queue queue);

    /** Its list is deferred: others are ahead of it. */
    void listDeferred();

    /** Continues on the path that was created again after its counter had come near the end. */
    void renewed();

    /** Fails the request. */
    void fail(LockException error);

    /**
     * Nothing is in the member's way any more. The holder ahead has released its node, within this client or with a
     * mark; or the node was the only one in the way, and it does not exist.
     */
    void unblocked(NodeName ahead);

    /** The node ahead was deleted, and others may be in the member's way. */
    void gone(NodeName ahead);

    /** The request ahead holds. */
    void announced(NodeName ahead);

    /** Decides again, as what it waits for may have changed. */
    void lookAgain();

    /** Ends the watch on the member's own node, if there is one. */
    void forgetOwn();

    /** Returns the node that may exist in place of the own one, as its replacement is pending. */
    Optional<NodeName> replacement();

    /** Runs {@code then} once the pending replacement has an answer, or the request has ended. */
    void onceReplaced(Runnable then);

    /**
     * Stops listening to release requests, and returns the request's node that the revocation node belongs to, if there
     * is one.
     */
    Optional<NodeName> takeRevocationNode();
}
