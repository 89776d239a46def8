// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

/**
 * The kinds of steps. A step is one of them with at most two numbers, packed into one int, so that a schedule is a list
 * of ints.
 */
@SuppressWarnings("EnumOrdinal") // The numbers live no longer than a run.
enum Move {
    /** The client's server takes its next request, or {@link #ALL_AT_ONCE} all that are on their way. */
    TAKE_REQUEST,
    /** The client takes its next message. */
    TAKE_MESSAGE,
    /** A server takes a request of a connection that is no more. */
    TAKE_GHOST,
    /** The server applies the next transaction of the leader's log. */
    APPLY,
    /** The client tries a server. */
    CONNECT,
    /** A timer of the client that is due now runs. */
    FIRE,
    /** The worker asks for what is next. */
    BEGIN,
    /** The worker releases. */
    RELEASE,
    /** The worker wants to write no more. */
    DOWNGRADE,
    /** The worker wants it no more. */
    CANCEL,
    /** The client closes, with one of the graces of {@link Client#GRACES}; a body under a lease goes on. */
    CLOSE,
    /** Time passes until the next timer is due, and that runs. */
    PASS_TIME,
    /** All messages on their way arrive before time passes, and no waiter must miss its turn. */
    CALM,
    /** The leader deletes an unused container. */
    REAP,
    /** The network of a client carries again. */
    HEAL,
    /** A client's process goes on. */
    GO_ON,
    /** So many session time-outs pass, with all that comes of it, and nothing else happens. */
    AGE,
    /** A client's connection breaks behind what is on its way to it. */
    BREAK,
    /** A client's connection breaks, and what is on its way to it is lost. */
    CUT,
    /** From now on messages to a client are lost, until its connection breaks. */
    LOSE_ANSWERS,
    /** A client's network carries nothing, without notice. */
    SILENCE,
    /** A client's process is paused, without notice. */
    STAND_STILL,
    /** A session is ended by force. */
    END_SESSION,
    /** An operator deletes a request's node. */
    DELETE,
    /** An operator changes a semaphore's capacity. */
    RESIZE;

    static final int ALL_AT_ONCE = 1;

    private static final Move[] ALL = values();
    private static final int BITS = 8;
    private static final int MASK = (1 << BITS) - 1;

    /** Whether it takes from the budget of faults. */
    boolean isFault() {
        return compareTo(BREAK) >= 0;
    }

    /** Its place in arrays that have one for each. */
    int index() {
        return ordinal();
    }

    int of(int first) {
        return of(first, 0);
    }

    int of(int first, int second) {
        return (ordinal() << (2 * BITS)) | ((second & MASK) << BITS) | (first & MASK);
    }

    static Move move(int step) {
        return ALL[step >> (2 * BITS)];
    }

    static int first(int step) {
        return step & MASK;
    }

    static int second(int step) {
        return (step >> BITS) & MASK;
    }
}
