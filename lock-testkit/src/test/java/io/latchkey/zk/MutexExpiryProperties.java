package io.latchkey.zk;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.testkit.EmbeddedZooKeeper;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.History;
import io.latchkey.testkit.MutualExclusionChecker;
import io.latchkey.testkit.TokenOrderChecker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Clients that hold a mutex for random times while their sessions end at random, in every order in which server and
 * client can learn of it. A schedule is drawn from one number, which a failure prints with the command that draws it
 * again. On a real server time is not replayed, so shrinking would only guess.
 */
class MutexExpiryProperties {
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

    @Property(tries = 12, shrinking = ShrinkingMode.OFF)
    void neverTwoHoldersWhoseSessionsLive(@ForAll long drawn) throws Exception {
        long seed = Long.getLong("latchkey.seed", drawn);
        try {
            Schedule.draw(new SplittableRandom(seed)).run("/p" + Long.toHexString(seed));
        } catch (AssertionError | TimeoutException broken) {
            throw new AssertionError(
                    "seed " + seed + "; draw it again with: mvn verify -Dtest=MutexExpiryProperties"
                            + " -Dsurefire.failIfNoSpecifiedTests=false -Dlatchkey.seed=" + seed + "\n"
                            + broken,
                    broken);
        }
    }

    private record Turn(int pauseMillis, int holdMillis, Optional<Duration> patience) {}

    private record Expiry(int afterMillis, int client, ExpiryOrder order) {}

    private record Schedule(List<List<Turn>> clients, List<Expiry> expiries) {
        static Schedule draw(SplittableRandom random) {
            List<List<Turn>> clients = new ArrayList<>();
            int count = random.nextInt(2, 5);
            for (int client = 0; client < count; client++) {
                List<Turn> turns = new ArrayList<>();
                for (int turn = random.nextInt(5, 30); turn > 0; turn--) {
                    Optional<Duration> patience = random.nextInt(4) == 0
                            ? Optional.of(Duration.ofMillis(random.nextInt(0, 200)))
                            : Optional.empty();
                    turns.add(new Turn(random.nextInt(0, 30), random.nextInt(0, 60), patience));
                }
                clients.add(turns);
            }
            List<Expiry> expiries = new ArrayList<>();
            for (int expiry = random.nextInt(1, 4); expiry > 0; expiry--) {
                ExpiryOrder order = ORDERS.get(random.nextInt(ORDERS.size()));
                expiries.add(new Expiry(random.nextInt(0, 600), random.nextInt(count), order));
            }
            return new Schedule(clients, expiries);
        }

        void run(String path) throws Exception {
            History history = new History();
            List<FaultyClient> all = new ArrayList<>();
            ExecutorService threads = Executors.newCachedThreadPool();
            try {
                List<Future<?>> work = new ArrayList<>();
                for (List<Turn> turns : clients) {
                    FaultyClient client = FaultyClient.connect(server, SESSION);
                    all.add(client);
                    Acquirable mutex = history.recordedMutex(client, path);
                    work.add(threads.submit(() -> takeTurns(mutex, turns)));
                }
                for (Expiry expiry : expiries) {
                    pause(expiry.afterMillis());
                    // Not awaited: of two faults on one session one may be moot. What counts is what becomes of the
                    // locks.
                    var unused = history.expire(all.get(expiry.client()), expiry.order());
                }
                for (Future<?> done : work) {
                    done.get(END.toSeconds(), TimeUnit.SECONDS);
                }
                Eventually.holds("no request is left under " + path, END, () -> server.nodesUnder(path).stream()
                        .noneMatch(node -> node.path().startsWith(path + "/write-")));
            } finally {
                threads.shutdownNow();
                all.forEach(FaultyClient::close);
            }
            MutualExclusionChecker.whileSessionsLive(history).assertNotBroken();
            TokenOrderChecker.check(history).assertNotBroken();
        }

        private static Void takeTurns(Acquirable mutex, List<Turn> turns) throws InterruptedException {
            for (Turn turn : turns) {
                pause(turn.pauseMillis());
                Optional<Lease> lease = turn.patience().isPresent()
                        ? mutex.tryAcquire(turn.patience().get().plusMillis(1))
                        : Optional.of(mutex.acquire());
                if (lease.isPresent()) {
                    pause(lease.get().isValid() ? turn.holdMillis() : 0);
                    if (lease.get().isValid()) {
                        lease.get().close();
                    }
                }
            }
            return null;
        }

        /** Work takes its time; nothing is awaited here. */
        private static void pause(int millis) {
            LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
        }
    }
}
