// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import java.util.Arrays;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;

/**
 * One thing that a {@link FaultProxy} saw. Times are {@link System#nanoTime()} when it had read the frame, before any
 * delay or fault of its own; but for a {@link Delivery}.
 */
public sealed interface WireRecord {
    /**
     * {@return when the proxy had read it, or passed it on if it is a {@link Delivery}, as {@link System#nanoTime()}}
     */
    long nanoTime();

    /** {@return on which connection of this client, the first being 1; 0 if it concerns none} */
    int connection();

    /**
     * A request as the client sent it.
     *
     * @param nanoTime when
     * @param connection on which connection
     * @param xid the client's number of the request; answers carry it back
     * @param op what it asks for
     * @param path the path, absolute and with the client's chroot; for a multi the first one; empty if it has none
     * @param watch whether it leaves a watch
     * @param parts the operations of a multi; empty for everything else
     */
    record Request(long nanoTime, int connection, int xid, Op op, String path, boolean watch, List<Part> parts)
            implements WireRecord {
        /**
         * {@return whether this or, for a multi, any part of it asks for the operation}
         *
         * @param wanted the operation
         */
        public boolean does(Op wanted) {
            return op == wanted || parts.stream().anyMatch(part -> part.op() == wanted);
        }

        /**
         * {@return whether this is a transaction of nothing but checks} It changes nothing, and proves that the session
         * and its nodes are there. Latchkey's heartbeat has this form, and so has the barrier that it sends first on a
         * new connection.
         */
        public boolean isHeartbeat() {
            return op == Op.MULTI && !parts.isEmpty() && parts.stream().allMatch(part -> part.op() == Op.CHECK);
        }

        @Override
        public String toString() {
            return op + (parts.isEmpty() ? " " + path : parts.toString()) + (watch ? " +watch" : "");
        }
    }

    /**
     * One operation of a multi.
     *
     * @param op what it asks for
     * @param path its path
     */
    record Part(Op op, String path) {
        @Override
        public String toString() {
            return op + " " + path;
        }
    }

    /**
     * The answer to a request.
     *
     * @param nanoTime when
     * @param connection on which connection
     * @param to the request
     * @param zxid the server's zxid: of the transaction, or of the state that a read saw
     * @param error 0, or the number of a {@link KeeperException.Code}
     */
    record Answer(long nanoTime, int connection, Request to, long zxid, int error) implements WireRecord {
        @Override
        public String toString() {
            String outcome = error == 0 ? "ok" : errorName();
            return outcome + " zxid 0x" + Long.toHexString(zxid) + " to " + to;
        }

        private String errorName() {
            return Arrays.stream(KeeperException.Code.values())
                    .filter(code -> code.intValue() == error)
                    .map(KeeperException.Code::name)
                    .findFirst()
                    .orElse("error " + error);
        }
    }

    /**
     * An answer has left for the client, after all delays and holds; none for pings.
     *
     * @param nanoTime when
     * @param connection on which connection
     * @param to the request that it answers
     */
    record Delivery(long nanoTime, int connection, Request to) implements WireRecord {
        @Override
        public String toString() {
            return "delivered, to " + to;
        }
    }

    /**
     * A watch that fired.
     *
     * @param nanoTime when
     * @param connection on which connection
     * @param type what happened
     * @param state the state that the server tells
     * @param path to which node
     * @param zxid in which transaction; -1 if the server does not say
     */
    record Event(long nanoTime, int connection, EventType type, KeeperState state, String path, long zxid)
            implements WireRecord {
        @Override
        public String toString() {
            return type + " " + path + " zxid 0x" + Long.toHexString(zxid);
        }
    }

    /**
     * The server's answer to a connect.
     *
     * @param nanoTime when
     * @param connection on which connection
     * @param session the session, 0 if the server says that the one asked for is over
     * @param timeoutMillis its timeout as negotiated
     */
    record Connect(long nanoTime, int connection, long session, int timeoutMillis) implements WireRecord {
        @Override
        public String toString() {
            return session == 0
                    ? "session is over"
                    : "session 0x" + Long.toHexString(session) + ", timeout " + timeoutMillis + " ms";
        }
    }

    /**
     * Something that is no frame: a connection opened or closed, a fault struck.
     *
     * @param nanoTime when
     * @param connection on which connection; 0 if it concerns none
     * @param text what happened
     */
    record Note(long nanoTime, int connection, String text) implements WireRecord {
        @Override
        public String toString() {
            return text;
        }
    }

    /** What a request asks for, by its number in ZooKeeper's protocol. */
    public enum Op {
        /** The first frame of a connection: a new session, or an old one on a new connection. It has no number. */
        CONNECT(Integer.MIN_VALUE),
        /** {@code create} in the form that answers the path alone. */
        CREATE(1),
        /** {@code delete}. */
        DELETE(2),
        /** {@code exists}. */
        EXISTS(3),
        /** {@code getData}. */
        GET_DATA(4),
        /** {@code setData}. */
        SET_DATA(5),
        /** {@code getACL}. */
        GET_ACL(6),
        /** {@code setACL}. */
        SET_ACL(7),
        /** {@code getChildren} in the form that answers the names alone. */
        GET_CHILDREN(8),
        /** {@code sync}. */
        SYNC(9),
        /** The client's sign of life, sent when it has sent nothing else for a while. */
        PING(11),
        /** {@code getChildren} in the form with the parent's Stat. */
        GET_CHILDREN2(12),
        /** A check of a version, inside a {@link #MULTI} only. */
        CHECK(13),
        /** A transaction. */
        MULTI(14),
        /** {@code create} in the form that answers the Stat too. */
        CREATE2(15),
        /** A change of the ensemble's members. */
        RECONFIG(16),
        /** A check for a watch, which {@code removeWatches} sends for one watcher. */
        CHECK_WATCHES(17),
        /** The removal of a path's watches, which {@code removeAllWatches} sends. */
        REMOVE_WATCHES(18),
        /** {@code create} of a container. */
        CREATE_CONTAINER(19),
        /** {@code create} of a node with a time to live. */
        CREATE_TTL(21),
        /** Several reads in one. */
        MULTI_READ(22),
        /** Authentication. */
        AUTH(100),
        /** The watches that a client sets again on a new connection, without persistent ones. */
        SET_WATCHES(101),
        /** A step of a SASL exchange. */
        SASL(102),
        /** {@code getEphemerals}. */
        GET_EPHEMERALS(103),
        /** {@code getAllChildrenNumber}. */
        GET_ALL_CHILDREN_NUMBER(104),
        /** The watches that a client sets again on a new connection. */
        SET_WATCHES2(105),
        /** {@code addWatch}. */
        ADD_WATCH(106),
        /** {@code whoAmI}. */
        WHO_AM_I(107),
        /** The orderly end of a session. */
        CLOSE_SESSION(-11),
        /** A number that the proxy does not know. */
        OTHER(Integer.MAX_VALUE);

        private final int code;

        Op(int code) {
            this.code = code;
        }

        static Op of(int code) {
            for (Op op : values()) {
                if (op.code == code) {
                    return op;
                }
            }
            return OTHER;
        }

        /** {@return whether this makes a node, in any form} */
        public boolean creates() {
            return this == CREATE || this == CREATE2 || this == CREATE_CONTAINER || this == CREATE_TTL;
        }

        /** {@return whether this lists children, in either form} */
        public boolean lists() {
            return this == GET_CHILDREN || this == GET_CHILDREN2;
        }

        /**
         * {@return whether this belongs to the session itself rather than to what it is used for: connect, ping,
         * orderly end}
         */
        public boolean isUpkeep() {
            return this == CONNECT || this == PING || this == CLOSE_SESSION;
        }
    }
}
