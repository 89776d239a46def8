// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.session.Member;
import io.latchkey.zk.session.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** Scenarios that are small enough to be played in every order. */
final class SmallWorlds {
    private static final Member MUTEX = new Member(Recipe.MUTEX, "/m");
    private static final Member OTHER = new Member(Recipe.MUTEX, "/n");
    private static final Member READ = new Member(Recipe.READ, "/rw");
    private static final Member WRITE = new Member(Recipe.WRITE, "/rw");

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

    private static List<List<Member>> once(Member... members) {
        return List.of(List.of(members));
    }

    private static Scenario of(int faults, List<List<List<Member>>> clients) {
        List<Scenario.Plan> plans = new ArrayList<>();
        for (List<List<Member>> cycles : clients) {
            List<Task> tasks = cycles.stream()
                    .map(members -> new Task(members, new Patience.Forever()))
                    .toList();
            plans.add(new Scenario.Plan(plans.size(), tasks));
        }
        return new Scenario(plans.size(), 1, plans, Scenario.Ends.BY_DECREE, faults, 0, Scenario.Start.IN_USE);
    }

    private static List<List<Member>> cycles(Member... members) {
        List<List<Member>> cycles = new ArrayList<>();
        for (Member member : members) {
            cycles.add(List.of(member));
        }
        return cycles;
    }

    private static Member permits(int declared, int permits) {
        return new Member(Recipe.semaphore(declared, permits), "/s" + declared);
    }
}
