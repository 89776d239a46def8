// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs a contract, its tests side by side, and keeps what became of each guarantee. */
final class CuratorRun implements TestExecutionListener {
    private static final int SIDE_BY_SIDE = 10;
    private static final Pattern ID = Pattern.compile("LK-[A-Z]+-\\d+");

    private final Map<String, TestExecutionResult> results = new ConcurrentHashMap<>();

    private CuratorRun() {}

    static CuratorRun of(Class<?> contract) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(contract))
                .filters(EngineFilter.includeEngines("junit-jupiter"))
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter(
                        "junit.jupiter.execution.parallel.config.fixed.parallelism", String.valueOf(SIDE_BY_SIDE))
                .configurationParameter(
                        "junit.jupiter.execution.parallel.config.fixed.max-pool-size", String.valueOf(SIDE_BY_SIDE))
                .build();
        CuratorRun run = new CuratorRun();
        LauncherFactory.create().execute(request, run);
        return run;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Matcher id = ID.matcher(test.getDisplayName());
        if (test.isTest() && id.lookingAt()) {
            results.put(id.group(), result);
        } else if (result.getStatus() != Status.SUCCESSFUL) {
            results.put(test.getDisplayName(), result);
        }
    }

    /** What failed, by id, with the message. */
    Map<String, String> failures() {
        return having(Status.FAILED);
    }

    /** What was skipped, by id, with the reason. */
    Map<String, String> skipped() {
        return having(Status.ABORTED);
    }

    private Map<String, String> having(Status status) {
        Map<String, String> found = new TreeMap<>();
        results.forEach((id, result) -> {
            if (result.getStatus() == status) {
                found.put(id, result.getThrowable().map(Throwable::getMessage).orElse(""));
            }
        });
        return found;
    }
}
