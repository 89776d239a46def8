// SPDX-License-Identifier: Apache-2.0
package io.latchkey.mutation;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.pitest.classinfo.ClassByteArraySource;
import org.pitest.help.PitHelpError;
import org.pitest.junit5.JUnit5TestUnit;
import org.pitest.testapi.AbstractTestUnit;
import org.pitest.testapi.Configuration;
import org.pitest.testapi.ResultCollector;
import org.pitest.testapi.TestGroupConfig;
import org.pitest.testapi.TestPluginFactory;
import org.pitest.testapi.TestSuiteFinder;
import org.pitest.testapi.TestUnit;
import org.pitest.testapi.TestUnitFinder;

/**
 * Finds the tests of a class without running them, each method for itself. PIT's own plugin for JUnit 5 runs a whole
 * class to find its tests, and does so in each process that judges mutants.
 */
public final class TestMethods implements TestPluginFactory {
    @Override
    public String description() {
        return "Tests of JUnit 5, found without running them";
    }

    @Override
    public String name() {
        return "judges";
    }

    @Override
    public Configuration createTestFrameworkConfiguration(
            TestGroupConfig groups,
            ClassByteArraySource classes,
            Collection<String> excludedRunners,
            Collection<String> includedMethods) {
        return new Configuration() {
            /** Before all others. */
            @Override
            public int priority() {
                return 0;
            }

            @Override
            public TestUnitFinder testUnitFinder() {
                return (tests, listener) -> tests.getEnclosingClass() == null ? find(tests, groups) : List.of();
            }

            @Override
            public TestSuiteFinder testSuiteFinder() {
                return suite -> List.of();
            }

            @Override
            public Optional<PitHelpError> verifyEnvironment() {
                return Optional.empty();
            }
        };
    }

    private static List<TestUnit> find(Class<?> tests, TestGroupConfig groups) {
        TestPlan plan = LauncherFactory.create()
                .discover(LauncherDiscoveryRequestBuilder.request()
                        .selectors(DiscoverySelectors.selectClass(tests))
                        .filters(TagFilter.excludeTags(groups.getExcludedGroups()))
                        .build());
        return plan.getRoots().stream()
                .flatMap(root -> plan.getDescendants(root).stream())
                .filter(TestMethods::isMethod)
                .map(method -> judge(new JUnit5TestUnit(tests, method)))
                .toList();
    }

    /** Whether it is a method: a test, or one with parameters, whose tests are found only when it runs. */
    private static boolean isMethod(TestIdentifier found) {
        return found.getSource().filter(MethodSource.class::isInstance).isPresent();
    }

    /** PIT takes its own units of JUnit 5 for executed once they are found. */
    private static TestUnit judge(TestUnit method) {
        return new AbstractTestUnit(method.getDescription()) {
            @Override
            public void execute(ResultCollector results) {
                method.execute(results);
            }
        };
    }
}
