package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.EmbeddedZooKeeper;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.History;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;

/**
 * 32 sessions with random mixes of all locks on shared paths, while sessions end in every order: for 15 seconds, or as long as {@code
 * -Dlatchkey.soak.seconds} says. Sessions are long enough for 32 clients on a small machine to keep them.
 */
class MixedSoakTest {
    private static final int CLIENTS = 32;
    private static final Duration SESSION = Duration.ofSeconds(3);
    private static final Duration LENGTH = Duration.ofSeconds(Integer.getInteger("latchkey.soak.seconds", 15));
    private static final Duration END = Duration.ofSeconds(60);

    @Test
    void allGoesOnAndNothingIsLeft() throws Exception {
        long seed = Long.getLong("latchkey.seed", System.nanoTime());
        SplittableRandom random = new SplittableRandom(seed);
        History history = new History();
        AtomicIntegerArray grantsSinceTheLastFault = new AtomicIntegerArray(CLIENTS);
        AtomicLongArray grants = new AtomicLongArray(CLIENTS);
        AtomicBoolean over = new AtomicBoolean();
        List<FaultyClient> all = new ArrayList<>();
        ExecutorService threads = Executors.newCachedThreadPool();
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            RandomLocks locks = new RandomLocks(server, history, "/soak", 3);
            try {
                List<Future<?>> work = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    int me = i;
                    FaultyClient client = FaultyClient.connect(server, SESSION);
                    all.add(client);
                    SplittableRandom own = random.split();
                    work.add(threads.submit(() -> {
                        while (!over.get()) {
                            RandomLocks.pause(own.nextInt(20));
                            if (locks.takeTurn(client, own, 10)) {
                                grants.incrementAndGet(me);
                                grantsSinceTheLastFault.incrementAndGet(me);
                            }
                        }
                        return null;
                    }));
                }
                int faults = strike(history, all, random);
                for (int i = 0; i < CLIENTS; i++) {
                    grantsSinceTheLastFault.set(i, 0);
                }
                for (int i = 0; i < CLIENTS; i++) {
                    int who = i;
                    progress(
                            seed,
                            locks,
                            server,
                            () -> Eventually.holds(
                                    all.get(who).name() + " is granted something after the last fault",
                                    END,
                                    () -> grantsSinceTheLastFault.get(who) > 0));
                }
                over.set(true);
                for (Future<?> done : work) {
                    progress(seed, locks, server, () -> done.get(END.toSeconds(), TimeUnit.SECONDS));
                }
                locks.check(END);
                assertEquals(List.of(), locks.requests());
                assertEquals(0, server.watchCount());
                assertTrue(faults > 0, "nothing was struck");
                long sum = 0;
                for (int i = 0; i < CLIENTS; i++) {
                    sum += grants.get(i);
                }
                assertTrue(sum > LENGTH.toSeconds() * 20, "only " + sum + " grants, with " + faults + " faults");
            } catch (AssertionError broken) {
                throw new AssertionError("seed " + seed + ": " + broken.getMessage(), broken);
            } finally {
                over.set(true);
                threads.shutdownNow();
                all.forEach(FaultyClient::close);
            }
        }
    }

    /** Ends one session after the other, and waits until the last is over. */
    private static int strike(History history, List<FaultyClient> all, SplittableRandom random) throws Exception {
        long start = System.nanoTime();
        int faults = 0;
        List<ExpiryOrder> orders = List.of(ExpiryOrder.values());
        while (System.nanoTime() - start < LENGTH.toNanos()) {
            RandomLocks.pause(random.nextInt(50, 400));
            FaultyClient victim = all.get(random.nextInt(all.size()));
            // Not awaited: of two faults on one session one may be moot.
            var unused = history.expire(victim, orders.get(random.nextInt(orders.size())));
            faults++;
        }
        RandomLocks.pause((int) SESSION.toMillis() * 2);
        all.forEach(client -> client.proxy().endFaults());
        return faults;
    }

    private interface Wait {
        void run() throws Exception;
    }

    private static void progress(long seed, RandomLocks locks, EmbeddedZooKeeper server, Wait wait) throws Exception {
        try {
            wait.run();
        } catch (AssertionError | TimeoutException stuck) {
            throw new AssertionError(
                    "seed " + seed + ": " + stuck + "\nrequests: " + locks.requests() + "\nwatches: "
                            + server.watches(),
                    stuck);
        }
    }
}
