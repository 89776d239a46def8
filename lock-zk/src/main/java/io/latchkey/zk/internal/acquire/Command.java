// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import java.util.List;
import java.util.function.Consumer;

/** What the shell is to do next. */
public sealed interface Command {
    /** Has {@code shell} do it. */
    void carryOut(Shell shell);

    /** The nodes that the request leaves by it. */
    default List<Placed> left() {
        return List.of();
    }

    /** What carries commands out: one method for each. */
    interface Shell {
        /** Creates the nodes, all or none, and reads the queues behind them, in one flight. */
        void enqueue();

        /** Once connected again: a committed write as barrier, then reads all queues. */
        void recover();

        /** Looks for nodes of the create with this id, and deletes them, now and later: it may have been carried out. */
        void disown(String id);

        /** Deletes nodes of the create with this id if a later list shows them: it has not been carried out so far. */
        void remember(String id);

        /** Reads the token from one of the nodes. */
        void lookUp(Placed node);

        /** Reads the member's queue. */
        void listQueue(int member);

        /**
         * Watches what the member waits for and nothing else, and its own node if need be; tells of every change.
         *
         * @param ahead how many requests are before it
         */
        void watch(int member, Decision.Wait how, int ahead);

        /** Tells the one that waits for the member to hold that it does; {@code next} may. */
        void tell(int member, NodeName next);

        /** Takes back what is watched. */
        void stopWatching();

        /** The member can never hold: it asks for more than the capacity. */
        void refuse(int member, int capacity);

        /**
         * Waits until the member's path is empty and makes it anew, unless it has been made anew since.
         *
         * @param since the transaction that came too late in the path's life, or {@link Event.Created#UNKNOWN_TOKEN}
         */
        void drain(int member, long since);

        /** Makes sure that the session is alive with time left. */
        void confirm();

        /** The caller holds. */
        void grant(long token);

        /**
         * Deletes the nodes of a holder that let go, marked as such.
         *
         * @param then what to tell of that
         */
        void leaveAsHolder(List<Placed> nodes, Consumer<ReleaseOutcome> then);

        /** Deletes the nodes; it proves nothing to those behind. */
        void leave(List<Placed> nodes);

        /** The holder's lease ended against its will. */
        void lose(LossCause cause);
    }

    /** See {@link Shell#enqueue}. */
    record Enqueue(String id) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.enqueue();
        }
    }

    /** See {@link Shell#recover}. */
    record Recover() implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.recover();
        }
    }

    /** See {@link Shell#disown}. */
    record Disown(String id) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.disown(id);
        }
    }

    /** See {@link Shell#remember}. */
    record Remember(String id) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.remember(id);
        }
    }

    /** See {@link Shell#lookUp}. */
    record LookUp(Placed node) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.lookUp(node);
        }
    }

    /** See {@link Shell#listQueue}. */
    record ListQueue(int member) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.listQueue(member);
        }
    }

    /** See {@link Shell#watch}. */
    record Watch(int member, Decision.Wait how, int ahead) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.watch(member, how, ahead);
        }
    }

    /** See {@link Shell#tell}. */
    record Tell(int member, NodeName next) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.tell(member, next);
        }
    }

    /** See {@link Shell#stopWatching}. */
    record StopWatching() implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.stopWatching();
        }
    }

    /** See {@link Shell#refuse}. */
    record Refuse(int member, int capacity) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.refuse(member, capacity);
        }
    }

    /** See {@link Shell#drain}. */
    record Drain(int member, long since) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.drain(member, since);
        }
    }

    /** See {@link Shell#confirm}. */
    record Confirm() implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.confirm();
        }
    }

    /** See {@link Shell#grant}. */
    record Grant(long token) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.grant(token);
        }
    }

    /** See {@link Shell#leaveAsHolder}. */
    record LeaveAsHolder(List<Placed> nodes, Consumer<ReleaseOutcome> then) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.leaveAsHolder(nodes, then);
        }

        @Override
        public List<Placed> left() {
            return nodes;
        }
    }

    /** See {@link Shell#leave}. */
    record Leave(List<Placed> nodes) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.leave(nodes);
        }

        @Override
        public List<Placed> left() {
            return nodes;
        }
    }

    /** See {@link Shell#lose}. */
    record Lose(LossCause cause) implements Command {
        @Override
        public void carryOut(Shell shell) {
            shell.lose(cause);
        }
    }
}
