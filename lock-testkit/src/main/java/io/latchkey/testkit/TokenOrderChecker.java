package io.latchkey.testkit;

import io.latchkey.testkit.SessionEnds.Bearing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether fencing tokens grow with the grants of a lock, over grants to sessions that were alive at the grant: whoever has a path alone
 * has a higher token than all that were granted it before, and whoever shares it has a higher one than all that had it alone before. A
 * {@linkplain History#downgrade downgraded} hold has the token of the hold that it comes from. Among those that share, and among permits,
 * tokens say nothing.
 *
 * <p>They need not grow in the order in which {@code acquire} returns without that restriction: an answer that was on its way while
 * the server was told to end the session arrives after the next client was granted a higher token. Such a grant is left out where the
 * recorded ends of sessions show it; where they leave it open, because the lease was lost and the session of the grant is unknown, the
 * verdict is undecided.
 */
public final class TokenOrderChecker {
    private static final String RULE = "tokens grow with grants to live sessions";

    private TokenOrderChecker() {}

    /** Checks every lock of the history. */
    public static Verdict check(History history) {
        return check(history.events());
    }

    /** The same, of events from elsewhere. */
    public static Verdict check(List<HistoryEvent> events) {
        SessionEnds ends = new SessionEnds(events);
        List<Holding> holds = Holding.of(events);
        Map<String, Holding> highest = new HashMap<>();
        Map<String, Holding> highestAlone = new HashMap<>();
        List<String> broken = new ArrayList<>();
        List<String> open = new ArrayList<>();
        for (Holding next : holds) {
            Bearing bearing = ends.on(next);
            if (bearing == Bearing.ZOMBIE || next.claim() instanceof Claim.Permits) {
                continue;
            }
            Holding former = (next.isExclusive() ? highest : highestAlone).get(next.path());
            if (former == null || next.token() > former.token() || isDowngrade(former, next)) {
                highest.merge(next.path(), next, TokenOrderChecker::higher);
                if (next.isExclusive()) {
                    highestAlone.put(next.path(), next);
                }
            } else if (next.token() == former.token() || isCertain(next, bearing)) {
                broken.add(finding(former, next));
            } else {
                open.add(finding(former, next));
            }
        }
        return Verdict.of(RULE, holds.size(), broken, open);
    }

    private static boolean isDowngrade(Holding former, Holding next) {
        return !next.isExclusive()
                && former.token() == next.token()
                && former.client().equals(next.client());
    }

    private static Holding higher(Holding former, Holding next) {
        return next.token() > former.token() ? next : former;
    }

    /** Who released in order what he held was alive when he was granted it. */
    private static boolean isCertain(Holding next, Bearing bearing) {
        return bearing == Bearing.GRANTED_ALIVE && next.ending() == Holding.Ending.RELEASED;
    }

    private static String finding(Holding former, Holding next) {
        return next.path() + ": token " + next.token() + " for " + next.client() + " was granted after token "
                + former.token() + " for " + former.client() + ":\n" + new Timeline(List.of(former, next));
    }
}
