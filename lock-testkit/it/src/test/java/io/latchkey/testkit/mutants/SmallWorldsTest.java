// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The exhaustive search of small worlds catches bugs, though it leaves out equivalent orders. */
@Tag("once")
@Tag("long")
class SmallWorldsTest {
    @ParameterizedTest
    @CsvSource({
        "wrong predecessor watched, nothingBreaks_whenThreeClientsMeet",
        "reader ignores a writer ahead, nothingBreaks_whenThreeClientsMeet",
        "multi-lock in two transactions, nothingBreaks_whenTwoClientsMeet",
        "request kept across sessions, nothingBreaks_whenTwoClientsMeetWithOneFault[1]"
    })
    void seededBugIsFound_whenEveryOrderIsPlayed(String name, String test) {
        MutantClasses classes = MutantCompiler.compile(SeededBugs.named(name));
        assertTrue(Judges.byTest(classes, "io.latchkey.testkit.sim.ExhaustiveTest#" + test)
                .isPresent());
    }
}
