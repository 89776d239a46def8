// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.LockClaim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * One grant in a history, on one of the paths that it is of, and how long its client relied on it, in nanoseconds since
 * the history began.
 *
 * <p>How long is known within bounds. {@code surelyUntil}: the beginning of a release that came out as one of a held
 * lease, or else the last look that found the lease valid, or else the grant. {@code perhapsUntil}: the beginning of
 * the release or the news of the loss, whichever came first, or else the end of time.
 */
record HoldInterval(Attempt.Summary summary, LockClaim claim, long surelyUntil, long perhapsUntil) {
    static final long END_OF_TIME = Attempt.Summary.NEVER;

    /** All grants of a history, by the time of the grant; that of a multi-lock once for each member. */
    static List<HoldInterval> of(List<HistoryEvent> events) {
        List<HoldInterval> holdings = new ArrayList<>();
        for (Attempt.Summary summary : Attempt.Summary.of(events)) {
            if (summary.isGranted()) {
                summary.claims().forEach(claim -> holdings.add(of(summary, claim)));
            }
        }
        holdings.sort(Comparator.comparingLong(HoldInterval::granted));
        return holdings;
    }

    /** The grant of an attempt that was granted, on one of its paths. */
    private static HoldInterval of(Attempt.Summary summary, LockClaim claim) {
        return new HoldInterval(summary, claim, summary.surelyUntil(), summary.perhapsUntil());
    }

    /** The same hold, counted no further than this. */
    HoldInterval until(long limit) {
        return new HoldInterval(summary, claim, Math.min(surelyUntil, limit), Math.min(perhapsUntil, limit));
    }

    /** The same hold, of which nothing is sure. */
    HoldInterval doubtful() {
        return new HoldInterval(summary, claim, granted(), perhapsUntil);
    }

    long granted() {
        return summary.granted();
    }

    String path() {
        return claim.path();
    }

    boolean isExclusive() {
        return claim instanceof LockClaim.Exclusive;
    }

    boolean surelyLastsAt(long moment) {
        return granted() <= moment && moment < surelyUntil;
    }

    boolean perhapsLastsAt(long moment) {
        return granted() <= moment && moment < perhapsUntil;
    }
}
