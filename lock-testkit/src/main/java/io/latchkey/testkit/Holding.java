// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * One grant in a history, on one of the paths that it is of, and how long its client relied on it, in nanoseconds since the history began.
 *
 * <p>How long is known within bounds. {@code surelyUntil}: the beginning of a release that came out as one of a held lease, or else the
 * last look that found the lease valid, or else the grant. {@code perhapsUntil}: the beginning of the release or the news of the loss,
 * whichever came first, or else the end of time.
 */
record Holding(
        String client,
        long attempt,
        Claim claim,
        long token,
        long session,
        long requested,
        long granted,
        long surelyUntil,
        long perhapsUntil,
        Ending ending) {
    static final long END_OF_TIME = Course.NEVER;

    /** How it ended, as far as its client knows. */
    enum Ending {
        RELEASED,
        LOST,
        OPEN
    }

    /** All grants of a history, by the time of the grant; that of a multi-lock once for each member. */
    static List<Holding> of(List<HistoryEvent> events) {
        List<Holding> holdings = new ArrayList<>();
        for (Course course : Course.of(events)) {
            if (course.isGranted()) {
                course.claims().forEach(claim -> holdings.add(of(course, claim)));
            }
        }
        holdings.sort(Comparator.comparingLong(Holding::granted));
        return holdings;
    }

    /** The grant of an attempt that was granted, on one of its paths. */
    static Holding of(Course course, Claim claim) {
        boolean lost = course.lost() != Course.NEVER;
        return new Holding(
                course.client(),
                course.attempt(),
                claim,
                course.token(),
                course.session(),
                course.requested(),
                course.granted(),
                course.surelyUntil(),
                course.perhapsUntil(),
                course.isReleasedInOrder() ? Ending.RELEASED : lost ? Ending.LOST : Ending.OPEN);
    }

    /** The same hold, counted no further than this. */
    Holding until(long limit) {
        return new Holding(
                client,
                attempt,
                claim,
                token,
                session,
                requested,
                granted,
                Math.min(surelyUntil, limit),
                Math.min(perhapsUntil, limit),
                ending);
    }

    /** The same hold, of which nothing is sure. */
    Holding doubtful() {
        return new Holding(client, attempt, claim, token, session, requested, granted, granted, perhapsUntil, ending);
    }

    String path() {
        return claim.path();
    }

    boolean isExclusive() {
        return claim instanceof Claim.Exclusive;
    }

    boolean surelyLastsAt(long moment) {
        return granted <= moment && moment < surelyUntil;
    }

    boolean perhapsLastsAt(long moment) {
        return granted <= moment && moment < perhapsUntil;
    }
}
