// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import io.latchkey.testkit.sim.ScheduleSearch;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.discovery.MethodSelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Random schedules and tests, run with a copy of the locks. Each returns what it found wrong there. */
final class Judges {
    private static final String SEARCH = "io.latchkey.testkit.sim.ScheduleSearch";
    private static final String FIRST = "[1]";

    private Judges() {}

    /**
     * Random schedules of all mixes: the whole engine over simulated servers. One that fails must pass with the
     * unchanged locks.
     *
     * @param budget the processor's time, so that a busy machine plays as many schedules as an idle one
     */
    static Optional<String> bySchedules(MutantClasses classes, Duration budget) throws ReflectiveOperationException {
        @SuppressWarnings("unchecked") // a mutant's classes share only those of the JDK
        LongFunction<List<String>> search = (LongFunction<List<String>>)
                classes.loadClass(SEARCH).getDeclaredConstructor().newInstance();
        List<String> found = search.apply(budget.toMillis());
        if (found.isEmpty()) {
            return Optional.empty();
        }
        String schedule = "seed " + found.get(2) + " of " + found.get(1);
        String without = ScheduleSearch.play(found.get(1), Long.parseLong(found.get(2)));
        if (!without.isEmpty()) {
            throw new AssertionError(schedule + " fails without the mutant: " + without);
        }
        return Optional.of(found.get(0) + " schedules: " + schedule + ": " + found.get(3));
    }

    /**
     * The message of one test's first failure.
     *
     * @param test {@code TestClass#method}; {@code TestClass#method[1]} is only the first run of a parameterized test
     */
    static Optional<String> byTest(MutantClasses classes, String test) {
        Thread thread = Thread.currentThread();
        ClassLoader former = thread.getContextClassLoader();
        thread.setContextClassLoader(classes);
        try {
            LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                    .selectors(selector(classes, test))
                    .configurationParameter("jqwik.database", "target/jqwik-database")
                    .build();
            SummaryGeneratingListener listener = new SummaryGeneratingListener();
            LauncherFactory.create(LauncherConfig.builder()
                            .enableTestExecutionListenerAutoRegistration(false)
                            .enableLauncherSessionListenerAutoRegistration(false)
                            .enablePostDiscoveryFilterAutoRegistration(false)
                            .build())
                    .execute(request, listener);
            if (listener.getSummary().getTestsStartedCount() == 0) {
                throw new AssertionError("not started: " + test);
            }
            return listener.getSummary().getFailures().stream()
                    .findFirst()
                    .map(failure -> String.valueOf(failure.getException()));
        } finally {
            thread.setContextClassLoader(former);
        }
    }

    /** Fails unless there is such a test. */
    static DiscoverySelector selector(MutantClasses classes, String test) {
        int end = test.indexOf('#');
        String name = test.substring(end + 1).replace(FIRST, "");
        try {
            Class<?> of = classes.loadClass(test.substring(0, end));
            Method named = Arrays.stream(of.getDeclaredMethods())
                    .filter(method -> method.getName().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("there is no test " + test));
            MethodSelector method = DiscoverySelectors.selectMethod(of, named);
            return test.endsWith(FIRST) ? DiscoverySelectors.selectIteration(method, 0) : method;
        } catch (ClassNotFoundException e) {
            throw new AssertionError("there is no test class of " + test, e);
        }
    }
}
