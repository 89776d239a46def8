// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** A failing property in the simulation shrinks to the fewest turns that the bug needs, and one fault. */
@Tag("once")
class ShrinkingTest {
    private static final String PROPERTIES = "io.latchkey.testkit.jqwik.SimulatedScenarioProperties#";
    private static final String SEED = "latchkey.seed";
    private static final Pattern TURN = Pattern.compile("pause \\d+");
    private static final Pattern FAULT = Pattern.compile("after \\d+ C\\d+");

    /** Each begins with a scenario in which the bug shows: to where another shrinks is its own, so one is named. */
    @TestFactory
    Stream<DynamicTest> toAsFewTurnsAsTheBugNeeds() {
        return Stream.of(
                shrinks("off by one permit", "noRuleIsBroken_byPermits", -1867039239302122409L),
                shrinks("writer ignores readers ahead", "noRuleIsBroken_byReadersAndWriters", 30607499812098240L));
    }

    private static DynamicTest shrinks(String mutant, String property, long seed) {
        return DynamicTest.dynamicTest(mutant, () -> {
            String report = found(MutantCompiler.compile(SeededBugs.named(mutant)), PROPERTIES + property, seed);
            // The faults come last in a scenario, the history behind it has neither.
            assertEquals(2, count(TURN, report), report);
            assertTrue(count(FAULT, report) <= 1, report);
        });
    }

    private static String found(MutantClasses classes, String property, long seed) {
        System.setProperty(SEED, Long.toString(seed));
        try {
            return Judges.byTest(classes, property).orElseThrow(() -> new AssertionError("not found"));
        } finally {
            System.clearProperty(SEED);
        }
    }

    private static long count(Pattern what, String report) {
        return what.matcher(report).results().map(MatchResult::group).count();
    }
}
