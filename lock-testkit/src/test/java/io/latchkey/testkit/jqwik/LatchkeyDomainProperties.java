// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.jqwik.Scope.Recipe;
import io.latchkey.testkit.workload.LockSpec;
import io.latchkey.testkit.workload.Scenario;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;

/** What is drawn: no server is asked. */
@Domain(LatchkeyDomain.class)
class LatchkeyDomainProperties {
    @Scope(
            recipes = {Recipe.MUTEX, Recipe.MULTI},
            clients = 5)
    private @interface Bounds {}

    @Property(tries = 200)
    void seedReplaysTheScenario(
            @ForAll
                    @Scope(
                            recipes = {Recipe.MUTEX, Recipe.MULTI},
                            clients = 5)
                    Scenario scenario) {
        Scenario again = new ScenarioArbitraries(
                        Bounds.class.getAnnotation(Scope.class), (int) (scenario.seed() & ScenarioArbitraries.FULL))
                .scenarios()
                .generator(1000)
                .next(new Random(scenario.seed()))
                .value();
        assertEquals(scenario.workload(), again.workload());
        assertEquals(scenario.faults(), again.faults());
    }

    @Property(tries = 200)
    void locksStayWithinTheScope(@ForAll @Scope(recipes = Recipe.SEMAPHORE, paths = 2) LockSpec lock) {
        assertTrue(lock instanceof LockSpec.Permits permits && permits.path().matches("/s[01]"), lock::toString);
    }
}
