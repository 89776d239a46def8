package io.latchkey.testkit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whether two clients ever relied on the same lock at once. Of the two forms of that question, choose the one that fits the faults:
 *
 * <ul>
 *   <li>{@link #whileSessionsLive}: never two clients that rely on it while the sessions of both live at the server. True under every
 *       fault.
 *   <li>{@link #byTheirOwnLooks}: never two clients at all of which each has looked and found its lease valid. True where sessions
 *       end by time; not where they are ended by decree ({@link ExpiryOrder#SERVER_FIRST}), since no client's clock can know of that.
 * </ul>
 *
 * <p>A hold counts from when the client was told of it until it began a clean release. One that was lost counts for certain only until
 * the client's last look at it, and perhaps until the client was told; if only such parts overlap, the verdict is undecided. So have
 * clients look ({@code isValid()}) before what they do under the lock, as real ones should.
 *
 * <p>For exclusive locks: a path on which readers or several permits hold at once is not for this checker.
 */
public final class MutualExclusionChecker {
    private MutualExclusionChecker() {}

    /** Never two clients that rely on a lock while both their sessions live at the server. Session ends must have been recorded. */
    public static Verdict whileSessionsLive(History history) {
        return whileSessionsLive(history.events());
    }

    /** The same, of events from elsewhere. */
    public static Verdict whileSessionsLive(List<HistoryEvent> events) {
        SessionEnds ends = new SessionEnds(events);
        List<Holding> counted = new ArrayList<>();
        for (Holding hold : Holding.of(events)) {
            Holding alive = hold.until(ends.limitOf(hold));
            switch (ends.on(hold)) {
                case GRANTED_ALIVE -> counted.add(alive);
                case UNKNOWN -> counted.add(alive.doubtful());
                case ZOMBIE -> {} // its session did not live while it was relied on
            }
        }
        return check("mutual exclusion while sessions live", counted);
    }

    /** Never two clients at once that have looked at their leases and found them valid. */
    public static Verdict byTheirOwnLooks(History history) {
        return byTheirOwnLooks(history.events());
    }

    /** The same, of events from elsewhere. */
    public static Verdict byTheirOwnLooks(List<HistoryEvent> events) {
        String rule = "mutual exclusion by the clients' own looks";
        List<Holding> holds = Holding.of(events);
        if (new SessionEnds(events).hasDecrees()) {
            return new Verdict.Undecided(
                    rule,
                    holds.size(),
                    List.of("sessions were ended by decree: this rule is about expiry by time only"));
        }
        return check(rule, holds);
    }

    private static Verdict check(String rule, List<Holding> holds) {
        Map<String, List<Holding>> byPath = new TreeMap<>();
        holds.forEach(hold ->
                byPath.computeIfAbsent(hold.path(), path -> new ArrayList<>()).add(hold));
        List<String> broken = new ArrayList<>();
        List<String> open = new ArrayList<>();
        byPath.values().forEach(sameLock -> checkOne(sameLock, broken, open));
        return Verdict.of(rule, holds.size(), broken, open);
    }

    /** Goes through the holds by the time of grant, with those at hand that may still last. */
    private static void checkOne(List<Holding> sameLock, List<String> broken, List<String> open) {
        List<Holding> lasting = new ArrayList<>();
        for (Holding next : sameLock.stream()
                .sorted(Comparator.comparingLong(Holding::granted))
                .toList()) {
            lasting.removeIf(former -> former.perhapsUntil() <= next.granted());
            for (Holding former : lasting) {
                if (former.surelyOverlaps(next)) {
                    broken.add(
                            finding("held at once", former, next, Math.min(former.surelyUntil(), next.surelyUntil())));
                } else if (former.perhapsOverlaps(next)) {
                    open.add(finding(
                            "perhaps held at once",
                            former,
                            next,
                            Math.min(former.perhapsUntil(), next.perhapsUntil())));
                }
            }
            lasting.add(next);
        }
    }

    private static String finding(String what, Holding former, Holding next, long end) {
        String length = end == Holding.END_OF_TIME
                ? "without an end"
                : String.format(Locale.ROOT, "for %.3f ms", (end - next.granted()) / 1e6);
        return next.path() + " " + what + " by " + former.client() + " and " + next.client() + " " + length + ":\n"
                + new Timeline(List.of(former, next));
    }
}
