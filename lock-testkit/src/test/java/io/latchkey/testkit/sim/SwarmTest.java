package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.session.Member;
import io.latchkey.zk.session.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Random schedules of the shipped machine over simulated servers: all recipes on shared paths, under every fault. */
class SwarmTest {
    private static final int SCHEDULES = Integer.getInteger("latchkey.schedules", 4_000);
    private static final long FIRST = Long.getLong("latchkey.seed", 1);

    @Test
    void nothingBreaksInRandomSchedules() throws IOException {
        int granted = 0;
        for (long seed = FIRST; seed < FIRST + SCHEDULES; seed++) {
            try {
                granted += play(seed);
            } catch (RuntimeException | AssertionError broken) {
                throw new AssertionError(
                        "seed " + seed + "; play it again with: mvn verify -Dtest=SwarmTest"
                                + " -Dsurefire.failIfNoSpecifiedTests=false -Dlatchkey.schedules=1 -Dlatchkey.seed="
                                + seed + "\n" + broken.getMessage(),
                        broken);
            }
        }
        assertTrue(granted > SCHEDULES, granted + " grants in " + SCHEDULES + " schedules");
    }

    private static int play(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        int clients = random.nextInt(2, 6);
        World world = new World(random.nextLong(), clients, random.nextInt(1, 4));
        for (int task = random.nextInt(2, 10 * clients); task > 0; task--) {
            world.give(task(random));
        }
        world.play(random.nextInt(20, 800), random.nextInt(0, 9));
        return world.granted();
    }

    private static Task task(SplittableRandom random) {
        List<Member> all = new ArrayList<>(List.of(
                new Member(Recipe.MUTEX, "/mutex"),
                new Member(random.nextBoolean() ? Recipe.READ : Recipe.WRITE, "/some/read-write"),
                new Member(Recipe.semaphore(2, random.nextInt(1, 3)), "/some/few"),
                new Member(Recipe.semaphore(9, random.nextInt(1, 9)), "/some/many")));
        Collections.shuffle(all, new Random(random.nextLong()));
        int members = random.nextInt(4) == 0 ? random.nextInt(2, 5) : 1;
        Patience patience =
                switch (random.nextInt(6)) {
                    case 0 -> new Patience.Never();
                    case 1 -> new Patience.AtMost(Duration.ofMillis(random.nextInt(1, 5000)));
                    default -> new Patience.Forever();
                };
        return new Task(List.copyOf(all.subList(0, members)), patience);
    }
}
