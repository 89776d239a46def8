// SPDX-License-Identifier: Apache-2.0
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

    /**
     * {@return whether there never was a writer beside anybody while the sessions of both lived at the server} The ends of sessions must have
     * been recorded.
     *
     * @param history as it is now
     */
    public static Verdict whileSessionsLive(History history) {
        return whileSessionsLive(history.events());
    }

    /**
     * {@return the same, of events from elsewhere}
     *
     * @param events in order of time
     */
    public static Verdict whileSessionsLive(List<HistoryEvent> events) {
        return OVERLAPS.whileSessionsLive(events);
    }

    /**
     * {@return whether there never was a writer beside anybody while both had looked at their leases and found them valid}
     *
     * @param history as it is now
     */
    public static Verdict byTheirOwnLooks(History history) {
        return byTheirOwnLooks(history.events());
    }

    /**
     * {@return the same, of events from elsewhere}
     *
     * @param events in order of time
     */
    public static Verdict byTheirOwnLooks(List<HistoryEvent> events) {
        return OVERLAPS.byTheirOwnLooks(events);
    }

    private static List<Holding> against(Holding next, List<Holding> atHand) {
        return atHand.stream()
                .filter(former -> former.isExclusive() || next.isExclusive())
                .toList();
    }
}
