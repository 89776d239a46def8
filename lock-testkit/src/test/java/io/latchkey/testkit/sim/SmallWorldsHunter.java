// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * The small worlds for those who know no class of this package: plays all of them with one fault, the smaller ones
 * first, until one breaks a rule; returns which and the rule, nothing if none does.
 */
public final class SmallWorldsHunter implements Function<Long, List<String>> {
    private final Set<Reduction> reductions;

    /** @param without the name of the reduction that is not made; all are if empty */
    public SmallWorldsHunter(String without) {
        reductions = without.isEmpty() ? Reduction.ALL : Reduction.without(Reduction.valueOf(without));
    }

    @Override
    public List<String> apply(Long mostSituations) {
        List<Scenario> worlds = Stream.of(
                        with(0, SmallWorlds.TWO_CLIENTS),
                        with(0, SmallWorlds.TWO_CLIENTS_TWICE),
                        with(0, SmallWorlds.THREE_CLIENTS),
                        with(1, SmallWorlds.TWO_CLIENTS),
                        with(1, SmallWorlds.THREE_CLIENTS))
                .flatMap(List::stream)
                .toList();
        for (Scenario world : worlds) {
            Optional<Exhaustive.Failure> failure = Histories.run(world, mostSituations, reductions, history -> {})
                    .failure();
            if (failure.isPresent()) {
                return List.of(
                        world.plans() + ", " + world.faults() + " faults",
                        failure.get().rule());
            }
        }
        return List.of();
    }

    private static List<Scenario> with(int faults, List<IntFunction<Scenario>> worlds) {
        return worlds.stream().map(world -> world.apply(faults)).toList();
    }
}
