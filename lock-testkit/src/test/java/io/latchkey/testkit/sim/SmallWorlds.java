// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** Scenarios that are small enough to be played in every order. */
final class SmallWorlds {
    private static final LockTarget MUTEX = new LockTarget(Recipe.MUTEX, "/m");
    private static final LockTarget OTHER = new LockTarget(Recipe.MUTEX, "/n");
    private static final LockTarget READ = new LockTarget(Recipe.READ, "/rw");
    private static final LockTarget WRITE = new LockTarget(Recipe.WRITE, "/rw");

    /** Three clients, one cycle each: of every recipe. */
    static final List<IntFunction<Scenario>> THREE_CLIENTS = List.of(
            faults -> of(faults, List.of(cycles(MUTEX), cycles(MUTEX), cycles(MUTEX))),
            faults -> of(faults, List.of(cycles(WRITE), cycles(READ), cycles(READ))),
            faults -> of(faults, List.of(cycles(WRITE), cycles(WRITE), cycles(READ))),
            faults -> of(faults, List.of(cycles(permits(3, 1)), cycles(permits(3, 2)), cycles(permits(3, 2)))),
            faults -> of(faults, List.of(cycles(permits(3, 1)), cycles(permits(3, 1)), cycles(permits(3, 2)))),
            faults -> of(faults, List.of(cycles(permits(9, 4)), cycles(permits(9, 5)), cycles(permits(9, 6)))),
            faults -> of(faults, List.of(once(MUTEX, OTHER), once(OTHER, MUTEX), cycles(MUTEX))));

    /** Two clients, two cycles each: of every recipe. */
    static final List<IntFunction<Scenario>> TWO_CLIENTS_TWICE = List.of(
            faults -> of(faults, List.of(cycles(MUTEX, MUTEX), cycles(MUTEX, MUTEX))),
            faults -> of(faults, List.of(cycles(WRITE, READ), cycles(READ, WRITE))),
            faults -> of(faults, List.of(cycles(permits(3, 2), permits(3, 1)), cycles(permits(3, 2), permits(3, 3)))),
            faults -> of(faults, List.of(cycles(permits(9, 5), permits(9, 4)), cycles(permits(9, 6), permits(9, 9)))),
            faults -> of(
                    faults,
                    List.of(
                            List.of(List.of(MUTEX, OTHER), List.of(OTHER)),
                            List.of(List.of(OTHER, MUTEX), List.of(MUTEX, OTHER)))));

    /** Two clients, one cycle each: of every recipe. */
    static final List<IntFunction<Scenario>> TWO_CLIENTS = List.of(
            faults -> of(faults, List.of(cycles(MUTEX), cycles(MUTEX))),
            faults -> of(faults, List.of(cycles(WRITE), cycles(READ))),
            faults -> of(faults, List.of(cycles(permits(3, 2)), cycles(permits(3, 3)))),
            faults -> of(faults, List.of(cycles(permits(9, 5)), cycles(permits(9, 6)))),
            faults -> of(faults, List.of(once(MUTEX, OTHER), once(OTHER, MUTEX))));

    static final List<IntFunction<Scenario>> ALL = Stream.of(TWO_CLIENTS, THREE_CLIENTS, TWO_CLIENTS_TWICE)
            .flatMap(List::stream)
            .toList();

    private SmallWorlds() {}

    private static List<List<LockTarget>> once(LockTarget... members) {
        return List.of(List.of(members));
    }

    private static Scenario of(int faults, List<List<List<LockTarget>>> clients) {
        List<Scenario.Plan> plans = new ArrayList<>();
        for (List<List<LockTarget>> cycles : clients) {
            List<Task> tasks = cycles.stream()
                    .map(members -> new Task(members, new WaitPolicy.Forever()))
                    .toList();
            plans.add(new Scenario.Plan(plans.size(), tasks));
        }
        return new Scenario(plans.size(), 1, plans, Scenario.Ends.BY_DECREE, faults, 0, Scenario.Start.IN_USE);
    }

    private static List<List<LockTarget>> cycles(LockTarget... members) {
        List<List<LockTarget>> cycles = new ArrayList<>();
        for (LockTarget member : members) {
            cycles.add(List.of(member));
        }
        return cycles;
    }

    private static LockTarget permits(int declared, int permits) {
        return new LockTarget(Recipe.semaphore(declared, permits), "/s" + declared);
    }
}
