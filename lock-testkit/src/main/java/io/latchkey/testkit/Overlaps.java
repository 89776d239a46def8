// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * What the checkers of overlapping holds have in common: which holds count, and the way through them. They differ in their {@link Rule}
 * only. Of holds that overlap, one is granted last; so it is enough to look at every grant, at those that last at that moment.
 */
final class Overlaps {
    private final String name;
    private final Rule rule;

    /** Who may hold beside whom. */
    @FunctionalInterface
    interface Rule {
        /** Those of the holds at hand, all of the same path, beside which the next must not hold; none if it may. */
        List<Holding> against(Holding next, List<Holding> atHand);
    }

    /** @param name of the rule, for verdicts */
    Overlaps(String name, Rule rule) {
        this.name = name;
        this.rule = rule;
    }

    /** Counts holds as far as their sessions live at the server. */
    Verdict whileSessionsLive(List<HistoryEvent> events) {
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
        return check(new Findings(name + " while sessions live", events), counted);
    }

    /** Counts holds as far as their clients have found them valid. */
    Verdict byTheirOwnLooks(List<HistoryEvent> events) {
        String rule = name + " by the clients' own looks";
        if (new SessionEnds(events).hasDecrees()) {
            return new Verdict.Inapplicable(
                    rule,
                    "sessions were ended by force, of which no client's clock can know; ask whileSessionsLive, or let sessions end by time");
        }
        return check(new Findings(rule, events), Holding.of(events));
    }

    private Verdict check(Findings findings, List<Holding> holds) {
        Map<String, List<Holding>> byPath =
                holds.stream().collect(Collectors.groupingBy(Holding::path, TreeMap::new, Collectors.toList()));
        byPath.values().forEach(samePath -> checkOne(samePath, findings));
        return findings.verdict(holds.size());
    }

    /** Goes through the holds by the time of grant, with those at hand that may still last. */
    private void checkOne(List<Holding> samePath, Findings findings) {
        List<Holding> atHand = new ArrayList<>();
        for (Holding next : samePath.stream()
                .sorted(Comparator.comparingLong(Holding::granted))
                .toList()) {
            long now = next.granted();
            atHand.removeIf(former -> !former.perhapsLastsAt(now));
            List<Holding> surely =
                    atHand.stream().filter(former -> former.surelyLastsAt(now)).toList();
            List<Holding> against = next.surelyLastsAt(now) ? rule.against(next, surely) : List.of();
            if (!against.isEmpty()) {
                found("held at once", against, next, Holding::surelyUntil, findings::broken);
            } else if (next.perhapsLastsAt(now)) {
                List<Holding> perhaps = rule.against(next, atHand);
                if (!perhaps.isEmpty()) {
                    found("perhaps held at once", perhaps, next, Holding::perhapsUntil, findings::open);
                }
            }
            atHand.add(next);
        }
    }

    private interface Report {
        void add(String text, Set<Long> attempts, long from, long to);
    }

    private static void found(
            String what, List<Holding> against, Holding next, ToLongFunction<Holding> until, Report report) {
        List<Holding> all = new ArrayList<>(against);
        all.add(next);
        long end = all.stream().mapToLong(until).min().orElseThrow();
        String length = end == Holding.END_OF_TIME
                ? "without an end"
                : String.format(Locale.ROOT, "for %.3f ms", (end - next.granted()) / 1e6);
        Function<Holding, String> who = hold -> hold.client() + how(hold.claim());
        report.add(
                next.path() + " " + what + " by "
                        + against.stream().map(who).collect(Collectors.joining(", ")) + " and " + who.apply(next) + " "
                        + length,
                all.stream().map(Holding::attempt).collect(Collectors.toSet()),
                next.granted(),
                end);
    }

    private static String how(Claim claim) {
        if (claim instanceof Claim.Permits some) {
            return " (" + some.permits() + " of " + some.of() + ")";
        }
        return claim instanceof Claim.Shared ? " (shared)" : "";
    }
}
