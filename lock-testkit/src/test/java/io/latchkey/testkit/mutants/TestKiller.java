// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.discovery.MethodSelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * One of the kit's own tests.
 *
 * @param test {@code TestClass#method}, of the package {@code io.latchkey.zk} unless it says another; {@code TestClass#method[1]} is
 *     only the first run of a parameterized one
 */
record TestKiller(String test) implements Killer {
    private static final String FIRST = "[1]";

    @Override
    public Optional<Kill> kill(MutantClasses classes) {
        TestExecutionSummary summary = run(classes);
        if (summary.getTestsStartedCount() == 0) {
            throw new AssertionError("there is no test " + test + ": "
                    + summary.getFailures().stream()
                            .map(failure -> failure.getException())
                            .toList());
        }
        return summary.getFailures().stream()
                .findFirst()
                .map(failure -> new Kill(test, "", String.valueOf(failure.getException())));
    }

    private TestExecutionSummary run(MutantClasses classes) {
        Thread thread = Thread.currentThread();
        ClassLoader former = thread.getContextClassLoader();
        thread.setContextClassLoader(classes);
        try {
            LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                    .selectors(selector(classes))
                    .configurationParameters(Map.of("jqwik.database", "target/jqwik-database"))
                    .build();
            SummaryGeneratingListener listener = new SummaryGeneratingListener();
            LauncherFactory.create(LauncherConfig.builder()
                            .enableTestExecutionListenerAutoRegistration(false)
                            .enableLauncherSessionListenerAutoRegistration(false)
                            .enablePostDiscoveryFilterAutoRegistration(false)
                            .build())
                    .execute(request, listener);
            return listener.getSummary();
        } finally {
            thread.setContextClassLoader(former);
        }
    }

    private DiscoverySelector selector(MutantClasses classes) {
        MethodSelector method = DiscoverySelectors.selectMethod(testClass(classes), testMethod(classes));
        return test.endsWith(FIRST) ? DiscoverySelectors.selectIteration(method, 0) : method;
    }

    private Class<?> testClass(MutantClasses classes) {
        String name = test.substring(0, test.indexOf('#'));
        try {
            return classes.loadClass(name.contains(".") ? name : "io.latchkey.zk." + name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError("there is no test class " + name, e);
        }
    }

    private Method testMethod(MutantClasses classes) {
        String name = test.substring(test.indexOf('#') + 1).replace(FIRST, "");
        return Arrays.stream(testClass(classes).getDeclaredMethods())
                .filter(method -> method.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no test " + test));
    }
}
