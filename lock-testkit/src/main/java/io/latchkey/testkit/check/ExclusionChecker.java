// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.LockClaim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Whether clients ever relied on a lock at once that may not. There is one rule for each kind of lock: {@link #mutex},
 * {@link #readWrite}, {@link #permits}. Of the two forms of the question, choose the one that fits the faults:
 *
 * <ul>
 *   <li>{@link #whileSessionsLive}: never at once while the sessions of all of them live at the server. True under
 *       every fault.
 *   <li>{@link #byTheirOwnLooks}: never at once while each has looked and found its lease valid. True where sessions
 *       end by time; not where they are ended by force ({@link ExpiryOrder#SERVER_FIRST}), since no client's clock can
 *       know of that.
 * </ul>
 *
 * <p>A hold counts from the grant to the client until the beginning of a clean release. A hold that was lost counts for
 * certain only until the client's last check of it, and possibly until the client was notified; if only such parts
 * overlap, the verdict is undecided. So let clients check ({@code isValid()}) before each action under the lock, as
 * real clients should.
 */
public final class ExclusionChecker {
    // Of holds that overlap, one is granted last: it is enough to look at every grant, at those that last at that
    // moment.

    private static final ExclusionChecker MUTEX = new ExclusionChecker("mutual exclusion", (next, atHand) -> atHand);
    private static final ExclusionChecker READ_WRITE =
            new ExclusionChecker("readers beside readers, writers alone", ExclusionChecker::besideAWriter);
    private static final ExclusionChecker PERMITS =
            new ExclusionChecker("never more permits than there are", ExclusionChecker::beyondThePermits);

    private final String name;
    private final Rule rule;

    /** Which holds exclude each other. */
    @FunctionalInterface
    private interface Rule {
        /** Those of the holds at hand, all of the same path, beside which the next must not hold; none if it may. */
        List<HoldInterval> against(HoldInterval next, List<HoldInterval> atHand);
    }

    private ExclusionChecker(String name, Rule rule) {
        this.name = name;
        this.rule = rule;
    }

    /** {@return the rule of a mutex: one hold of a path at a time, whatever was claimed} */
    public static ExclusionChecker mutex() {
        return MUTEX;
    }

    /**
     * {@return the rule of a read-write lock: readers may hold beside readers; a writer, a mutex or a member of a
     * multi-lock that {@linkplain LockClaim#exclusive claims its path alone} may hold beside no other} Permits do not
     * concern it. A hold that was {@linkplain History#downgrade downgraded} counts as a writer's until the downgrade
     * began and as a reader's from then on.
     */
    public static ExclusionChecker readWrite() {
        return READ_WRITE;
    }

    /**
     * {@return the rule of a semaphore: never more permits at once than there are} How many there are is what the
     * {@linkplain LockClaim.Permits claims} say; where they differ, the largest number counts. Holds that are not of
     * permits do not concern it.
     */
    public static ExclusionChecker permits() {
        return PERMITS;
    }

    /**
     * {@return whether the rule was kept as far as the sessions of all lived at the server} The ends of sessions must
     * have been recorded.
     *
     * @param history as it is now
     */
    public Verdict whileSessionsLive(History history) {
        return whileSessionsLive(history.events());
    }

    /**
     * {@return the same, of events from elsewhere}
     *
     * @param events in order of time
     */
    public Verdict whileSessionsLive(List<HistoryEvent> events) {
        SessionEnds ends = new SessionEnds(events);
        List<HoldInterval> counted = new ArrayList<>();
        for (HoldInterval hold : HoldInterval.of(events)) {
            HoldInterval alive = hold.until(ends.limitOf(hold.summary()));
            switch (ends.on(hold.summary())) {
                case GRANTED_ALIVE -> counted.add(alive);
                case UNKNOWN -> counted.add(alive.doubtful());
                case ZOMBIE -> {} // its session did not live while it was relied on
            }
        }
        return check(new Findings(name + " while sessions live", events), counted);
    }

    /**
     * {@return whether the rule was kept as far as clients had looked at their leases and found them valid}
     *
     * @param history as it is now
     */
    public Verdict byTheirOwnLooks(History history) {
        return byTheirOwnLooks(history.events());
    }

    /**
     * {@return the same, of events from elsewhere}
     *
     * @param events in order of time
     */
    public Verdict byTheirOwnLooks(List<HistoryEvent> events) {
        String looks = name + " by the clients' own looks";
        if (new SessionEnds(events).hasDecrees()) {
            return new Verdict.Inapplicable(
                    looks,
                    "sessions were ended by force, of which no client's clock can know; ask whileSessionsLive, or let sessions end by time");
        }
        return check(new Findings(looks, events), HoldInterval.of(events));
    }

    private static List<HoldInterval> besideAWriter(HoldInterval next, List<HoldInterval> atHand) {
        return atHand.stream()
                .filter(former -> former.isExclusive() || next.isExclusive())
                .toList();
    }

    private static List<HoldInterval> beyondThePermits(HoldInterval next, List<HoldInterval> atHand) {
        List<LockClaim.Permits> claims = Stream.concat(Stream.of(next), atHand.stream())
                .map(HoldInterval::claim)
                .filter(LockClaim.Permits.class::isInstance)
                .map(LockClaim.Permits.class::cast)
                .toList();
        long held = claims.stream().mapToLong(LockClaim.Permits::permits).sum();
        int most = claims.stream().mapToInt(LockClaim.Permits::of).max().orElse(0);
        return held > most ? atHand : List.of();
    }

    private Verdict check(Findings findings, List<HoldInterval> holds) {
        Map<String, List<HoldInterval>> byPath =
                holds.stream().collect(Collectors.groupingBy(HoldInterval::path, TreeMap::new, Collectors.toList()));
        byPath.values().forEach(samePath -> checkOne(samePath, findings));
        return findings.verdict(holds.size());
    }

    /** Goes through the holds by the time of grant, with those at hand that may still last. */
    private void checkOne(List<HoldInterval> samePath, Findings findings) {
        List<HoldInterval> atHand = new ArrayList<>();
        for (HoldInterval next : samePath.stream()
                .sorted(Comparator.comparingLong(HoldInterval::granted))
                .toList()) {
            long now = next.granted();
            atHand.removeIf(former -> !former.perhapsLastsAt(now));
            List<HoldInterval> surely =
                    atHand.stream().filter(former -> former.surelyLastsAt(now)).toList();
            List<HoldInterval> against = next.surelyLastsAt(now) ? rule.against(next, surely) : List.of();
            if (!against.isEmpty()) {
                found("held at once", against, next, HoldInterval::surelyUntil, findings::broken);
            } else if (next.perhapsLastsAt(now)) {
                List<HoldInterval> perhaps = rule.against(next, atHand);
                if (!perhaps.isEmpty()) {
                    found("perhaps held at once", perhaps, next, HoldInterval::perhapsUntil, findings::open);
                }
            }
            atHand.add(next);
        }
    }

    private static void found(
            String what,
            List<HoldInterval> against,
            HoldInterval next,
            ToLongFunction<HoldInterval> until,
            Findings.Report report) {
        List<HoldInterval> all = new ArrayList<>(against);
        all.add(next);
        long end = all.stream().mapToLong(until).min().orElseThrow();
        String length = end == HoldInterval.END_OF_TIME
                ? "without an end"
                : String.format(Locale.ROOT, "for %.3f ms", (end - next.granted()) / 1e6);
        Function<HoldInterval, String> who = hold -> hold.summary().client() + how(hold.claim());
        report.add(
                next.path() + " " + what + " by "
                        + against.stream().map(who).collect(Collectors.joining(", ")) + " and " + who.apply(next) + " "
                        + length,
                all.stream().map(hold -> hold.summary().attempt()).collect(Collectors.toSet()),
                next.granted(),
                end);
    }

    private static String how(LockClaim claim) {
        if (claim instanceof LockClaim.Permits some) {
            return " (" + some.permits() + " of " + some.of() + ")";
        }
        return claim instanceof LockClaim.Shared ? " (shared)" : "";
    }
}
