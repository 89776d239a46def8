// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.LockClaim;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Checks linearizability: whether there is a sequential order of all operations of the clients, each taking effect
 * between its call and its return, that the model of the lock allows. The kinds: mutex, read-write lock, semaphore,
 * several paths at once. Each path is judged alone, or with those that multi-locks connect it to.
 *
 * <p>These are the operations:
 *
 * <ul>
 *   <li>Acquire, from the request to the grant. An attempt without a grant had no effect.
 *   <li>Release, from its beginning to its end; without an end if that is unknown. A lost hold ends at any time after
 *       its client's last check, or after its session may have ended.
 *   <li>Refusal: {@code tryAcquire()} with an empty result that no fault, lost lease or waiter can have caused. The
 *       model requires that the lock was held then.
 *   <li>A {@linkplain History#downgrade downgrade}, and a {@linkplain History#resize resize}.
 * </ul>
 *
 * <p>Grants to sessions that had ended are left out, as in {@link ExclusionChecker#whileSessionsLive}. If the certain
 * operations have no order, the rule is broken. If they have one only when holds end early, and grants of unknown
 * sessions count, the verdict is undecided. It is also undecided if the search does not end within a number of steps:
 * the caller's, or a million for each group of paths; and if there is no order where a semaphore was resized while a
 * multi-lock waited at it: it may have got its permits before the resize and its other members after it, and the model
 * has no state in between. The order of requests plays no part; that is the {@link FifoChecker}'s.
 *
 * <p>How many permits a semaphore has at first is the largest number in its claims. If it has fewer than that, too many
 * holders may go unseen; where a resize is recorded, refusals are not judged for the same reason.
 */
public final class LinearizabilityChecker {
    private static final long STEPS = 1_000_000;
    private static final int SHOWN = 4;

    private final Findings findings;
    private final Operations operations;
    private final Function<List<Attempt.Summary>, SequentialModel<?>> models;
    private final long mostSteps;

    /**
     * @param holders under which name an attempt holds
     * @param models that of a group of attempts
     */
    private LinearizabilityChecker(
            String rule,
            List<HistoryEvent> events,
            Function<Attempt.Summary, String> holders,
            Function<List<Attempt.Summary>, SequentialModel<?>> models,
            long mostSteps) {
        findings = new Findings(rule, events);
        operations = new Operations(events, holders);
        this.models = models;
        this.mostSteps = mostSteps;
    }

    /**
     * {@return whether every lock of the history keeps the rule, as far as a million steps for each group of paths can
     * tell}
     *
     * @param history as it is now
     */
    public static Verdict check(History history) {
        return check(history.events(), STEPS);
    }

    /**
     * {@return the same, of events from elsewhere}
     *
     * @param events in order of time
     * @param mostSteps how many times the search for each group of paths may try an operation
     */
    public static Verdict check(List<HistoryEvent> events, long mostSteps) {
        return new LinearizabilityChecker(
                        "one thing at a time",
                        events,
                        summary -> "#" + summary.attempt(),
                        group -> new LocksModel(capacities(group)),
                        mostSteps)
                .verdict();
    }

    /**
     * {@return whether the {@linkplain History#recordedView views} of the history keep the rule, as re-entrant mutexes}
     *
     * @param history as it is now
     */
    public static Verdict ofViews(History history) {
        return ofViews(history.events(), STEPS);
    }

    /**
     * {@return the same, of events from elsewhere} The name of the client stands for the thread.
     *
     * @param events in order of time
     * @param mostSteps how many times the search for each group of paths may try an operation
     */
    public static Verdict ofViews(List<HistoryEvent> events, long mostSteps) {
        return new LinearizabilityChecker(
                        "one thing at a time, re-entrant",
                        events,
                        Attempt.Summary::client,
                        group -> new ReentrantMutexModel(),
                        mostSteps)
                .verdict();
    }

    private Verdict verdict() {
        List<Attempt.Summary> summaries = Attempt.Summary.of(findings.events());
        ConnectedPaths.group(summaries).forEach(this::check);
        return findings.verdict(
                (int) summaries.stream().filter(Attempt.Summary::isGranted).count());
    }

    private void check(String path, List<Attempt.Summary> group) {
        Outcome sure = search(group, Operations.Count.SURE);
        if (sure instanceof Outcome.Impossible impossible) {
            boolean oneByOne = group.stream().anyMatch(summary -> waitedDuringAResize(summary, group));
            found(path, impossible, group, oneByOne ? findings::open : findings::broken);
        } else if (sure instanceof Outcome.GaveUp gaveUp) {
            findings.open(path + ": no order found within " + gaveUp.steps() + " steps, and none excluded");
        } else {
            Outcome strict = search(group, Operations.Count.PERHAPS);
            if (strict instanceof Outcome.Impossible impossible) {
                found(path, impossible, group, findings::open);
            } else if (strict instanceof Outcome.GaveUp gaveUp) {
                findings.open(path + ": no order found within " + gaveUp.steps() + " steps, and none excluded");
            }
        }
    }

    private static boolean waitedDuringAResize(Attempt.Summary multi, List<Attempt.Summary> group) {
        return multi.claims().size() > 1
                && multi.isGranted()
                && group.stream()
                        .filter(other -> other.resizing() < multi.granted() && other.resized() > multi.requested())
                        .flatMap(resize -> resize.claims().stream())
                        .anyMatch(resized -> multi.claims().stream()
                                .anyMatch(claim -> claim.path().equals(resized.path())));
    }

    private Outcome search(List<Attempt.Summary> group, Operations.Count count) {
        return WingGongSearch.run(models.apply(group), operations.of(group, count), mostSteps);
    }

    private static Map<String, Integer> capacities(List<Attempt.Summary> group) {
        Map<String, Integer> capacities = new HashMap<>();
        for (Attempt.Summary summary : group) {
            for (LockClaim claim : summary.isAsked() ? summary.claims() : List.<LockClaim>of()) {
                if (claim instanceof LockClaim.Permits some) {
                    capacities.merge(some.path(), some.of(), Math::max);
                }
            }
        }
        return capacities;
    }

    private static void found(
            String path, Outcome.Impossible impossible, List<Attempt.Summary> group, Findings.Report report) {
        Operation stuck = impossible.stuck();
        Set<Long> attempts = new HashSet<>(Set.of(stuck.attempt()));
        // The holders in the state in which the search is stuck have begun but not ended.
        group.stream()
                .filter(Attempt.Summary::isGranted)
                .filter(summary -> summary.granted() <= stuck.end()
                        && Math.max(summary.perhapsUntil(), summary.granted()) >= stuck.call())
                .limit(2 * SHOWN)
                .forEach(summary -> attempts.add(summary.attempt()));
        impossible.last().stream()
                .skip(Math.max(0, impossible.last().size() - 2))
                .forEach(operation -> attempts.add(operation.attempt()));
        report.add(
                String.format(
                        Locale.ROOT,
                        "%s: no order explains that %s between %.3f and %.3f ms; the best reached %s, after %s",
                        path,
                        stuck.action(),
                        stuck.call() / 1e6,
                        stuck.end() / 1e6,
                        impossible.state(),
                        impossible.last().stream()
                                .skip(Math.max(0, impossible.last().size() - SHOWN))
                                .map(operation -> operation.action().toString())
                                .collect(Collectors.joining(", "))),
                attempts,
                stuck.call(),
                stuck.end());
    }
}
