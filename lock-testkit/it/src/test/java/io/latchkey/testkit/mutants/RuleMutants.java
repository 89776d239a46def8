// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in the rules of holding: those that small worlds and shrinking are tried with. PIT makes all others there. */
final class RuleMutants {
    private static final String RECIPE = "internal/recipe/Recipe";
    private static final String SEMAPHORE = "internal/recipe/SemaphoreRule";

    private RuleMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of("wrong predecessor watched", RECIPE, "before.get(before.size() - 1);", "before.get(0);"),
            Mutant.of(
                    "writer ignores readers ahead",
                    RECIPE,
                    "case WRITE -> Recipe::nothingBefore;",
                    "case WRITE -> Recipe::noWriteBefore;"),
            Mutant.of(
                    "reader ignores a writer ahead",
                    RECIPE,
                    "while (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {\n            nearest--;",
                    "if (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {\n            nearest = -1;"),
            Mutant.of(
                    "off by one permit",
                    SEMAPHORE,
                    "(long) capacity - me.permits()",
                    "(long) capacity - me.permits() + 1"),
            Mutant.of("weight ignored", SEMAPHORE, "taken += before.get(i).permits()", "taken++"),
            Mutant.of("own weight ignored", SEMAPHORE, "(long) capacity - me.permits()", "(long) capacity - 1"));
}
