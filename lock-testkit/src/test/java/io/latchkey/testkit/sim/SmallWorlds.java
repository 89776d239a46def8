// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Scenarios that are small enough to be played in every order. */
final class SmallWorlds {
    private static final LockTarget MUTEX = new LockTarget(Recipe.MUTEX, "/m");
    private static final LockTarget OTHER = new LockTarget(Recipe.MUTEX, "/n");
    private static final LockTarget READ = new LockTarget(Recipe.READ, "/rw");
    private static final LockTarget WRITE = new LockTarget(Recipe.WRITE, "/rw");

    private SmallWorlds() {}

    /** Two clients, one cycle each: of every recipe. */
    static Stream<Scenario> twoClients(int faults) {
        return Stream.of(
                of(faults, List.of(List.of(MUTEX), List.of(MUTEX))),
                of(faults, List.of(List.of(WRITE), List.of(READ))),
                of(faults, List.of(List.of(permits(3, 2)), List.of(permits(3, 3)))),
                of(faults, List.of(List.of(permits(9, 5)), List.of(permits(9, 6)))),
                of(faults, List.of(List.of(MUTEX, OTHER), List.of(OTHER, MUTEX))));
    }

    /** Three clients, one cycle each, without faults: of every rule. */
    static Stream<Scenario> threeClients() {
        return Stream.of(
                of(0, List.of(List.of(MUTEX), List.of(MUTEX), List.of(MUTEX))),
                of(0, List.of(List.of(WRITE), List.of(READ), List.of(READ))),
                of(0, List.of(List.of(WRITE), List.of(WRITE), List.of(READ))),
                of(0, List.of(List.of(permits(3, 1)), List.of(permits(3, 2)), List.of(permits(3, 2)))));
    }

    private static Scenario of(int faults, List<List<LockTarget>> clients) {
        List<Scenario.Plan> plans = new ArrayList<>();
        for (List<LockTarget> members : clients) {
            plans.add(new Scenario.Plan(plans.size(), List.of(new Task(members, new WaitPolicy.Forever()))));
        }
        return new Scenario(plans.size(), 1, plans, Scenario.Ends.BY_FORCE, faults, 0, Scenario.Start.IN_USE);
    }

    private static LockTarget permits(int declared, int permits) {
        return new LockTarget(Recipe.semaphore(declared, permits), "/s" + declared);
    }
}
