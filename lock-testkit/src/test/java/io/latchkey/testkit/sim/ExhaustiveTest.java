// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.latchkey.testkit.sim.Exhaustive.Grain;
import io.latchkey.testkit.sim.Reached.What;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Small worlds of the shipped machine in every order, one request a step, no state left. With
 * {@code -Dlatchkey.explore=large} three clients with one fault, and two clients with two cycles each and two faults;
 * {@code -Dlatchkey.explore.only=} and a part of a scenario's name chooses among them.
 */
@Tag("once")
class ExhaustiveTest {
    private static final boolean LARGE = "large".equals(System.getProperty("latchkey.explore"));
    private static final String ONLY = System.getProperty("latchkey.explore.only", "");
    private static final long MOST_SITUATIONS = 50_000_000;
    private static final long MOST_STATES = 20_000_000;

    @TestFactory
    Stream<DynamicTest> threeClientsWithoutFaults() {
        return tests(0, SmallWorlds.THREE_CLIENTS);
    }

    @TestFactory
    Stream<DynamicTest> twoClientsTwiceWithoutFaults() {
        return tests(0, SmallWorlds.TWO_CLIENTS_TWICE);
    }

    @TestFactory
    Stream<DynamicTest> twoClientsWithOneFault() {
        return tests(1, SmallWorlds.TWO_CLIENTS);
    }

    @TestFactory
    Stream<DynamicTest> threeClientsWithOneFault() {
        return LARGE ? tests(1, SmallWorlds.THREE_CLIENTS) : Stream.empty();
    }

    @TestFactory
    Stream<DynamicTest> twoClientsTwiceWithTwoFaults() {
        return LARGE ? tests(2, SmallWorlds.TWO_CLIENTS_TWICE) : Stream.empty();
    }

    /** Whole worlds of two clients with one fault: what was reached. */
    @Test
    void faultsAreReached() {
        Exhaustive.Report report = Exhaustive.run(SmallWorlds.TWO_CLIENTS.get(0).apply(1), Grain.COARSE, MOST_STATES);
        report.failure().ifPresent(failure -> fail(failure.text()));
        assertTrue(report.complete(), report::toString);
        for (What what : List.of(
                What.LOST_WHILE_HELD,
                What.OWN_NODE_DELETED,
                What.DIED_AT_ITS_TURN,
                What.CREATED_BUT_ANSWER_LOST,
                What.STALE_READ,
                What.RECONNECTED)) {
            assertTrue(report.reached().of(what) > 0, () -> "never reached " + what + ": " + report);
        }
        assertEquals(0, report.reached().of(What.EXPIRED_BY_TIME));
    }

    private static Stream<DynamicTest> tests(int faults, List<IntFunction<Scenario>> worlds) {
        return worlds.stream()
                .map(world -> world.apply(faults))
                .filter(scenario -> scenario.plans().toString().contains(ONLY))
                .map(scenario -> DynamicTest.dynamicTest(scenario.plans().toString(), () -> explore(scenario)));
    }

    private static void explore(Scenario scenario) {
        Histories.Report report = Histories.run(scenario, MOST_SITUATIONS);
        report.failure().ifPresent(failure -> fail(failure.text()));
        assertTrue(report.complete(), report::toString);
        if (LARGE) {
            System.out.println(scenario.plans() + ", " + scenario.faults() + " faults: " + report);
        }
    }
}
