// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import java.util.List;
import java.util.function.Consumer;

/** An action that the state machine asks of the shell. Its arguments are those of the moment when it is given. */
@FunctionalInterface
public interface Command {
    /** Executes this command on {@code shell}. */
    void carryOut(Shell shell);

    /** The executor of commands: all that a command can ask for, in the order of an acquire. */
    interface Shell {
        /** Creates all nodes or none, and reads the queues after them, in one flight. */
        void enqueue();

        /** Reads all queues, once there is a connection whose barrier is committed. */
        void recover();

        /** Looks for nodes of the create with this id, which may have been applied, and deletes them, now and later. */
        void discard(String id);

        /** Deletes nodes of the create with this id if a later list shows them; it has not been applied so far. */
        void remember(String id);

        /** Notes that the nodes exist and wait in their queues, or hold there. */
        void arrived(List<MemberNode> nodes);

        /** Notes that the nodes do not exist any more. */
        void gone(List<MemberNode> nodes);

        /** Reads the token from one of the nodes. */
        void lookUp(MemberNode node);

        /** Reads the member's queue. */
        void listQueue(int member);

        /**
         * Watches the requests that the member waits for, and its own node if needed, and removes all other watches of
         * the member. Reports every change.
         *
         * @param ahead the number of requests before it
         */
        void watch(int member, Decision.Wait how, int ahead);

        /** Notifies the request that waits for the member to hold; {@code next} may be it. */
        void announce(int member, NodeName next);

        /** Removes the watches. */
        void stopWatching();

        /** Fails the request: the member asks for more than the capacity. */
        void refuse(int member, int capacity);

        /**
         * Waits until the member's path is empty and renews it, unless it has been renewed since.
         *
         * @param since the zxid of the create whose number was too high, or {@link Event.Created#UNKNOWN_TOKEN}
         */
        void renew(int member, long since);

        /**
         * Confirms that the session is alive with time left. A transaction before that checks the nodes of a request of
         * several members that has waited, or of any request that has not just seen them, and those of this session's
         * holders that exclude the request.
         */
        void confirm();

        /** Gives the lease to the caller. */
        void grant(long token);

        /**
         * Deletes the nodes of a holder that releases, or whose client closes, with the mark of a release.
         *
         * @param then receives the outcome
         */
        void leaveAsHolder(List<MemberNode> nodes, Consumer<ReleaseOutcome> then);

        /** Deletes the nodes without a mark, which proves nothing to their successors. */
        void leave(List<MemberNode> nodes);

        /** Reports the loss of the holder's lease. */
        void lose(LossCause cause);
    }
}
