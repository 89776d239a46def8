// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.util.List;
import java.util.stream.Stream;

/**
 * Whether clients ever relied on more permits of a semaphore at once than there are. How many there are is what the {@linkplain
 * Claim.Permits claims} say; where they differ, the largest number counts. Holds that are not of permits do not concern it.
 *
 * <p>What is said of holds, of looks and of the two forms of the question in {@link MutualExclusionChecker} is true here as well.
 */
public final class PermitBoundChecker {
    private static final Overlaps OVERLAPS =
            new Overlaps("never more permits than there are", PermitBoundChecker::against);

    private PermitBoundChecker() {}

    /**
     * {@return whether there never were too many permits that were relied on while the sessions of all lived at the server} The ends of
     * sessions must have been recorded.
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
     * {@return whether there never were too many permits at once whose holders had all looked at their leases and found them valid}
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
        long held = permits(next, atHand).mapToLong(Claim.Permits::permits).sum();
        int most = permits(next, atHand).mapToInt(Claim.Permits::of).max().orElse(0);
        return held > most ? atHand : List.of();
    }

    private static Stream<Claim.Permits> permits(Holding next, List<Holding> atHand) {
        return Stream.concat(Stream.of(next), atHand.stream())
                .map(Holding::claim)
                .filter(Claim.Permits.class::isInstance)
                .map(Claim.Permits.class::cast);
    }
}
