// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients played alone come to what whole worlds come to, and to nothing else. */
@Tag("once")
@Tag("long")
class SmallHistoriesTest {
    private static final long MOST = 2_000_000;

    @Test
    void whateverWholeWorldsComeToIsAmongTheChoices() {
        for (int recipe = 0; recipe < SmallWorlds.TWO_CLIENTS.size(); recipe++) {
            // One fault where no client has a twin: whole worlds and histories choose among twins in ways of their own.
            Scenario scenario = SmallWorlds.TWO_CLIENTS.get(recipe).apply(recipe == 1 ? 1 : 0);
            Set<Moment> choices = Moment.all(scenario, MOST, Reduction.without(Reduction.HISTORIES_ALIKE));
            Set<Moment> worlds = new HashSet<>();
            Exhaustive.Report whole = Exhaustive.run(
                    scenario,
                    recipe == 1 ? Exhaustive.Grain.COARSE : Exhaustive.Grain.FINE,
                    MOST,
                    world -> worlds.add(Moment.of(world)));
            assertTrue(whole.complete(), whole::toString);
            Set<Moment> missed = new HashSet<>(worlds);
            missed.removeAll(choices);
            assertEquals(Set.of(), missed);
        }
    }

    @Test
    void everyChoiceIsAWholeWorld() {
        for (int recipe = 0; recipe < SmallWorlds.TWO_CLIENTS.size(); recipe++) {
            Scenario scenario = SmallWorlds.TWO_CLIENTS.get(recipe).apply(1);
            Histories.Report report = Histories.run(
                    scenario,
                    MOST,
                    Reduction.ALL,
                    history -> Moment.forEachChoice(scenario, history, (holds, of) -> {
                        World world = new Together(scenario, history, of, Reduction.ALL).played();
                        assertEquals(Moment.of(history, holds), Moment.of(world));
                    }));
            assertTrue(report.complete(), report::toString);
        }
    }
}
