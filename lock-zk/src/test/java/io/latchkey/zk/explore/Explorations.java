// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.queue.PathData;
import io.latchkey.zk.queue.Tag;
import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.recipe.Rule;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import org.junit.jupiter.api.TestReporter;

/** What tests say of explorations. */
final class Explorations {
    /** Much more is explored with {@code -Dlatchkey.explore=large}, and the figures are published. */
    static final boolean LARGE = "large".equals(System.getProperty("latchkey.explore"));

    private final TestReporter reporter;
    private final long start = System.nanoTime();
    private long worlds;
    private long steps;
    private final Set<Reached> reached = EnumSet.noneOf(Reached.class);

    Explorations(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** All is well in every world of the scope. */
    void explore(Scope scope) {
        add(Explorer.explore(scope, new Universe(scope)));
    }

    /** All is well whatever tree the server comes to, and in many more worlds than there are. */
    void exploreTrees(Scope scope) {
        add(Trees.explore(scope));
    }

    private void add(Explorer.Result result) {
        assertEquals(Optional.empty(), result.fault(), () -> result.fault().orElse(""));
        worlds += result.worlds();
        steps += result.steps();
        reached.addAll(result.reached());
    }

    /** So much was explored that it says something. */
    void covered(long atLeast, Reached... all) {
        if (LARGE) {
            reporter.publishEntry(Map.of(
                    "worlds", String.valueOf(worlds),
                    "steps", String.valueOf(steps),
                    "seconds", String.valueOf((System.nanoTime() - start) / 1_000_000_000)));
        }
        assertTrue(worlds >= atLeast, () -> "only " + worlds + " worlds");
        assertTrue(reached.containsAll(List.of(all)), () -> "reached only " + reached);
    }

    /** Every choice of so many requests of a semaphore, with 1 to 3 permits each. */
    static List<Recipe[]> weights(int requests, int declared) {
        return weights(requests, declared, Recipe.ruleFor(Tag.LEASE));
    }

    static List<Recipe[]> weights(int requests, int declared, Rule rule) {
        List<Recipe[]> all = new ArrayList<>();
        weights(new Recipe[requests], 0, 1, permits(declared, rule), all);
        return all;
    }

    /** So many permits by this rule. */
    private static IntFunction<Recipe> permits(int declared, Rule rule) {
        return permits -> new Recipe(PathData.semaphore(declared), Tag.LEASE, permits, Recipe.Sharing.SHARED, rule);
    }

    private static void weights(Recipe[] chosen, int at, int least, IntFunction<Recipe> permits, List<Recipe[]> all) {
        if (at == chosen.length) {
            all.add(chosen.clone());
            return;
        }
        for (int asked = least; asked <= 3; asked++) {
            chosen[at] = permits.apply(asked);
            weights(chosen, at + 1, asked, permits, all);
        }
    }
}
