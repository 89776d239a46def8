// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.workload.Scenario;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.RandomGenerator;
import net.jqwik.api.Shrinkable;

/**
 * Draws scenarios, each from one number, the smallest first. The number carries the size in its lowest digits, so that
 * it alone draws the same scenario again: with {@code -Dlatchkey.seed} every try plays that one.
 */
final class ScenarioGenerator implements RandomGenerator<Scenario> {
    static final String SEED = "latchkey.seed";
    private static final int GENERATOR_SIZE = 1000;

    private final Scope scope;
    private final Map<Integer, RandomGenerator<Scenario>> bySize = new HashMap<>();
    private int drawn;

    ScenarioGenerator(Scope scope) {
        this.scope = scope;
    }

    @Override
    public Shrinkable<Scenario> next(Random random) {
        int size = Math.min(ScenarioArbitraries.FULL, drawn);
        drawn++;
        long fresh = (random.nextLong() & ~ScenarioArbitraries.FULL) | size;
        long seed = Long.getLong(SEED, fresh);
        return bySize.computeIfAbsent((int) (seed & ScenarioArbitraries.FULL), this::generator)
                .next(new Random(seed))
                .map(scenario -> new Scenario(seed, scenario.workload(), scenario.faults()));
    }

    /** Made once, since jqwik remembers every generator. */
    private RandomGenerator<Scenario> generator(int size) {
        return new ScenarioArbitraries(scope, size).scenarios().generator(GENERATOR_SIZE);
    }
}
