// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.sim.Coverage.Situation;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The kit's history checkers have nothing to say about the locks, whatever happens to them: every schedule is recorded
 * as its clients saw it, in virtual time, and given to all checkers. Prints what they said and what was reached.
 */
@Tag("slow")
class HistoriesTest {
    private static final long FIRST = Long.getLong("latchkey.seed", 1);
    /** How often the usual number of schedules: four times are ten thousand. */
    private static final long TIMES = Long.getLong("latchkey.histories.times", 1);

    private static final Map<Mix, Integer> SCHEDULES = new EnumMap<>(Map.of(
            Mix.SMALL,
            1_200,
            Mix.AGING,
            450,
            Mix.TAMPERED,
            150,
            Mix.LINE,
            200,
            Mix.WORN,
            50,
            Mix.SHARED,
            400,
            Mix.LARGE,
            50));

    @Test
    void checkersAcceptAllSchedules() {
        CheckerSuite judges = new CheckerSuite();
        Coverage coverage = new Coverage();
        long schedules = 0;
        for (Map.Entry<Mix, Integer> share : SCHEDULES.entrySet()) {
            for (long seed = FIRST; seed < FIRST + share.getValue() * TIMES; seed++) {
                play(share.getKey(), seed, judges, coverage);
                schedules++;
            }
        }
        System.out.println(schedules + " recorded schedules\n" + judges + "\n  " + coverage);
        Set<Situation> covered = EnumSet.complementOf(EnumSet.of(
                Situation.WRITE_OF_DEAD_SESSION,
                Situation.LOCAL_TURN,
                Situation.SHARED_NODE,
                Situation.READ_BY_A_WRITERS_NODE,
                Situation.CLOSED_WITH_HOLDERS,
                Situation.RELEASED_IN_GRACE,
                Situation.LOST_BY_CLOSE,
                Situation.USERS_CODE_THREW,
                Situation.USERS_CODE_CALLED_BACK,
                Situation.USERS_CODE_BLOCKED));
        for (Situation what : covered) {
            assertTrue(coverage.of(what) > 0, () -> "never reached " + what + ": " + coverage);
        }
        for (String name : judges.names()) {
            assertTrue(judges.obeyed(name) > 0, () -> "nothing was judged: " + name + " of\n" + judges);
        }
    }

    private static void play(Mix mix, long seed, CheckerSuite judges, Coverage coverage) {
        SplittableRandom random = new SplittableRandom(seed);
        World world = World.recorded(mix.spec(random), coverage);
        try {
            new Player(mix, random, world).play(mix.steps(random));
            world.finish();
            judges.judge(world);
        } catch (BrokenRuleError broken) {
            throw new AssertionError(
                    "seed " + seed + " of " + mix + ": " + broken.getMessage() + "\nin " + world.spec(), broken);
        }
    }
}
