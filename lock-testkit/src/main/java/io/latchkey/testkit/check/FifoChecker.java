// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.check.SessionEnds.Bearing;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.LockClaim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks that grants come in the order in which requests were placed: no request is granted while a request that is
 * certainly ahead of it conflicts with it. Readers may overtake readers, and permits may overtake permits as long as
 * there are enough for both, because the network decides which client learns of a grant first.
 *
 * <p>Clients see only part of the order. One request is certainly ahead of another if it was known to be
 * {@linkplain HistoryEvent.EventType#PLACED placed} before the other client began its call. The proxy of a
 * {@link FaultyClient} observes that, or the client records it by {@link Attempt#placed()}. Without either there is no
 * order, and the rule does not apply, unless no request ever waited beside another. Concurrent requests have no order,
 * and their grants are not judged. Tokens are not used: {@link TokenOrderChecker} compares those.
 *
 * <p>The proxy's observation is recorded with the grant. So a request that others overtake for ever is not seen here
 * unless its client records {@link Attempt#placed()}; that it still waits is {@link LivenessChecker}'s to tell.
 *
 * <p>A request counts as queued until its client begins to release or is notified of the loss, or its session may end.
 * Attempts that gave up never count, since they leave the queue before their clients return. After a session's end a
 * request is queued again, at the end; where the history leaves open whether that has happened, the verdict is
 * undecided. There are no time tolerances.
 */
public final class FifoChecker {
    private static final String RULE = "first come, first served";

    private final Findings findings;
    private final SessionEnds ends;

    private FifoChecker(List<HistoryEvent> events) {
        findings = new Findings(RULE, events);
        ends = new SessionEnds(events);
    }

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
        return new FifoChecker(events).verdict();
    }

    /** A request that was placed, on one path, and while it stands there. */
    private record QueuedAttempt(Attempt.Summary summary, LockClaim claim, long until, boolean isCertain) {
        boolean waitsAt(long moment) {
            return summary.granted() > moment;
        }
    }

    private Verdict verdict() {
        List<Attempt.Summary> summaries = Attempt.Summary.of(findings.events());
        List<Attempt.Summary> grants = summaries.stream()
                .filter(Attempt.Summary::isGranted)
                .sorted(Comparator.comparingLong(Attempt.Summary::granted))
                .toList();
        if (summaries.stream().noneMatch(summary -> summary.placed() != Attempt.Summary.NEVER)
                && anyWaitedBesideAnother(summaries)) {
            return new Verdict.Inapplicable(
                    findings.rule(),
                    "it is not recorded when requests were placed: record locks of a FaultyClient, or call Attempt.placed()");
        }
        Map<String, List<QueuedAttempt>> byPath = summaries.stream()
                .filter(summary ->
                        summary.placed() != Attempt.Summary.NEVER && summary.gaveUp() == Attempt.Summary.NEVER)
                .flatMap(summary -> summary.claims().stream().map(claim -> standing(summary, claim)))
                .sorted(Comparator.comparingLong(standing -> standing.summary().placed()))
                .collect(Collectors.groupingBy(standing -> standing.claim().path()));
        byPath.forEach((path, queue) -> checkOne(
                queue,
                grants.stream()
                        .filter(grant -> grant.claims().stream()
                                .anyMatch(claim -> claim.path().equals(path)))
                        .filter(grant -> !grant.isDowngrade())
                        .toList(),
                path));
        return findings.verdict(grants.size());
    }

    private static boolean anyWaitedBesideAnother(List<Attempt.Summary> summaries) {
        Map<String, Long> ends = new HashMap<>();
        for (Attempt.Summary summary : summaries.stream()
                .filter(each -> each.isAsked() && each.gaveUp() == Attempt.Summary.NEVER)
                .sorted(Comparator.comparingLong(Attempt.Summary::requested))
                .toList()) {
            for (LockClaim claim : summary.claims()) {
                if (summary.requested() < ends.getOrDefault(claim.path(), -1L)) {
                    return true;
                }
                ends.merge(claim.path(), summary.granted(), Math::max);
            }
        }
        return false;
    }

    /** Through the grants in order of time, with those requests at hand that have been placed and may still stand. */
    private void checkOne(List<QueuedAttempt> queue, List<Attempt.Summary> grants, String path) {
        List<QueuedAttempt> atHand = new ArrayList<>();
        int next = 0;
        for (Attempt.Summary grant : grants) {
            long now = grant.granted();
            while (next < queue.size() && queue.get(next).summary().placed() < now) {
                atHand.add(queue.get(next++));
            }
            atHand.removeIf(standing -> standing.until() <= now);
            LockClaim claim = grant.claims().stream()
                    .filter(each -> each.path().equals(path))
                    .findFirst()
                    .orElseThrow();
            List<QueuedAttempt> before = atHand.stream()
                    .filter(standing -> standing.summary().placed() < grant.requested())
                    .filter(standing -> standing.summary().attempt() != grant.attempt())
                    .toList();
            List<QueuedAttempt> surely =
                    before.stream().filter(QueuedAttempt::isCertain).toList();
            List<QueuedAttempt> overtaken = overtaken(surely, claim, now);
            List<QueuedAttempt> perhaps = overtaken(before, claim, now);
            if (!overtaken.isEmpty()) {
                found(grant, overtaken, path, findings::broken);
            } else if (!perhaps.isEmpty()) {
                found(grant, perhaps, path, findings::open);
            }
        }
    }

    /** Those that leave no room and still wait. */
    private static List<QueuedAttempt> overtaken(List<QueuedAttempt> before, LockClaim claim, long now) {
        return against(before, claim).stream()
                .filter(standing -> standing.waitsAt(now))
                .toList();
    }

    /** Those of the requests before it that leave no room for this claim; none if they leave room. */
    private static List<QueuedAttempt> against(List<QueuedAttempt> before, LockClaim claim) {
        if (claim instanceof LockClaim.Permits some) {
            List<QueuedAttempt> permits = before.stream()
                    .filter(standing -> standing.claim() instanceof LockClaim.Permits)
                    .toList();
            long sum = some.permits();
            int most = some.of();
            for (QueuedAttempt standing : permits) {
                LockClaim.Permits other = (LockClaim.Permits) standing.claim();
                sum += other.permits();
                most = Math.max(most, other.of());
            }
            return sum > most ? permits : List.of();
        }
        return before.stream()
                .filter(standing ->
                        claim instanceof LockClaim.Exclusive || standing.claim() instanceof LockClaim.Exclusive)
                .toList();
    }

    private void found(Attempt.Summary grant, List<QueuedAttempt> overtaken, String path, Findings.Report report) {
        Set<Long> attempts = new HashSet<>(Set.of(grant.attempt()));
        overtaken.forEach(standing -> attempts.add(standing.summary().attempt()));
        String whom =
                overtaken.stream().map(standing -> standing.summary().name()).collect(Collectors.joining(", "));
        report.add(
                path + ": " + grant.name() + " was granted before " + whom + ", which had been placed before it asked",
                attempts,
                grant.requested(),
                grant.granted());
    }

    private QueuedAttempt standing(Attempt.Summary summary, LockClaim claim) {
        if (!summary.isGranted()) {
            boolean sessionsLive = findings.events().stream()
                    .noneMatch(event -> event.client().equals(summary.client())
                            && (event.type() == HistoryEvent.EventType.SESSION_ENDING
                                    || event.type() == HistoryEvent.EventType.NOTE)
                            && event.attempt() == 0
                            && event.nanos() >= summary.requested());
            return new QueuedAttempt(summary, claim, Attempt.Summary.NEVER, sessionsLive);
        }
        return ends.on(summary) == Bearing.GRANTED_ALIVE
                ? new QueuedAttempt(summary, claim, Math.min(summary.perhapsUntil(), ends.limitOf(summary)), true)
                : new QueuedAttempt(summary, claim, Math.min(summary.perhapsUntil(), ends.goneBy(summary)), false);
    }
}
