// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.FifoChecker;
import io.latchkey.testkit.check.LeakChecker;
import io.latchkey.testkit.check.LinearizabilityChecker;
import io.latchkey.testkit.check.LivenessChecker;
import io.latchkey.testkit.check.LossChecker;
import io.latchkey.testkit.check.TokenOrderChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.history.HistoryEvent;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** The kit's history checkers over simulated schedules, and how often each has said what. */
final class CheckerSuite {
    /** The maximum time to a grant after all faults have healed: an abandoned session ends within it. */
    private static final Duration SERVED = Duration.ofSeconds(20);
    /** Timers run when they are due; as many steps as there can be at one moment are less than this. */
    private static final Duration ALLOWANCE = Duration.ofMillis(1);

    private static final Duration NEVER = Duration.ofDays(1);
    private static final long SEARCH_STEPS = 20_000;

    /** What one checker has said. */
    private static final class Count {
        private long obeyed;
        private long undecided;
        private long nanos;

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%,d obeyed, %,d undecided, %.1f s", obeyed, undecided, nanos / 1e9);
        }
    }

    private final Map<String, Count> counts = new LinkedHashMap<>();

    /** A checker, and what it says. */
    private interface Check {
        Verdict verdict();
    }

    /**
     * Applies all checkers to a complete schedule.
     *
     * @throws BrokenRuleError if one of them says that its rule is broken
     */
    void judge(World world) {
        ScheduleHistory history = world.history();
        List<HistoryEvent> events = history.events();
        judge("loss", () -> LossChecker.check(events));
        // A paused process responds to no caller.
        Duration still = world.clients().stream()
                .map(Client::stoodStill)
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        judge("time-outs", () -> LivenessChecker.check(events, ALLOWANCE.plus(still), NEVER));
        judge("liveness", () -> LivenessChecker.check(history.eventsOnceHealed(), NEVER, SERVED));
        judge("nothing left", () -> LeakChecker.check(world.left(), Map.of()));
        if (history.isTampered()) {
            // A holder whose node an operator deleted may still find its lease valid: the rules below are about other
            // faults.
            return;
        }
        judge("readers and writers", () -> ExclusionChecker.readWrite().whileSessionsLive(events));
        judge("permits", () -> ExclusionChecker.permits().whileSessionsLive(events));
        if (world.spec().ends() == WorldSpec.Ends.BY_TIME) {
            judge("readers and writers by looks", () -> ExclusionChecker.readWrite()
                    .byTheirOwnLooks(events));
            judge("permits by looks", () -> ExclusionChecker.permits().byTheirOwnLooks(events));
        }
        judge("token order", () -> TokenOrderChecker.check(events));
        judge("first come", () -> FifoChecker.check(events));
        if (world.spec().start() == WorldSpec.Start.WORN_OUT) {
            return; // a path that is created again has the capacity of its first user again, and the model does not
            // know of
            // that
        }
        judge("linearizability", () -> LinearizabilityChecker.check(events, SEARCH_STEPS));
    }

    private void judge(String name, Check check) {
        Count count = counts.computeIfAbsent(name, unused -> new Count());
        long start = System.nanoTime();
        Verdict verdict = check.verdict();
        count.nanos += System.nanoTime() - start;
        if (verdict instanceof Verdict.Broken) {
            throw new BrokenRuleError("the checker of " + name + " has nothing to say", verdict.toString());
        } else if (verdict instanceof Verdict.Obeyed) {
            count.obeyed++;
        } else {
            count.undecided++;
        }
    }

    /** How many schedules the checker found in order. */
    long obeyed(String name) {
        Count count = counts.get(name);
        return count == null ? 0 : count.obeyed;
    }

    Iterable<String> names() {
        return counts.keySet();
    }

    @Override
    public String toString() {
        StringJoiner text = new StringJoiner("\n  ", "  ", "");
        counts.forEach((name, count) -> text.add(name + ": " + count));
        return text.toString();
    }
}
