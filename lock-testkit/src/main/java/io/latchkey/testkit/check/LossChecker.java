// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Checks that a loss is reported once and is final: no loss is reported twice, no lease is found valid or released
 * cleanly after the report, and none is lost before it was granted.
 *
 * <p>A release or a check that finds its lease lost is a response to the holder, not a report. Whether a loss is
 * reported <em>before</em> the same client is granted the lock again is decided only if the holder of the former lease
 * checks it after the later grant; notifications on two threads have no order otherwise. Whether a loss is reported
 * <em>at all</em> is undecided if the record ends before it: the session of a hold has certainly ended, and the hold
 * was neither released nor reported lost. There is no bound on the delay of a report: record until all reports must
 * have been made.
 */
public final class LossChecker {
    private static final String RULE = "a loss is reported once and is final";

    private final Findings findings;

    private LossChecker(List<HistoryEvent> events) {
        findings = new Findings(RULE, events);
    }

    /**
     * {@return whether every hold of the history keeps the rule}
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
        return new LossChecker(events).verdict();
    }

    private Verdict verdict() {
        Map<Long, Integer> told = new HashMap<>();
        for (HistoryEvent event : findings.events()) {
            if (event.isLossTold() && told.merge(event.attempt(), 1, Integer::sum) == 2) {
                findings.broken(
                        event.client() + " #" + event.attempt() + " was notified twice of its loss",
                        Set.of(event.attempt()),
                        event.nanos(),
                        event.nanos());
            }
        }
        List<Attempt.Summary> summaries = Attempt.Summary.of(findings.events());
        summaries.stream()
                .filter(summary -> summary.lost() != Attempt.Summary.NEVER)
                .forEach(this::checkFinal);
        Map<Long, HistoryEvent> ends = ends();
        summaries.stream().filter(Attempt.Summary::isGranted).forEach(summary -> checkTold(summary, ends));
        return findings.verdict(
                (int) summaries.stream().filter(Attempt.Summary::isGranted).count());
    }

    private void checkFinal(Attempt.Summary summary) {
        Set<Long> attempt = Set.of(summary.attempt());
        if (summary.lastLook() != Attempt.Summary.NEVER && summary.lastLook() > summary.lost()) {
            findings.broken(
                    summary.name() + " was found valid after its loss was reported",
                    attempt,
                    summary.lost(),
                    summary.lastLook());
        }
        if (summary.released() != Attempt.Summary.NEVER && summary.releasing() > summary.lost()) {
            findings.broken(
                    summary.name() + " was released cleanly after its loss was reported",
                    attempt,
                    summary.lost(),
                    summary.released());
        }
        if (!summary.isGranted() || summary.lost() < summary.granted()) {
            findings.broken(
                    summary.name() + " was reported lost before it was granted",
                    attempt,
                    summary.lost(),
                    summary.lost());
        }
    }

    private void checkTold(Attempt.Summary summary, Map<Long, HistoryEvent> ends) {
        HistoryEvent end = ends.get(summary.session());
        boolean unended = summary.lost() == Attempt.Summary.NEVER && summary.releasing() == Attempt.Summary.NEVER;
        if (unended && end != null) {
            findings.open(
                    summary.name() + " has not been notified of its loss yet",
                    Set.of(summary.attempt()),
                    end.nanos(),
                    end.nanos());
        }
    }

    /** The first news of its end, by session. */
    private Map<Long, HistoryEvent> ends() {
        Map<Long, HistoryEvent> ends = new HashMap<>();
        for (HistoryEvent event : findings.events()) {
            if (event.type() == EventType.SESSION_ENDED && event.session() != 0) {
                ends.putIfAbsent(event.session(), event);
            }
        }
        return ends;
    }
}
