package io.latchkey.testkit;

import java.util.List;

/**
 * Whether anybody ever relied on a path beside a client that had it alone: readers may hold beside readers; a writer, a mutex or a member
 * of a multi-lock that {@linkplain Claim#exclusive claims its path alone} may not hold beside anybody. Permits do not concern it; {@link
 * PermitBoundChecker} counts them.
 *
 * <p>What is said of holds, of looks and of the two forms of the question in {@link MutualExclusionChecker} is true here as well. A hold
 * that was {@linkplain History#downgrade downgraded} counts as a writer's until the downgrade began and as a reader's from then on.
 */
public final class ReadersWritersChecker {
    private static final Overlaps OVERLAPS =
            new Overlaps("readers beside readers, writers alone", ReadersWritersChecker::against);

    private ReadersWritersChecker() {}

    /** Never a writer beside anybody while the sessions of both live at the server. Session ends must have been recorded. */
    public static Verdict whileSessionsLive(History history) {
        return whileSessionsLive(history.events());
    }

    /** The same, of events from elsewhere. */
    public static Verdict whileSessionsLive(List<HistoryEvent> events) {
        return OVERLAPS.whileSessionsLive(events);
    }

    /** Never a writer beside anybody at once that have both looked at their leases and found them valid. */
    public static Verdict byTheirOwnLooks(History history) {
        return byTheirOwnLooks(history.events());
    }

    /** The same, of events from elsewhere. */
    public static Verdict byTheirOwnLooks(List<HistoryEvent> events) {
        return OVERLAPS.byTheirOwnLooks(events);
    }

    private static List<Holding> against(Holding next, List<Holding> atHand) {
        return atHand.stream()
                .filter(former -> former.isExclusive() || next.isExclusive())
                .toList();
    }
}
