// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.discovery.MethodSelector;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Tests that run together. A failure counts only if the same test fails again by itself. A timed-out test counts only
 * if it also passes right afterwards with the unchanged locks, since the machine may be slow.
 *
 * @param tests {@code TestClass} or {@code TestClass#method}, in the package {@code io.latchkey.zk} unless another is
 *     named; {@code TestClass#method[1]} is only the first run of a parameterized test
 * @param settings of JUnit and jqwik
 * @param withoutTags tests with one of these tags are left out
 */
record TestsKiller(List<String> tests, Map<String, String> settings, List<String> withoutTags) implements Killer {
    private static final String FIRST = "[1]";
    private static final String METHOD = "#";
    private static final List<String> WITHOUT_LONGEST = List.of("once");
    private static final String DATABASE = "jqwik.database";
    private static final String DATABASE_PLACE = "target/jqwik-database";
    /** The run has no time-outs on a busy machine. But a bug may keep a test from its end, and so all later judges. */
    private static final String TIMEOUTS = "junit.jupiter.execution.timeout.mode";

    TestsKiller(String test) {
        this(List.of(test), Map.of(), List.of());
    }

    TestsKiller {
        Map<String, String> all = new HashMap<>(settings);
        all.put(DATABASE, DATABASE_PLACE);
        settings = Map.copyOf(all);
    }

    /** A general judge: its tests wait for the simulation, whose sessions a busy machine does not stretch. */
    static TestsKiller onTheSimulation(String test) {
        return new TestsKiller(List.of(test), Map.of(TIMEOUTS, "enabled"), WITHOUT_LONGEST);
    }

    /** Tests of lock-zk, among them those of errors that are logged, for which the kit's extensions fail a test. */
    static TestsKiller ofTheirOwnModule(List<String> tests) {
        return new TestsKiller(
                tests,
                Map.of(TIMEOUTS, "enabled", "junit.jupiter.extensions.autodetection.enabled", "false"),
                WITHOUT_LONGEST);
    }

    @Override
    public Optional<Kill> kill(MutantClasses classes) {
        return run(classes, tests.stream().map(test -> selector(classes, test)).toList()).stream()
                .filter(failure -> isConfirmed(failure, classes))
                .findFirst()
                .map(failure -> new Kill(
                        failure.getTestIdentifier().getLegacyReportingName(), String.valueOf(failure.getException())));
    }

    private boolean isConfirmed(TestExecutionSummary.Failure failure, MutantClasses classes) {
        List<DiscoverySelector> alone = List.of(
                DiscoverySelectors.selectUniqueId(failure.getTestIdentifier().getUniqueId()));
        boolean waited = waitedInVain(failure.getException());
        List<TestExecutionSummary.Failure> again = run(waited ? MutantClasses.unchanged() : classes, alone);
        boolean confirmed = waited == again.isEmpty();
        if (!confirmed) {
            System.out.println("Not counted: " + failure.getTestIdentifier().getLegacyReportingName() + ": "
                    + failure.getException()
                    + (waited
                            ? "; with the unchanged locks it fails as well: "
                                    + again.get(0).getException()
                            : "; by itself it passes"));
        }
        return confirmed;
    }

    private List<TestExecutionSummary.Failure> run(MutantClasses classes, List<DiscoverySelector> selectors) {
        Thread thread = Thread.currentThread();
        ClassLoader former = thread.getContextClassLoader();
        thread.setContextClassLoader(classes);
        try {
            LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
                    .selectors(selectors)
                    .configurationParameters(settings);
            if (!withoutTags.isEmpty()) {
                request.filters(TagFilter.excludeTags(withoutTags));
            }
            SummaryGeneratingListener listener = new SummaryGeneratingListener();
            LauncherFactory.create(LauncherConfig.builder()
                            .enableTestExecutionListenerAutoRegistration(false)
                            .enableLauncherSessionListenerAutoRegistration(false)
                            .enablePostDiscoveryFilterAutoRegistration(false)
                            .build())
                    .execute(request.build(), listener);
            if (listener.getSummary().getTestsStartedCount() == 0) {
                throw new AssertionError("no test among " + tests + ": "
                        + listener.getSummary().getFailures().stream()
                                .map(failure -> failure.getException())
                                .toList());
            }
            return listener.getSummary().getFailures();
        } finally {
            thread.setContextClassLoader(former);
        }
    }

    private static boolean waitedInVain(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof TimeoutException
                    || String.valueOf(cause.getMessage()).startsWith("not within")) {
                return true;
            }
        }
        return false;
    }

    /** Fails unless there is such a test. */
    static DiscoverySelector selector(MutantClasses classes, String test) {
        if (!test.contains(METHOD)) {
            return DiscoverySelectors.selectClass(testClass(classes, test));
        }
        MethodSelector method = DiscoverySelectors.selectMethod(testClass(classes, test), testMethod(classes, test));
        return test.endsWith(FIRST) ? DiscoverySelectors.selectIteration(method, 0) : method;
    }

    private static Class<?> testClass(MutantClasses classes, String test) {
        String name = test.replaceFirst(METHOD + ".*", "");
        try {
            return classes.loadClass(name.contains(".") ? name : "io.latchkey.zk." + name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError("there is no test class " + name, e);
        }
    }

    private static Method testMethod(MutantClasses classes, String test) {
        String name = test.substring(test.indexOf(METHOD) + 1).replace(FIRST, "");
        return Arrays.stream(testClass(classes, test).getDeclaredMethods())
                .filter(method -> method.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no test " + test));
    }
}
