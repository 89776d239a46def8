// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.latchkey.testkit.sim.Coverage.Situation;
import io.latchkey.testkit.sim.ExhaustiveSearch.Grain;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Small worlds of the shipped machine in every order, no state left. */
@Tag("once")
class ExhaustiveTest {
    private static final long MOST_STATES = 20_000_000;

    private static final LockTarget MUTEX = new LockTarget(Recipe.MUTEX, new LockPath("/m"));
    private static final LockTarget OTHER = new LockTarget(Recipe.MUTEX, new LockPath("/n"));
    private static final LockTarget READ = new LockTarget(Recipe.READ, new LockPath("/rw"));
    private static final LockTarget WRITE = new LockTarget(Recipe.WRITE, new LockPath("/rw"));

    private static final List<Situation> BY_ONE_FAULT = List.of(
            Situation.LOST_WHILE_HELD,
            Situation.OWN_NODE_DELETED,
            Situation.DIED_AT_ITS_TURN,
            Situation.CREATED_BUT_ANSWER_LOST,
            Situation.STALE_READ,
            Situation.RECONNECTED);

    @ParameterizedTest
    @MethodSource("twoClients")
    void nothingBreaks_whenTwoClientsMeet(WorldSpec spec) {
        assertEquals(0, explore(spec, Grain.FINE).of(Situation.LOST_WHILE_HELD));
    }

    @ParameterizedTest
    @MethodSource("threeClients")
    void nothingBreaks_whenThreeClientsMeet(WorldSpec spec) {
        assertEquals(0, explore(spec, Grain.COARSE).of(Situation.LOST_WHILE_HELD));
    }

    @ParameterizedTest
    @MethodSource("twoClientsWithOneFault")
    @Tag("long")
    void nothingBreaks_whenTwoClientsMeetWithOneFault(WorldSpec spec) {
        Coverage coverage = explore(spec, Grain.COARSE);
        for (Situation what : BY_ONE_FAULT) {
            assertTrue(coverage.of(what) > 0, () -> "never reached " + what + ": " + coverage);
        }
        assertEquals(0, coverage.of(Situation.EXPIRED_BY_TIME));
    }

    static Stream<WorldSpec> twoClients() {
        return worldsOfTwo(0);
    }

    /** Three clients, one cycle each, without faults: of every rule. */
    static Stream<WorldSpec> threeClients() {
        return Stream.of(
                of(0, List.of(List.of(MUTEX), List.of(MUTEX), List.of(MUTEX))),
                of(0, List.of(List.of(WRITE), List.of(READ), List.of(READ))),
                of(0, List.of(List.of(WRITE), List.of(WRITE), List.of(READ))),
                of(0, List.of(List.of(permits(3, 1)), List.of(permits(3, 2)), List.of(permits(3, 2)))));
    }

    static Stream<WorldSpec> twoClientsWithOneFault() {
        return worldsOfTwo(1);
    }

    /** Two clients, one cycle each: of every recipe. */
    private static Stream<WorldSpec> worldsOfTwo(int faults) {
        return Stream.of(
                of(faults, List.of(List.of(MUTEX), List.of(MUTEX))),
                of(faults, List.of(List.of(WRITE), List.of(READ))),
                of(faults, List.of(List.of(permits(3, 2)), List.of(permits(3, 3)))),
                of(faults, List.of(List.of(permits(9, 5)), List.of(permits(9, 6)))),
                of(faults, List.of(List.of(MUTEX, OTHER), List.of(OTHER, MUTEX))));
    }

    private static WorldSpec of(int faults, List<List<LockTarget>> clients) {
        List<WorldSpec.Plan> plans = new ArrayList<>();
        for (List<LockTarget> members : clients) {
            plans.add(new WorldSpec.Plan(plans.size(), List.of(new Task(members, new WaitPolicy.Forever()))));
        }
        return new WorldSpec(plans.size(), 1, plans, WorldSpec.Ends.BY_FORCE, faults, 0, WorldSpec.Start.IN_USE);
    }

    private static LockTarget permits(int declared, int permits) {
        return new LockTarget(Recipe.semaphore(declared, permits), new LockPath("/s" + declared));
    }

    private static Coverage explore(WorldSpec spec, Grain grain) {
        ExhaustiveSearch.Report report = ExhaustiveSearch.run(spec, grain, MOST_STATES);
        report.failure().ifPresent(failure -> fail(failure.text()));
        assertTrue(report.complete(), report::toString);
        System.out.println(spec.plans() + ", " + spec.faults() + " faults: " + report.states() + " states");
        return report.coverage();
    }
}
