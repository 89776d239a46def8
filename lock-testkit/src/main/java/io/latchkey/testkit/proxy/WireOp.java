// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

/** What a request asks for, by its number in ZooKeeper's protocol. */
public enum WireOp {
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

    WireOp(int code) {
        this.code = code;
    }

    static WireOp of(int code) {
        for (WireOp op : values()) {
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
     * {@return whether this belongs to the session itself rather than to what it is used for: connect, ping, orderly
     * end}
     */
    public boolean isUpkeep() {
        return this == CONNECT || this == PING || this == CLOSE_SESSION;
    }
}
