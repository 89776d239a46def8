// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** The seeded bugs fit the code as it is, although the hunt is no part of the build. */
@Tag("once")
class MutantCompilerTest {
    @TestFactory
    Stream<DynamicTest> seededBugAppliesAndCompiles_andItsTestExists() {
        return SeededBugs.ALL.stream()
                .map(bug -> DynamicTest.dynamicTest(bug.name(), () -> {
                    MutantClasses classes = MutantCompiler.compile(bug);
                    if (!bug.test().isEmpty()) {
                        Judges.selector(classes, bug.test());
                    }
                }));
    }
}
