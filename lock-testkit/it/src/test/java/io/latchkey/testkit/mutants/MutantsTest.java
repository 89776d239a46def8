// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Each seeded bug is found, by random schedules or by the test that it names, which passes without the bug. It runs
 * only when it is named: {@code mvn -Plong test -Dtest=MutantsTest}. {@code -Dlatchkey.mutants.seconds=30} sets the
 * time of random schedules against a bug; {@code -Dlatchkey.mutants=release} selects bugs whose names contain that
 * regular expression.
 */
@Tag("once")
@Tag("long")
@Tag("alone")
class MutantsTest {
    private static final Duration SCHEDULES = Duration.ofSeconds(Long.getLong("latchkey.mutants.seconds", 30));
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Pattern CHOSEN = Pattern.compile(System.getProperty("latchkey.mutants", ""));

    @TestFactory
    Stream<DynamicTest> seededBugIsFound() {
        return SeededBugs.ALL.stream()
                .filter(bug -> CHOSEN.matcher(bug.name()).find())
                .map(bug -> DynamicTest.dynamicTest(bug.name(), () -> {
                    long start = System.nanoTime();
                    String found = assertTimeoutPreemptively(LIMIT, () -> found(bug));
                    System.out.printf(
                            Locale.ROOT,
                            "%-70s %5.1f s  %.150s%n",
                            bug.name(),
                            (System.nanoTime() - start) / 1e9,
                            found.lines().findFirst().orElse(""));
                }));
    }

    private static String found(Mutant bug) throws Exception {
        MutantClasses classes = MutantCompiler.compile(bug);
        if (bug.test().isEmpty()) {
            return Judges.bySchedules(classes, SCHEDULES).orElseThrow(() -> new AssertionError("not found"));
        }
        String found = Judges.byTest(classes, bug.test()).orElseThrow(() -> new AssertionError("not found"));
        assertEquals(Optional.empty(), Judges.byTest(MutantClasses.unchanged(), bug.test()), "without the bug");
        return bug.test() + ": " + found;
    }
}
