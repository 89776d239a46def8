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

    /** Never too many permits that are relied on while the sessions of all live at the server. Session ends must have been recorded. */
    public static Verdict whileSessionsLive(History history) {
        return whileSessionsLive(history.events());
    }

    /** The same, of events from elsewhere. */
    public static Verdict whileSessionsLive(List<HistoryEvent> events) {
        return OVERLAPS.whileSessionsLive(events);
    }

    /** Never too many permits at once whose holders have all looked at their leases and found them valid. */
    public static Verdict byTheirOwnLooks(History history) {
        return byTheirOwnLooks(history.events());
    }

    /** The same, of events from elsewhere. */
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
