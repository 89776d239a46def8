// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * An action or notification of a client, in a {@link History}.
 *
 * @param nanos when: nanoseconds since the history began, on the process's one monotonic clock
 * @param client the name of the client
 * @param attempt the number of the attempt to acquire, from 1 in the history; 0 if the event concerns the client as a
 *     whole
 * @param claims the requested access; empty if the event concerns the client as a whole, several for a multi-lock
 * @param type the type of the event
 * @param token the token of the grant, once there is one; 0 before
 * @param session the server's id of the session that it is of, if it is known; 0 if not
 * @param note more, for the reader
 */
public record HistoryEvent(
        long nanos,
        String client,
        long attempt,
        List<LockClaim> claims,
        EventType type,
        long token,
        long session,
        String note) {
    /** The note of a hold that goes on as another, see {@link Attempt#downgraded}. */
    static final String DOWNGRADE = "downgrade";

    /** The note of an attempt whose time was over. */
    static final String OUT_OF_TIME = "out of time";

    /** The note of a loss that the release told. */
    static final String FOUND_BY_RELEASE = "found by the release";

    /** The note of a loss that a look showed when the lease was handed out. */
    static final String FOUND_BY_LOOK = "invalid when it was handed out";

    /** What can happen. */
    public enum EventType {
        /**
         * The client is about to ask. The note is the time that it gives the attempt, as {@link java.time.Duration}
         * writes it, if any.
         */
        REQUESTED,
        /**
         * At this moment the request was known to stand at the server: an answer of the server shows it. Only some
         * attempts have this.
         */
        PLACED,
        /** The client has been granted the lock. */
        GRANTED,
        /** The attempt ended without a grant: out of time, cancelled, interrupted, failed. */
        GAVE_UP,
        /** The client looked, and its lease was still valid. A history keeps the last such look of each attempt. */
        VALID,
        /** The client is about to release: it does not rely on the lease from here on. */
        RELEASING,
        /** The release has come out as one of a lease that was held until then. */
        RELEASED,
        /** The client has been notified of the loss of the lease, or found it lost when it released. */
        LOST,
        /**
         * The client is about to change the number of permits that a semaphore has, to the number that the claim is of.
         */
        RESIZING,
        /** The number of permits has been changed. */
        RESIZED,
        /** A session may end from here on: a fault is about to end it. */
        SESSION_ENDING,
        /** A session has ended at the server. */
        SESSION_ENDED,
        /** Something else that the reader should see. */
        NOTE
    }

    /**
     * {@return whether the client noticed the loss by itself, not in response to a release or to a look at the lease}
     */
    public boolean isLossTold() {
        return type == EventType.LOST && !note.equals(FOUND_BY_RELEASE) && !note.equals(FOUND_BY_LOOK);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%10.3f ms  %s %s", nanos / 1e6, client, words());
    }

    /** {@return the event in words: everything but time and client} */
    public String words() {
        String subject = attempt == 0 ? "" : "#" + attempt + " " + text(claims) + " ";
        String which = token == 0 ? "" : " token " + token;
        return (subject + type + which + " " + note).stripTrailing();
    }

    private static String text(List<LockClaim> claims) {
        return claims.stream().map(LockClaim::toString).collect(Collectors.joining(" + "));
    }
}
