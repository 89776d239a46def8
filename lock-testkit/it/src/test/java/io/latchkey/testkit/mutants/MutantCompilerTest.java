// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The seeded bugs fit the code as it is: a change of a line that has one is noticed before the long tests. */
@Tag("once")
class MutantCompilerTest {
    @Test
    void everySeededBugApplies() {
        assertAll(MutantsTest.ALL.stream()
                .map(mutant -> () -> assertFalse(MutantCompiler.changed(mutant).isEmpty(), mutant.name())));
    }

    @Test
    void everySeededBugCompiles() {
        new MutantCompiler().compileAll(MutantsTest.ALL);
    }

    @Test
    void everyNamedTestExists() {
        assertAll(MutantsTest.ALL.stream()
                .flatMap(mutant -> mutant.tests().stream())
                .map(test -> () -> TestsKiller.selector(MutantClasses.unchanged(), test)));
    }
}
