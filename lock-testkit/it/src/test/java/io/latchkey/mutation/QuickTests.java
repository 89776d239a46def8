// SPDX-License-Identifier: Apache-2.0
package io.latchkey.mutation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.pitest.classpath.CodeSource;
import org.pitest.coverage.BlockLocation;
import org.pitest.coverage.CoverageDatabase;
import org.pitest.coverage.TestInfo;
import org.pitest.mutationtest.build.DefaultTestPrioritiserFactory;
import org.pitest.mutationtest.build.TestPrioritiser;
import org.pitest.mutationtest.build.TestPrioritiserFactory;
import org.pitest.mutationtest.engine.MutationDetails;

/**
 * Gives each mutant the tests that are the likeliest to kill it in little time, for 150 s of tests at most.
 *
 * <p>A changed condition shows in what comes after it in the same method. So a test comes early if it runs a block
 * there that few tests run, and if it is quick.
 */
public final class QuickTests implements TestPrioritiserFactory {
    private static final long MILLIS = 150_000;
    /** How many blocks behind the mutated one are looked at. */
    private static final int BLOCKS = 8;
    /** What any test takes beside its own time. */
    private static final long OVERHEAD_MILLIS = 20;
    /**
     * Tests that fail where others wait for a response, so that a mutant which suppresses one is killed and does not
     * run out of time.
     */
    private static final List<String> FIRST = List.of("SwarmTest");
    /** Tests in this package wait for seconds at most. A few of them come next, for the same reason. */
    private static final String SIMULATION = "[class:io.latchkey.testkit.sim.";

    private static final int FEW = 5;

    @Override
    public String description() {
        return "Tests of rare blocks and quick tests first, up to a bound of time";
    }

    @Override
    public TestPrioritiser makeTestPrioritiser(Properties properties, CodeSource code, CoverageDatabase coverage) {
        TestPrioritiser all = new DefaultTestPrioritiserFactory().makeTestPrioritiser(properties, code, coverage);
        return mutant -> chosen(all.assignTests(mutant), ownTest(mutant), rarity(mutant, coverage));
    }

    /** Returns for each test how many tests run the rarest block that it runs behind the mutated one. */
    private static Map<TestInfo, Integer> rarity(MutationDetails mutant, CoverageDatabase coverage) {
        Map<TestInfo, Integer> rarity = new HashMap<>();
        int first = mutant.getBlocks().get(0);
        for (int i = 0; i <= BLOCKS; i++) {
            Collection<TestInfo> tests = coverage.getTestsForBlockLocation(
                    BlockLocation.blockLocation(mutant.getId().getLocation(), first + i));
            tests.forEach(test -> rarity.merge(test, tests.size(), Math::min));
        }
        return rarity;
    }

    /** Returns what the names of tests of the mutated class alone contain. They come first. */
    private static String ownTest(MutationDetails mutant) {
        return "[class:" + mutant.getClassName().asJavaName().replaceFirst("[$].*", "") + "Test]";
    }

    private static List<TestInfo> chosen(List<TestInfo> all, String ownTest, Map<TestInfo, Integer> rarity) {
        List<TestInfo> chosen = new ArrayList<>();
        long millis = 0;
        List<TestInfo> likeliest = all.stream()
                .sorted(Comparator.comparing(
                        test -> rarity.getOrDefault(test, all.size()) * (test.getTime() + OVERHEAD_MILLIS)))
                .toList();
        Set<TestInfo> ordered = new LinkedHashSet<>();
        likeliest.stream().filter(test -> test.getName().contains(ownTest)).forEach(ordered::add);
        likeliest.stream()
                .filter(test -> FIRST.stream().anyMatch(test.getName()::contains))
                .forEach(ordered::add);
        likeliest.stream()
                .filter(test -> test.getName().contains(SIMULATION))
                .limit(FEW)
                .forEach(ordered::add);
        ordered.addAll(likeliest);
        for (TestInfo test : ordered) {
            millis += test.getTime();
            if (millis > MILLIS && !chosen.isEmpty()) {
                break;
            }
            chosen.add(test);
        }
        return chosen;
    }
}
