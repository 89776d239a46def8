// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.latchkey.testkit.sim.Exhaustive.Grain;
import io.latchkey.testkit.sim.Reached.What;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Small worlds of the shipped machine in every order, no state left. */
@Tag("once")
class ExhaustiveTest {
    private static final long MOST_STATES = 20_000_000;

    private static final List<What> BY_ONE_FAULT = List.of(
            What.LOST_WHILE_HELD,
            What.OWN_NODE_DELETED,
            What.DIED_AT_ITS_TURN,
            What.CREATED_BUT_ANSWER_LOST,
            What.STALE_READ,
            What.RECONNECTED);

    @ParameterizedTest
    @MethodSource("twoClients")
    void nothingBreaks_whenTwoClientsMeet(Scenario scenario) {
        assertEquals(0, explore(scenario, Grain.FINE).of(What.LOST_WHILE_HELD));
    }

    @ParameterizedTest
    @MethodSource("threeClients")
    void nothingBreaks_whenThreeClientsMeet(Scenario scenario) {
        assertEquals(0, explore(scenario, Grain.COARSE).of(What.LOST_WHILE_HELD));
    }

    @ParameterizedTest
    @MethodSource("twoClientsWithOneFault")
    @Tag("long")
    void nothingBreaks_whenTwoClientsMeetWithOneFault(Scenario scenario) {
        Reached reached = explore(scenario, Grain.COARSE);
        for (What what : BY_ONE_FAULT) {
            assertTrue(reached.of(what) > 0, () -> "never reached " + what + ": " + reached);
        }
        assertEquals(0, reached.of(What.EXPIRED_BY_TIME));
    }

    static Stream<Scenario> twoClients() {
        return SmallWorlds.twoClients(0);
    }

    static Stream<Scenario> threeClients() {
        return SmallWorlds.threeClients();
    }

    static Stream<Scenario> twoClientsWithOneFault() {
        return SmallWorlds.twoClients(1);
    }

    private static Reached explore(Scenario scenario, Grain grain) {
        Exhaustive.Report report = Exhaustive.run(scenario, grain, MOST_STATES);
        report.failure().ifPresent(failure -> fail(failure.text()));
        assertTrue(report.complete(), report::toString);
        System.out.println(scenario.plans() + ", " + scenario.faults() + " faults: " + report.states() + " states");
        return report.reached();
    }
}
