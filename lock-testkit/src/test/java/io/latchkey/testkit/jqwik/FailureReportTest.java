// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.Scenario;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** The first lines of a failed property have all that is needed to reproduce the failure. */
@Tag("slow")
class FailureReportTest {
    /** Fails in every try. Nested, so that only this test runs it. */
    @LatchkeyProperties
    static class OnServers {
        @Property(tries = 3)
        void fails(@ForAll Scenario scenario, EmbeddedZooKeeper server) {
            throw new AssertionError("a rule is broken\nby a client");
        }
    }

    /** Fails in every try, with faults for code that is not the kit's. */
    @LatchkeyProperties
    static class OfOnesOwnCode {
        @Property(tries = 3)
        void fails(@ForAll FaultSchedule faults, EmbeddedZooKeeper server) {
            throw new AssertionError("a step is lost");
        }
    }

    /** Fails from the second turn of an actor on. */
    @SimulatedProperties
    static class InASimulation {
        @Property(tries = 100)
        boolean fails(@ForAll Scenario scenario, SimulatedLocks locks) {
            return scenario.workload().actors().stream()
                    .allMatch(actor -> actor.turns().size() < 2);
        }
    }

    @Test
    void reportHasRuleSeedCommitHitRateAndCommand_onServers() {
        List<String> lines = failureOf(OnServers.class).lines().toList();
        assertEquals("broken: a rule is broken", lines.get(0));
        String seed = seedIn(lines.get(1));
        assertEquals("failed again 10 of 10 times", lines.get(2));
        assertReplays(lines.get(3), OnServers.class, seed);
        assertEquals("seed " + seed, lines.get(4));
        assertEquals("by a client", lines.get(lines.size() - 1));
    }

    @Test
    void reportHasTheFaultsAndTheirReplay_forOwnCode() {
        String faults = "after 12 C0 cut; after 0 C1 expire BOTH";
        System.setProperty(LatchkeyDomain.FAULTS, faults);
        try {
            List<String> lines = failureOf(OfOnesOwnCode.class)
                    .lines()
                    .filter(line -> !line.matches("commit [0-9a-f]{40}"))
                    .toList();
            assertEquals(
                    List.of(
                            "broken: a step is lost",
                            "failed again 10 of 10 times",
                            replay(OfOnesOwnCode.class, "\"-Dlatchkey.faults=" + faults + "\""),
                            faults),
                    lines);
        } finally {
            System.clearProperty(LatchkeyDomain.FAULTS);
        }
    }

    @Test
    void reportHasTheShrunkScenario_inASimulation() {
        List<String> lines = failureOf(InASimulation.class).lines().toList();
        assertEquals("broken: the property returned false", lines.get(0));
        assertReplays(lines.get(2), InASimulation.class, seedIn(lines.get(1)));
        long turns = lines.stream()
                .filter(line -> line.startsWith("C"))
                .flatMapToInt(String::chars)
                .filter(c -> c == ';')
                .count();
        assertEquals(1, turns, () -> "one actor has two turns, all others one: " + lines);
    }

    @Test
    void commandReplaysTheScenario() {
        String seed = seedIn(failureOf(InASimulation.class).lines().toList().get(1));
        System.setProperty(ScenarioGenerator.SEED, seed);
        try {
            assertEquals(
                    seed, seedIn(failureOf(InASimulation.class).lines().toList().get(1)));
        } finally {
            System.clearProperty(ScenarioGenerator.SEED);
        }
    }

    private static String seedIn(String line) {
        Matcher seed = Pattern.compile("seed (-?\\d+)(, commit [0-9a-f]{40})?").matcher(line);
        assertTrue(seed.matches(), line);
        return seed.group(1);
    }

    private static void assertReplays(String line, Class<?> property, String seed) {
        assertEquals(replay(property, "-Dlatchkey.seed=" + seed), line);
    }

    private static String replay(Class<?> property, String option) {
        return "replay: mvn test -Dtest=" + property.getSimpleName() + " -Dsurefire.failIfNoSpecifiedTests=false "
                + option;
    }

    private static String failureOf(Class<?> property) {
        return errorOf(property).getMessage();
    }

    private static Throwable errorOf(Class<?> property) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(property))
                .configurationParameters(Map.of("jqwik.database", "target/jqwik-of-failing-properties"))
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create(LauncherConfig.builder()
                        .enableTestExecutionListenerAutoRegistration(false)
                        .enableLauncherSessionListenerAutoRegistration(false)
                        .enablePostDiscoveryFilterAutoRegistration(false)
                        .build())
                .execute(request, listener);
        assertEquals(1, listener.getSummary().getFailures().size());
        return listener.getSummary().getFailures().get(0).getException();
    }
}
