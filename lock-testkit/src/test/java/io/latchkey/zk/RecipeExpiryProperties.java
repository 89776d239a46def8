package io.latchkey.zk;

import io.latchkey.testkit.EmbeddedZooKeeper;
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
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Clients that take every kind of lock at random while their sessions end at random, in every order in which server and client can
 * learn of it. A schedule is drawn from one number, which a failure prints with the command that draws it again.
 */
class RecipeExpiryProperties {
    private static final Duration SESSION = Duration.ofSeconds(1);
    private static final Duration END = Duration.ofSeconds(60);
    private static final List<ExpiryOrder> ORDERS = List.of(ExpiryOrder.values());

    private static EmbeddedZooKeeper server;

    @BeforeContainer
    static void startServer() {
        server = EmbeddedZooKeeper.start();
    }

    @AfterContainer
    static void stopServer() {
        server.close();
    }

    @Property(tries = 10, shrinking = ShrinkingMode.OFF)
    void readersWritersPermitsAndMultiLocksExcludeWhomTheyMust(@ForAll long drawn) throws Exception {
        long seed = Long.getLong("latchkey.seed", drawn);
        try {
            run(seed);
        } catch (AssertionError | TimeoutException broken) {
            throw new AssertionError(
                    "seed " + seed + "; draw it again with: mvn verify -Dtest=RecipeExpiryProperties"
                            + " -Dsurefire.failIfNoSpecifiedTests=false -Dlatchkey.seed=" + seed + "\n" + broken,
                    broken);
        }
    }

    private static void run(long seed) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        History history = new History();
        RandomLocks locks = new RandomLocks(server, history, "/p" + Long.toHexString(seed), random.nextInt(1, 3));
        List<FaultyClient> all = new ArrayList<>();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> work = new ArrayList<>();
            int count = random.nextInt(2, 5);
            for (int i = 0; i < count; i++) {
                FaultyClient client = FaultyClient.connect(server, SESSION);
                all.add(client);
                int turns = random.nextInt(10, 40);
                // Two threads of one client meet within their session as well.
                for (int thread = random.nextInt(1, 3); thread > 0; thread--) {
                    SplittableRandom own = random.split();
                    work.add(threads.submit(() -> {
                        for (int turn = 0; turn < turns; turn++) {
                            RandomLocks.pause(own.nextInt(20));
                            locks.takeTurn(client, own, 30);
                        }
                        return null;
                    }));
                }
            }
            for (int expiry = random.nextInt(1, 4); expiry > 0; expiry--) {
                RandomLocks.pause(random.nextInt(500));
                // Not awaited: of two faults on one session one may be moot. What counts is what becomes of the locks.
                var unused = history.expire(all.get(random.nextInt(count)), ORDERS.get(random.nextInt(ORDERS.size())));
            }
            for (Future<?> done : work) {
                try {
                    done.get(END.toSeconds(), TimeUnit.SECONDS);
                } catch (TimeoutException blocked) {
                    throw new AssertionError("blocked: " + locks.requests() + "\n" + server.watches(), blocked);
                }
            }
            locks.check(END);
        } finally {
            threads.shutdownNow();
            all.forEach(FaultyClient::close);
        }
    }
}
