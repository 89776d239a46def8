// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.Locale;
import java.util.StringJoiner;

/** The situations that schedules have reached, with their frequencies. */
@SuppressWarnings("EnumOrdinal") // The numbers live no longer than a run.
final class Coverage {
    /** Something that a run claims to cover. */
    enum Situation {
        GRANTED,
        LOST_WHILE_HELD,
        LOST_BY_DEADLINE,
        LOST_BY_LIMIT,
        OWN_NODE_DELETED,
        ZOMBIE_GRANT,
        DIED_AT_ITS_TURN,
        CANCELLED,
        /** A client that had a lease began to close, with a grace. */
        CLOSED_WITH_HOLDERS,
        /** Its holders released before the end of the grace. */
        RELEASED_IN_GRACE,
        LOST_BY_CLOSE,
        DOWNGRADED,
        CREATED_BUT_ANSWER_LOST,
        STALE_READ,
        LATE_WRITE,
        /** Carried out when the client was back at the server that had taken it. */
        WRITE_OF_FORMER_CONNECTION,
        WRITE_OF_DEAD_SESSION,
        EXPIRED_BY_TIME,
        RECONNECTED,
        STOOD_STILL,
        PATH_REAPED,
        /** Since its counter was near its end. */
        PATH_CREATED_AGAIN,
        RESIZED,
        /** A lease was granted by a node that had been granted before. */
        LOCAL_TURN,
        /** Two valid leases have one node. */
        SHARED_NODE,
        READ_BY_A_WRITERS_NODE,
        USERS_CODE_THREW,
        USERS_CODE_CALLED_BACK,
        USERS_CODE_BLOCKED
    }

    private final long[] counts = new long[Situation.values().length];

    void count(Situation what) {
        count(what, 1);
    }

    void count(Situation what, long times) {
        counts[what.ordinal()] += times;
    }

    void add(Counters of) {
        count(Situation.CREATED_BUT_ANSWER_LOST, of.createdButAnswerLost);
        count(Situation.STALE_READ, of.staleReads);
        count(Situation.WRITE_OF_FORMER_CONNECTION, of.writesOfFormerConnections);
        count(Situation.WRITE_OF_DEAD_SESSION, of.writesOfDeadSessions);
        count(Situation.EXPIRED_BY_TIME, of.expiredByTime);
        count(Situation.RECONNECTED, of.reconnects);
    }

    long of(Situation what) {
        return counts[what.ordinal()];
    }

    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(", ");
        for (Situation what : Situation.values()) {
            text.add(what.name().toLowerCase(Locale.ROOT).replace('_', ' ') + " " + of(what));
        }
        return text.toString();
    }
}
