// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.jqwik.Scope.FaultKind;
import io.latchkey.testkit.jqwik.Scope.Recipe;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

/** The shipped locks under whatever the domain draws, in a simulation. */
@Tag("slow")
@SimulatedProperties
public class SimulatedScenarioProperties {
    @Property(tries = 100)
    void noRuleIsBroken_byAnyRecipe(
            @ForAll @Scope(clients = 4, mostFaults = 3) Scenario scenario, SimulatedLocks locks) {
        Play.of(scenario, locks).assertNotBroken();
    }

    /** Seeded bugs are hunted with this one and the next, see {@code ShrinkingTest}. */
    @Property(tries = 100)
    void noRuleIsBroken_byReadersAndWriters(
            @ForAll @Scope(recipes = Recipe.READ_WRITE) Scenario scenario, SimulatedLocks locks) {
        Play.of(scenario, locks).assertNotBroken();
    }

    @Property(tries = 100)
    void noRuleIsBroken_byPermits(
            @ForAll @Scope(recipes = Recipe.SEMAPHORE, clients = 4) Scenario scenario, SimulatedLocks locks) {
        Play.of(scenario, locks).assertNotBroken();
    }

    @Property(tries = 60)
    void noRuleIsBroken_byAnyKindOfFault(
            @ForAll
                    @Scope(
                            faults = {
                                FaultKind.EXPIRY,
                                FaultKind.LOSS,
                                FaultKind.DELAY,
                                FaultKind.BLACK_HOLE,
                                FaultKind.REFUSAL
                            },
                            pace = 1000,
                            mostFaults = 4)
                    Scenario scenario,
            SimulatedLocks locks) {
        Play.of(scenario, locks).assertNotBroken();
    }

    /** Without that shrinking would be guesswork. */
    @Property(tries = 40)
    void scenarioIsDeterministic(@ForAll @Scope(pace = 1000, mostFaults = 3) Scenario scenario) {
        assertEquals(whoGotWhat(scenario), whoGotWhat(scenario));
    }

    private static List<String> whoGotWhat(Scenario scenario) {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            return Play.of(scenario, locks).history().events().stream()
                    .filter(event -> event.type() == HistoryEvent.EventType.GRANTED)
                    .map(event -> event.client() + " #" + event.attempt() + " token " + event.token())
                    .sorted() // events of one time are reported by several threads
                    .toList();
        }
    }
}
