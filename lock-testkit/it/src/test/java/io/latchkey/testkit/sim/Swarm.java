// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Random schedules of the shipped machine over simulated servers, each drawn from one number, until one breaks a rule.
 */
final class Swarm {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Swarm() {}

    /**
     * The result of a run.
     *
     * @param schedules the number of schedules, including the failed one
     * @param steps the number of their steps, including those of their ends
     * @param time the elapsed time
     * @param busy the processor time of this thread; the rest of {@code time} was used by others
     * @param failure the first schedule that broke a rule, shrunk
     */
    record Report(
            Mix mix,
            long schedules,
            long steps,
            Duration time,
            Duration busy,
            Coverage coverage,
            Optional<Failure> failure) {
        /** In a second of one processor. */
        double schedulesPerSecond() {
            return schedules * 1e9 / Math.max(1, busy.toNanos());
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%s: %,d schedules, %,d steps in %.1f s, %.1f s of one core: %,.0f schedules and %,.0f steps a second%n  %s",
                    mix,
                    schedules,
                    steps,
                    time.toNanos() / 1e9,
                    busy.toNanos() / 1e9,
                    schedulesPerSecond(),
                    steps * 1e9 / Math.max(1, busy.toNanos()),
                    coverage);
        }
    }

    /** A schedule that breaks a rule, as drawn and as shrunk. */
    record Failure(Mix mix, long seed, String rule, Schedule drawn, Schedule shrunk, Duration shrinking) {
        /** Text for people: the failure, the command that reproduces it, and the statistics. */
        String text() {
            return "seed " + seed + " of " + mix + ": " + rule
                    + "\nplay it again: mvn verify -Dtest=SwarmTest"
                    + " -Dlatchkey.mix=" + mix + " -Dlatchkey.schedules=1 -Dlatchkey.seed=" + seed
                    + "\n" + drawn.steps().size() + " steps, shrunk to "
                    + shrunk.steps().size() + " in "
                    + shrinking.toMillis() + " ms, of " + shrunk.spec()
                    + "\n" + String.join("\n", shrunk.tell());
        }
    }

    /** Plays schedules from {@code firstSeed} on: so many, or as many as the time allows, until one breaks a rule. */
    static Report run(Mix mix, long firstSeed, long count, Duration budget) {
        Coverage coverage = new Coverage();
        long start = System.nanoTime();
        long busy = THREADS.getCurrentThreadCpuTime();
        long schedules = 0;
        long steps = 0;
        Optional<Failure> failure = Optional.empty();
        while (failure.isEmpty() && schedules < count && System.nanoTime() - start < budget.toNanos()) {
            long seed = firstSeed + schedules++;
            SplittableRandom random = new SplittableRandom(seed);
            WorldSpec spec = mix.spec(random);
            World world = new World(spec, coverage, null);
            Player player = new Player(mix, random, world);
            Optional<BrokenRuleError> broken = play(world, player, mix.steps(random));
            steps += world.steps();
            failure = broken.map(rule -> shrunk(mix, seed, rule, spec, player.taken()));
        }
        return new Report(
                mix,
                schedules,
                steps,
                Duration.ofNanos(System.nanoTime() - start),
                Duration.ofNanos(THREADS.getCurrentThreadCpuTime() - busy),
                coverage,
                failure);
    }

    static Optional<BrokenRuleError> play(World world, Player player, int steps) {
        return BrokenRuleError.by(() -> {
            player.play(steps);
            world.finish();
        });
    }

    private static Failure shrunk(Mix mix, long seed, BrokenRuleError broken, WorldSpec spec, int[] steps) {
        long start = System.nanoTime();
        Schedule drawn = new Schedule(spec, Arrays.stream(steps).boxed().toList());
        Schedule shrunk = new Shrinker(broken.rule()).shrink(drawn);
        return new Failure(mix, seed, broken.getMessage(), drawn, shrunk, Duration.ofNanos(System.nanoTime() - start));
    }
}
