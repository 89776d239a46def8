// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Prints the speed of the simulation: {@code mvn verify -Dtest=SimulationFigures
 *}. Its name keeps it out of the suite.
 */
class SimulationFigures {
    private static final Duration WARM_UP = Duration.ofSeconds(10);
    private static final Duration BUDGET = Duration.ofSeconds(Long.getLong("latchkey.swarm.seconds", 10));

    @Test
    void noRuleIsBroken_inSwarmsThatAreTimed() {
        List<Swarm.Failure> failures = new ArrayList<>();
        for (Mix mix : Mix.values()) {
            Swarm.Report warm = Swarm.run(mix, 1, Long.MAX_VALUE / 2, WARM_UP);
            Swarm.Report report = Swarm.run(mix, 1 + warm.schedules(), Long.MAX_VALUE / 2, BUDGET);
            System.out.println(report);
            Stream.of(warm, report).flatMap(each -> each.failure().stream()).forEach(failures::add);
        }
        assertEquals(
                "", failures.stream().map(Swarm.Failure::text).collect(Collectors.joining("\n\n")), "a rule is broken");
    }
}
