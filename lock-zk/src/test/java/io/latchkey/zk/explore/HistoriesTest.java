// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import static io.latchkey.zk.explore.Scope.Budget.ANY;
import static io.latchkey.zk.explore.Scope.Budget.NONE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.explore.Scope.Budget;
import io.latchkey.zk.explore.Scope.Delay;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.recipe.SemaphoreRules;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The reductions, compared with all worlds one by one. */
class HistoriesTest {
    private static final Budget LEAVE = NONE.cancels(ANY).crashes(ANY);

    @Test
    void groupsAreTheWorldsNoMoreAndNoFewer() {
        for (int capacity = 1; capacity <= 3; capacity++) {
            same(permits(1, 2, 3).capacity(capacity).budget(LEAVE));
            same(permits(1, 2).capacity(capacity).resizes(2, 1, 2, 3).budget(LEAVE));
            same(permits(3, 1).capacity(capacity).resizes(2, 1, 2, 3).budget(NONE.crashes(1)));
        }
        same(permits(2, 1, 3).capacity(3).resizes(1, 1, 2).budget(LEAVE));
        same(permits(1, 2).capacity(2).resizes(1, 1, 3).budget(LEAVE).delay(Delay.values()));
        same(permits(1, 2).capacity(2).budget(LEAVE.expiries(1)));
        same(permits(1, 2, 3).capacity(3).resizes(1, 1).budget(LEAVE).coarse());
        same(Scope.of(Recipe.WRITE, Recipe.READ).budget(LEAVE));
        same(Scope.of(line(1), line(2)).capacity(2).resizes(1, 1, 3).budget(LEAVE));
    }

    /** Among requests that want the same one moves first, in the groups, too. */
    @Test
    void twinsAreLeftOutOfNothingButNames() {
        Scope scope = permits(1, 1, 2).capacity(2).resizes(1, 1, 3).budget(LEAVE);
        Histories histories = new Histories(scope);
        Set<List<Object>> shapes = new HashSet<>();
        worlds(scope, histories.universe()).forEach(world -> shapes.add(shape(world, histories.universe())));
        Set<List<Object>> others = new HashSet<>();
        worlds(histories).forEach(world -> others.add(shape(world, histories.universe())));
        assertTrue(shapes.size() > 100, () -> shapes.size() + " shapes");
        assertEquals(shapes, others);
    }

    /** A world without names. */
    private static List<Object> shape(List<Integer> world, Universe universe) {
        Server.Tree tree = universe.server(world.get(0)).trees().get(0);
        List<String> sessions = new ArrayList<>();
        for (int number : world.subList(1, world.size())) {
            Client client = universe.client(number);
            int place = tree.names().stream()
                    .map(NodeName::id)
                    .toList()
                    .indexOf(client.machines().get(0).id());
            sessions.add(client.machines() + " at " + place + " asks "
                    + client.out().size() + " watches " + client.armed().size());
        }
        Collections.sort(sessions);
        List<String> nodes = tree.nodes().stream()
                .map(node -> node.name().permits() + " since " + node.admittedAt())
                .toList();
        return List.of(nodes, tree.created(), tree.capacities(), sessions);
    }

    @Test
    void treesTakeInAllGroups() {
        for (Scope scope : List.of(
                permits(1, 1, 2).capacity(2).resizes(1, 1, 3).budget(LEAVE),
                permits(1, 2).capacity(2).resizes(2, 1, 2, 3).budget(LEAVE))) {
            Histories histories = new Histories(scope);
            Set<List<Integer>> taken = new HashSet<>();
            Trees.visit(histories, group -> taken.addAll(products(histories, group)));
            assertTrue(taken.containsAll(worlds(histories)));
        }
    }

    private static void same(Scope scope) {
        Histories histories = new Histories(scope);
        Set<List<Integer>> groups = worlds(histories);
        Set<List<Integer>> worlds = worlds(scope, histories.universe());
        assertTrue(worlds.size() > 100, () -> worlds.size() + " worlds of " + scope);
        assertEquals(worlds.size(), groups.size(), scope::toString);
        assertEquals(worlds, groups, scope::toString);
    }

    /** One by one. */
    private static Set<List<Integer>> worlds(Scope scope, Universe universe) {
        Set<List<Integer>> worlds = new HashSet<>();
        walk(scope, universe, world -> worlds.add(list(world)));
        return worlds;
    }

    private static Set<List<Integer>> worlds(Histories histories) {
        Set<List<Integer>> worlds = new HashSet<>();
        walk(histories.scope(), histories, group -> worlds.addAll(products(histories, group)));
        return worlds;
    }

    private static <S> void walk(Scope scope, Space<S> space, Consumer<int[]> visitor) {
        States met = new States(scope.sessions().size());
        Deque<int[]> next = new ArrayDeque<>();
        met.add(space.initial());
        next.add(space.initial());
        while (!next.isEmpty()) {
            int[] world = next.remove();
            visitor.accept(world);
            for (S step : space.steps(world)) {
                int[] after = space.after(world, step);
                if (met.add(after) == States.Found.NEW) {
                    next.add(after);
                }
            }
        }
    }

    private static List<List<Integer>> products(Histories histories, int[] group) {
        List<List<Integer>> products = List.of(List.of(group[0]));
        for (List<Integer> spread : histories.spreads(group)) {
            List<List<Integer>> longer = new ArrayList<>();
            for (List<Integer> begun : products) {
                for (int situation : spread) {
                    List<Integer> more = new ArrayList<>(begun);
                    more.add(situation);
                    longer.add(more);
                }
            }
            products = longer;
        }
        return products;
    }

    private static List<Integer> list(int[] world) {
        return Arrays.stream(world).boxed().toList();
    }

    private static Scope permits(int... weights) {
        return Scope.of(Arrays.stream(weights)
                .mapToObj(permits -> Recipe.semaphore(3, permits))
                .toArray(Recipe[]::new));
    }

    private static Recipe line(int permits) {
        Recipe plain = Recipe.semaphore(2, permits);
        return new Recipe(
                plain.purpose(), plain.tag(), permits, plain.sharing(), SemaphoreRules.withCertificatesUpTo(0));
    }
}
