// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

/** What an exploration must have come across to be worth its name. */
enum Reached {
    GRANTED,
    WAITED,
    REFUSED,
    GAVE_UP,
    /** Given up while the create was on the wire. */
    ABANDONED,
    /** A list came with a capacity that the session did not know. */
    HELD_BACK,
    /** The capacity changed again before it was read: the list is worth nothing. */
    LISTED_AGAIN,
    /** The node to be watched was gone already. */
    NOT_THERE,
    /** The capacity changed between the list and the watch on it. */
    NEWS,
    /** The capacity changed under a watch. */
    RESIZED,
    /** By the pair of one transaction. */
    HANDED_OVER,
    OWN_NODE_GONE,
    /** Told that the one ahead holds, under a watch or when setting it. */
    WORD,
    WORD_SEEN,
    /** Followed one that is older than the path's data, and leads instead. */
    LEADS_BEHIND_AN_OLDER,
    /** Led the line, and somebody came or went, under a watch or before it was set. */
    MOVED,
    CHILDREN_SEEN,
    SESSION_OVER
}
