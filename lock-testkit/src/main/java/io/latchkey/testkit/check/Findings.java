// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.report.Timeline;
import io.latchkey.testkit.report.Timeline.Evidence;
import io.latchkey.testkit.report.Timeline.Evidence.Spot;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What a checker has found so far, each with its timeline, and the verdict that follows. */
final class Findings {
    /**
     * A history that breaks its rule at every step does so in the same way. Thousands of timelines would not be
     * readable.
     */
    private static final int WITH_TIMELINE = 20;

    private final String rule;
    private final List<HistoryEvent> events;
    private final List<String> broken = new ArrayList<>();
    private final List<Spot> brokenAt = new ArrayList<>();
    private final List<String> open = new ArrayList<>();
    private final List<Spot> openAt = new ArrayList<>();

    /** One of the ways in which attempts are found. */
    @FunctionalInterface
    interface Report {
        void add(String text, Set<Long> attempts, long from, long to);
    }

    Findings(String rule, List<HistoryEvent> events) {
        this.rule = rule;
        this.events = List.copyOf(events);
    }

    String rule() {
        return rule;
    }

    List<HistoryEvent> events() {
        return events;
    }

    /** The rule is broken for certain by these attempts in this time. */
    void broken(String text, Set<Long> attempts, long from, long to) {
        add(text, new Spot(attempts, from, Math.max(from, to)), broken, brokenAt);
    }

    /** What these attempts did leaves open whether the rule is broken. */
    void open(String text, Set<Long> attempts, long from, long to) {
        add(text, new Spot(attempts, from, Math.max(from, to)), open, openAt);
    }

    /** The history as a whole leaves it open. */
    void open(String text) {
        open.add(text);
    }

    private void add(String text, Spot spot, List<String> texts, List<Spot> spots) {
        boolean drawn = texts.size() < WITH_TIMELINE;
        texts.add(drawn ? text + ":\n" + new Timeline(events, spot) : text);
        spots.add(spot);
    }

    /** @param grants how many grants were looked at */
    Verdict verdict(int grants) {
        if (!broken.isEmpty()) {
            return new Verdict.Broken(rule, grants, List.copyOf(broken), evidence(brokenAt));
        }
        return open.isEmpty()
                ? new Verdict.Obeyed(rule, grants)
                : new Verdict.Undecided(rule, grants, List.copyOf(open), evidence(openAt));
    }

    private Evidence evidence(List<Spot> spots) {
        return new Evidence(events, List.copyOf(spots), "");
    }
}
