// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * The random schedules without the types of this package: plays all mixes in turn for a number of milliseconds of the
 * calling thread's processor time. Returns the number of schedules until one broke a rule, with its mix, its seed and
 * the rule; empty if none did. The next call continues with the following seeds.
 */
public final class ScheduleSearch implements LongFunction<List<String>> {
    /** One mix's share of a turn: most recipes meet where worlds are shared or large. */
    private record Share(Mix mix, int schedules) {}

    private static final List<Share> TURN = List.of(
            new Share(Mix.SMALL, 10),
            new Share(Mix.SHARED, 40),
            new Share(Mix.LARGE, 10),
            new Share(Mix.TURNS, 40),
            new Share(Mix.AGING, 10),
            new Share(Mix.TAMPERED, 20),
            new Share(Mix.TAMPERED_CROWD, 10),
            new Share(Mix.REFUSED, 10),
            new Share(Mix.NEIGHBOURS, 10),
            new Share(Mix.LASTING, 5),
            new Share(Mix.LINE, 30),
            new Share(Mix.WORN, 10),
            new Share(Mix.CLOSING, 20));

    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private final Coverage coverage = new Coverage();
    private long round;
    private long played;

    @Override
    public List<String> apply(long millis) {
        long end = CLOCK.getCurrentThreadCpuTime() + Duration.ofMillis(millis).toNanos();
        for (; ; round++) {
            for (Share share : TURN) {
                for (long seed = 1 + round * share.schedules(); seed <= (round + 1) * share.schedules(); seed++) {
                    if (CLOCK.getCurrentThreadCpuTime() > end) {
                        return List.of();
                    }
                    played++;
                    String broken = play(share.mix(), seed, coverage);
                    if (!broken.isEmpty()) {
                        return List.of(played + "", share.mix().name(), seed + "", broken);
                    }
                }
            }
        }
    }

    /** The rule that one schedule breaks; empty if it breaks none. */
    public static String play(String mix, long seed) {
        return play(Mix.valueOf(mix), seed, new Coverage());
    }

    /** Plays a schedule as the swarm does, but does not shrink a broken one. */
    private static String play(Mix mix, long seed, Coverage coverage) {
        SplittableRandom random = new SplittableRandom(seed);
        World world = new World(mix.spec(random), coverage, null);
        return Swarm.play(world, new Player(mix, random, world), mix.steps(random))
                .map(BrokenRuleError::getMessage)
                .orElse("");
    }
}
