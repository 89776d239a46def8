// SPDX-License-Identifier: Apache-2.0
package io.latchkey.mutation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import org.pitest.classpath.CodeSource;
import org.pitest.coverage.CoverageDatabase;
import org.pitest.coverage.TestInfo;
import org.pitest.mutationtest.build.DefaultTestPrioritiserFactory;
import org.pitest.mutationtest.build.TestPrioritiser;
import org.pitest.mutationtest.build.TestPrioritiserFactory;

/**
 * Gives each mutant the quickest of the tests that run its code, for 90 s at most. Code that many tests run has quick
 * ones among them; for code that few run, the slow ones are asked as well.
 */
public final class QuickTests implements TestPrioritiserFactory {
    private static final long MILLIS = 90_000;
    /**
     * Tests that fail where others wait for a response, so that a mutant which suppresses one is killed and does not
     * run out of time.
     */
    private static final List<String> FIRST = List.of("DifferentialTest", "SwarmTest");

    @Override
    public String description() {
        return "Quickest tests first, up to a bound of time";
    }

    @Override
    public TestPrioritiser makeTestPrioritiser(Properties properties, CodeSource code, CoverageDatabase coverage) {
        TestPrioritiser all = new DefaultTestPrioritiserFactory().makeTestPrioritiser(properties, code, coverage);
        return mutant -> cheapest(all.assignTests(mutant));
    }

    private static List<TestInfo> cheapest(List<TestInfo> inOrder) {
        List<TestInfo> cheapest = new ArrayList<>();
        long millis = 0;
        List<TestInfo> ordered = inOrder.stream()
                .sorted(Comparator.comparing(test -> FIRST.stream().noneMatch(test.getName()::contains)))
                .toList();
        for (TestInfo test : ordered) {
            millis += test.getTime();
            if (millis > MILLIS && !cheapest.isEmpty()) {
                break;
            }
            cheapest.add(test);
        }
        return cheapest;
    }
}
