package io.latchkey.testkit;

import io.latchkey.testkit.SessionEnds.Bearing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether fencing tokens grow with the grants of a lock, over grants to sessions that were alive at the grant.
 *
 * <p>They need not grow in the order in which {@code acquire} returns without that restriction: an answer that was on its way while
 * the server was told to end the session arrives after the next client was granted a higher token. Such a grant is left out where the
 * recorded ends of sessions show it; where they leave it open, because the lease was lost and the session of the grant is unknown, the
 * verdict is undecided. For exclusive locks only.
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
        List<String> broken = new ArrayList<>();
        List<String> open = new ArrayList<>();
        for (Holding next : holds) {
            Bearing bearing = ends.on(next);
            if (bearing == Bearing.ZOMBIE) {
                continue;
            }
            Holding former = highest.get(next.path());
            if (former == null || next.token() > former.token()) {
                highest.put(next.path(), next);
            } else if (next.token() == former.token() || isCertain(next, bearing)) {
                broken.add(finding(former, next));
            } else {
                open.add(finding(former, next));
            }
        }
        return Verdict.of(RULE, holds.size(), broken, open);
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
