// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.check.SessionEnds.Bearing;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.LockClaim;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks that fencing tokens increase with the grants of a lock, among grants to sessions that were alive at the grant:
 * an exclusive grant has a higher token than all earlier grants of the path, and a shared grant a higher one than all
 * earlier exclusive grants. A {@linkplain History#downgrade downgraded} hold has the token of the hold that it comes
 * from. Among shared grants, and among permits, tokens have no order.
 *
 * <p>They need not grow in the order in which {@code acquire} returns without that restriction: a response that was on
 * its way while the server ended the session arrives after the next client was granted a higher token. Such a grant is
 * left out where the recorded ends of sessions show it; where they leave it open, because the lease was lost and the
 * session of the grant is unknown, the verdict is undecided. A grant without a token, which is recorded as 0, is left
 * out too; where none has one, the rule does not apply.
 */
public final class TokenOrderChecker {
    private static final String RULE = "tokens grow with grants to live sessions";

    private TokenOrderChecker() {}

    /**
     * {@return whether every lock of the history keeps the rule}
     *
     * @param history as it is now
     */
    public static Verdict check(History history) {
        return check(history.events());
    }

    /**
     * {@return the same, of events from elsewhere}
     *
     * @param events in order of time
     */
    public static Verdict check(List<HistoryEvent> events) {
        SessionEnds ends = new SessionEnds(events);
        List<HoldInterval> all = HoldInterval.of(events);
        // A lock without tokens has none in any grant.
        Set<String> withTokens = all.stream()
                .filter(hold -> hold.summary().token() != 0)
                .map(HoldInterval::path)
                .collect(Collectors.toSet());
        List<HoldInterval> holds =
                all.stream().filter(hold -> withTokens.contains(hold.path())).toList();
        if (holds.isEmpty() && !all.isEmpty()) {
            return new Verdict.Inapplicable(RULE, "no grant has a token");
        }
        Map<String, HoldInterval> highest = new HashMap<>();
        Map<String, HoldInterval> highestAlone = new HashMap<>();
        Findings findings = new Findings(RULE, events);
        for (HoldInterval next : holds) {
            Bearing bearing = ends.on(next.summary());
            if (bearing == Bearing.ZOMBIE || next.claim() instanceof LockClaim.Permits) {
                continue;
            }
            HoldInterval former = (next.isExclusive() ? highest : highestAlone).get(next.path());
            if (former == null || next.summary().token() > former.summary().token() || isDowngrade(former, next)) {
                highest.merge(next.path(), next, TokenOrderChecker::higher);
                if (next.isExclusive()) {
                    highestAlone.put(next.path(), next);
                }
            } else if (next.summary().token() == former.summary().token() || isCertain(next, bearing)) {
                findings.broken(text(former, next), attempts(former, next), next.granted(), next.granted());
            } else {
                findings.open(text(former, next), attempts(former, next), next.granted(), next.granted());
            }
        }
        return findings.verdict(holds.size());
    }

    private static boolean isDowngrade(HoldInterval former, HoldInterval next) {
        return !next.isExclusive()
                && former.summary().token() == next.summary().token()
                && former.summary().client().equals(next.summary().client());
    }

    private static HoldInterval higher(HoldInterval former, HoldInterval next) {
        return next.summary().token() > former.summary().token() ? next : former;
    }

    /** A hold that was released cleanly was granted to a live session. */
    private static boolean isCertain(HoldInterval next, Bearing bearing) {
        return bearing == Bearing.GRANTED_ALIVE && next.summary().isReleasedInOrder();
    }

    private static Set<Long> attempts(HoldInterval former, HoldInterval next) {
        return new HashSet<>(List.of(former.summary().attempt(), next.summary().attempt()));
    }

    private static String text(HoldInterval former, HoldInterval next) {
        return next.path() + ": " + text(next) + " was granted after " + text(former);
    }

    private static String text(HoldInterval hold) {
        return "token " + hold.summary().token() + " for " + hold.summary().client();
    }
}
