// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** Small worlds played in every order find what is wrong in them: what they leave out comes to nothing else. */
@Tag("once")
@Tag("long")
class SmallWorldsTest {
    private static final long MOST_SITUATIONS = 5_000_000;

    private static final List<String> FOUND = List.of(
            "wrong predecessor watched",
            "reader ignores a writer ahead",
            "certificate one short",
            "request kept across sessions",
            "multi-lock in two transactions");

    @TestFactory
    Stream<DynamicTest> mutants() {
        return FOUND.stream()
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    List<?> found = explore(named(name), "");
                    assertFalse(found.isEmpty(), "not found");
                }));
    }

    /** With {@code -Dlatchkey.explore=large}: no reduction hides a bug, each is found in the same world without it. */
    @TestFactory
    Stream<DynamicTest> mutantsWithoutOneReduction() {
        boolean large = "large".equals(System.getProperty("latchkey.explore"));
        Stream<String> reductions = large
                ? Stream.of("TWINS", "MESSAGES_AT_ONCE", "SESSION_ENDS", "UNSEEN_TRANSACTIONS", "LOST_ANYWAY")
                : Stream.empty();
        Mutant mutant = named("reader ignores a writer ahead");
        return reductions.map(reduction -> DynamicTest.dynamicTest(
                reduction,
                () -> assertEquals(
                        explore(mutant, "").get(0), explore(mutant, reduction).get(0))));
    }

    private static Mutant named(String name) {
        List<Mutant> all = Stream.of(
                        RuleMutants.ALL, MachineMutants.ALL, WatchMutants.ALL, LeavingMutants.ALL, TimeMutants.ALL)
                .flatMap(List::stream)
                .filter(mutant -> mutant.name().equals(name))
                .toList();
        assertEquals(1, all.size(), name);
        return all.get(0);
    }

    /** Which world breaks which rule first. */
    private static List<?> explore(Mutant mutant, String without) throws ReflectiveOperationException {
        MutantClasses classes = new MutantClasses(new MutantCompiler().compile(mutant));
        @SuppressWarnings("unchecked") // All that is shared with a mutant's classes is the JDK's.
        Function<Long, List<?>> hunter =
                (Function<Long, List<?>>) classes.loadClass("io.latchkey.testkit.sim.SmallWorldsHunter")
                        .getDeclaredConstructor(String.class)
                        .newInstance(without);
        return hunter.apply(MOST_SITUATIONS);
    }
}
