// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.base.Suppliers;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * What is left out comes to nothing else: without any one of the reductions, and without all, clients come to the same
 * histories with the same holds beside each other.
 */
@Tag("once")
@Tag("long")
class ReductionsTest {
    private static final long MOST = 5_000_000;

    @TestFactory
    Stream<DynamicTest> ofAMutexWithOneFault() {
        return tests(SmallWorlds.TWO_CLIENTS.get(0).apply(1));
    }

    @TestFactory
    Stream<DynamicTest> ofAReadWriteLockWithOneFault() {
        return tests(SmallWorlds.TWO_CLIENTS.get(1).apply(1));
    }

    private static Stream<DynamicTest> tests(Scenario scenario) {
        // Which histories there are is seen where none stands for another.
        Supplier<Set<String>> all =
                Suppliers.memoize(() -> moments(scenario, Reduction.without(Reduction.HISTORIES_ALIKE)));
        Stream<DynamicTest> each = Arrays.stream(Reduction.values())
                .filter(one -> one != Reduction.HISTORIES_ALIKE)
                .map(one -> test("without " + one, all, scenario, Reduction.without(Reduction.HISTORIES_ALIKE, one)));
        return Stream.concat(
                each,
                Stream.of(
                        test("without all", all, scenario, Set.of()),
                        DynamicTest.dynamicTest("without " + Reduction.HISTORIES_ALIKE, () -> compareEnds(scenario))));
    }

    private static DynamicTest test(
            String name, Supplier<Set<String>> all, Scenario scenario, Set<Reduction> reductions) {
        return DynamicTest.dynamicTest(name, () -> assertEquals(all.get(), moments(scenario, reductions)));
    }

    /** However a history came to its end: the same nodes are there, and the same is held beside each other. */
    private static void compareEnds(Scenario scenario) {
        assertEquals(
                Moment.ends(scenario, MOST, Reduction.without(Reduction.HISTORIES_ALIKE)),
                Moment.ends(scenario, MOST, Reduction.ALL));
    }

    private static Set<String> moments(Scenario scenario, Set<Reduction> reductions) {
        return Moment.all(scenario, MOST, reductions).stream()
                .map(Moment::withoutNames)
                .collect(Collectors.toSet());
    }
}
