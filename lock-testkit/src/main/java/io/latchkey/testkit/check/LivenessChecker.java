// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import io.latchkey.testkit.history.LockClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks that every attempt ends within its promised time.
 *
 * <ul>
 *   <li>A timed attempt ends within its timeout and an allowance, whatever fails. An attempt that does not wait
 *       ({@code tryAcquire()}) ends within {@code served}.
 *   <li>Where all that wait on a path could hold beside those that hold there, one of them is granted within
 *       {@code served}, counted from when that became so, from the last grant, from the last that left, or from the
 *       last fault, whichever was latest.
 * </ul>
 *
 * <p>The caller sets both bounds: the checker adds nothing for a busy machine. Locks of a dead client are free when the
 * server has ended its session, so {@code served} has to be longer than a session's timeout where sessions end or
 * connections are lost. The end of a session and a {@linkplain History#note note} of a client count as faults.
 *
 * <p>A semaphore that was {@linkplain History#resize resized} counts with the smallest number of permits it ever had.
 *
 * <p>An attempt that has not ended at the end of the record is undecided as long as it is within its bound or another
 * attempt may hold the lock; the finding names it with the other waiters. Paths that multi-locks connect are judged
 * together: a request on one of them may wait for something on another. So where such a group is never free as a whole,
 * the checker cannot detect a waiter that is never woken before the end of the record. It does not check the order of
 * grants; that is the {@link FifoChecker}'s question.
 */
public final class LivenessChecker {
    private static final String RULE = "every attempt ends when promised";

    private final Findings findings;
    private final List<Attempt.Summary> summaries;
    private final long allowance;
    private final long served;
    private final long end;
    private final Map<String, Integer> smallest = new HashMap<>();

    private LivenessChecker(List<HistoryEvent> events, Duration allowance, Duration served, long end) {
        this.findings = new Findings(RULE, events);
        this.summaries = Attempt.Summary.of(events).stream()
                .filter(Attempt.Summary::isAsked)
                .toList();
        this.allowance = allowance.toNanos();
        this.served = served.toNanos();
        this.end = end;
        for (HistoryEvent event : events) {
            if (event.type() == EventType.RESIZING) {
                for (LockClaim claim : event.claims()) {
                    smallest.merge(claim.path(), ((LockClaim.Permits) claim).of(), Math::min);
                }
            }
        }
    }

    /**
     * {@return whether every attempt of the history keeps the rule until now}
     *
     * @param history as it is now
     * @param allowance the maximum time by which an attempt may exceed its timeout
     * @param served the maximum time to a grant where all waiters may hold
     */
    public static Verdict check(History history, Duration allowance, Duration served) {
        return new LivenessChecker(history.events(), allowance, served, history.now()).verdict();
    }

    /**
     * {@return the same for the given events} The record ends with the last of them.
     *
     * @param events in order of time
     * @param allowance the maximum time by which an attempt may exceed its timeout
     * @param served the maximum time to a grant where all waiters may hold
     */
    public static Verdict check(List<HistoryEvent> events, Duration allowance, Duration served) {
        long end = events.stream().mapToLong(HistoryEvent::nanos).max().orElse(0);
        return new LivenessChecker(events, allowance, served, end).verdict();
    }

    private Verdict verdict() {
        summaries.forEach(this::checkTime);
        Map<String, List<Attempt.Summary>> groups = ConnectedPaths.group(summaries);
        groups.values().forEach(this::checkService);
        return findings.verdict(
                (int) summaries.stream().filter(Attempt.Summary::isGranted).count());
    }

    // An attempt's own time

    private void checkTime(Attempt.Summary summary) {
        Optional<Duration> patience = summary.patience();
        if (patience.isEmpty()) {
            return;
        }
        long bound = patience.get().isZero() ? served : nanos(patience.get()) + allowance;
        long late = Math.min(summary.answered(), end) - summary.requested() - bound;
        if (late > 0) {
            findings.broken(
                    String.format(
                            Locale.ROOT,
                            "%s had %.3f ms and %s %.3f ms later than promised",
                            summary.name(),
                            nanos(patience.get()) / 1e6,
                            summary.answered() == Attempt.Summary.NEVER ? "has not ended" : "ended",
                            late / 1e6),
                    Set.of(summary.attempt()),
                    summary.requested() + bound,
                    Math.min(summary.answered(), end));
        }
    }

    /** No attempt of a history has as long as this. */
    private static long nanos(Duration patience) {
        return Math.min(patience.toSeconds(), Integer.MAX_VALUE) * 1_000_000_000L + patience.toNanosPart();
    }

    // Service

    private record Step(long nanos, Kind kind, Optional<Attempt.Summary> summary) {}

    /** In the order in which they count if they happen at once. */
    private enum Kind {
        GONE,
        ASKED,
        GRANTED,
        LEFT,
        FAULT,
        END
    }

    private List<Step> steps(List<Attempt.Summary> group) {
        List<Step> steps = new ArrayList<>();
        for (Attempt.Summary summary : group) {
            steps.add(new Step(summary.requested(), Kind.ASKED, Optional.of(summary)));
            if (summary.isGranted()) {
                steps.add(new Step(summary.granted(), Kind.GRANTED, Optional.of(summary)));
                long let = summary.released() == Attempt.Summary.NEVER ? summary.perhapsUntil() : summary.released();
                long gone = Math.max(summary.granted(), let);
                if (gone != Attempt.Summary.NEVER) {
                    steps.add(new Step(gone, gone == summary.granted() ? Kind.LEFT : Kind.GONE, Optional.of(summary)));
                }
            } else if (summary.gaveUp() != Attempt.Summary.NEVER) {
                steps.add(new Step(summary.gaveUp(), Kind.LEFT, Optional.of(summary)));
            }
        }
        for (HistoryEvent event : findings.events()) {
            boolean fault = event.attempt() == 0
                    && (event.type() == EventType.SESSION_ENDING
                            || event.type() == EventType.SESSION_ENDED
                            || event.type() == EventType.NOTE);
            if (fault || event.type() == EventType.RESIZED) {
                steps.add(new Step(event.nanos(), Kind.FAULT, Optional.empty()));
            }
        }
        steps.add(new Step(end, Kind.END, Optional.empty()));
        steps.sort(Comparator.comparingLong(Step::nanos).thenComparing(Step::kind));
        return steps;
    }

    /** The waiters and possible holders of a path, and the time since when a grant is due. */
    private void checkService(List<Attempt.Summary> group) {
        Map<Long, Attempt.Summary> waiting = new HashMap<>();
        Map<Long, Attempt.Summary> holding = new HashMap<>();
        boolean free = false;
        long since = 0;
        for (Step step : steps(group)) {
            if (free && step.nanos() - since > served) {
                sleptOn(waiting.values(), since, step.nanos());
                since = Attempt.Summary.NEVER; // told once, until something happens
            }
            step.summary().ifPresent(summary -> {
                switch (step.kind()) {
                    case ASKED -> waiting.put(summary.attempt(), summary);
                    case GRANTED -> {
                        waiting.remove(summary.attempt());
                        holding.put(summary.attempt(), summary);
                    }
                    default -> {
                        waiting.remove(summary.attempt());
                        holding.remove(summary.attempt());
                    }
                }
            });
            boolean now = !waiting.isEmpty() && allFit(waiting.values(), holding.values());
            if (now && (!free || step.kind() != Kind.ASKED)) {
                since = step.nanos();
            }
            free = now;
        }
        for (Attempt.Summary left : waiting.values()) {
            Set<Long> beside = new HashSet<>(holding.keySet());
            beside.add(left.attempt());
            String whom = holding.values().stream().map(Attempt.Summary::name).collect(Collectors.joining(", "));
            findings.open(
                    left.name() + " still waits at the end of the record"
                            + (whom.isEmpty() ? ", and there is no holder" : ", while these may hold: " + whom),
                    beside,
                    left.requested(),
                    end);
        }
    }

    private void sleptOn(Iterable<Attempt.Summary> waiting, long since, long until) {
        Set<Long> attempts = new HashSet<>();
        List<String> names = new ArrayList<>();
        for (Attempt.Summary summary : waiting) {
            attempts.add(summary.attempt());
            names.add(summary.name());
        }
        findings.broken(
                String.format(
                        Locale.ROOT,
                        "%s: could hold and not one was granted for %.3f ms",
                        String.join(", ", names),
                        (until - since) / 1e6),
                attempts,
                since,
                until);
    }

    private boolean allFit(Iterable<Attempt.Summary> waiting, Iterable<Attempt.Summary> holding) {
        Map<String, List<LockClaim>> held = new HashMap<>();
        for (Attempt.Summary holder : holding) {
            holder.claims().forEach(claim -> held.computeIfAbsent(claim.path(), path -> new ArrayList<>())
                    .add(claim));
        }
        for (Attempt.Summary summary : waiting) {
            for (LockClaim claim : summary.claims()) {
                List<LockClaim> beside = held.get(claim.path());
                if (beside != null && !LocksModel.fits(claim, beside, fewest(claim))) {
                    return false;
                }
            }
        }
        return true;
    }

    /** The smallest number of permits that the path ever had. */
    private int fewest(LockClaim claim) {
        return claim instanceof LockClaim.Permits some
                ? Math.min(some.of(), smallest.getOrDefault(some.path(), Integer.MAX_VALUE))
                : 0;
    }
}
