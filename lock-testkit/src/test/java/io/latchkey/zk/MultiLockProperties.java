// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Multi-locks of random members in random orders, by many clients: no request waits forever, and every member excludes
 * conflicting holders. A round is determined by one seed, which a failure prints.
 */
@Tag("once")
class MultiLockProperties {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(10));
    private static final Duration END = Duration.ofSeconds(60);
    private static final int CAPACITY = 3;

    private static EmbeddedZooKeeper server;

    @BeforeContainer
    static void startServer() {
        server = EmbeddedZooKeeper.start();
    }

    @AfterContainer
    static void stopServer() {
        server.close();
    }

    /** Small worlds, where a cycle would close soonest. */
    @Property(tries = 10, shrinking = ShrinkingMode.OFF)
    void fewClientsOnFewPathsNeverBlockEachOther(@ForAll long drawn) throws Exception {
        SplittableRandom random = new SplittableRandom(drawn);
        run(drawn, random.nextInt(2, 5), random.nextInt(2, 4), 40);
    }

    /** Thousands of rounds: eight clients, 300 each. */
    @Property(tries = 1, shrinking = ShrinkingMode.OFF)
    void manyClientsNeverBlockEachOther(@ForAll long drawn) throws Exception {
        run(drawn, 8, 5, 300);
    }

    private static void run(long drawn, int clients, int paths, int rounds) throws Exception {
        long seed = Long.getLong("latchkey.seed", drawn);
        try {
            new World("/p" + Long.toHexString(drawn) + clients, paths).run(seed, clients, rounds);
        } catch (AssertionError | TimeoutException broken) {
            throw new AssertionError(
                    "seed " + seed + "; draw it again with: mvn verify -Dtest=MultiLockProperties"
                            + " -Dsurefire.failIfNoSpecifiedTests=false -Dlatchkey.seed=" + seed + "\n" + broken,
                    broken);
        }
    }

    /** The paths of mutexes, read-write locks and semaphores, with their current holders. */
    private static final class World {
        private final List<Spot> spots = new ArrayList<>();

        World(String base, int paths) {
            for (int i = 0; i < paths; i++) {
                spots.add(new Spot(base + "/" + i, i % 3));
            }
        }

        void run(long seed, int clients, int rounds) throws Exception {
            List<ZkLockClient> all = new ArrayList<>();
            ExecutorService threads = Executors.newFixedThreadPool(clients);
            try {
                List<Future<Integer>> work = new ArrayList<>();
                for (int i = 0; i < clients; i++) {
                    ZkLockClient client = ZkLockClient.builder()
                            .connectString(server.connectString())
                            .sessionTimeout(SESSION)
                            .ownerLabel("client " + i)
                            .build();
                    all.add(client);
                    SplittableRandom random = new SplittableRandom(seed + i);
                    work.add(threads.submit(() -> takeTurns(client, random, rounds)));
                }
                int granted = 0;
                for (Future<Integer> done : work) {
                    try {
                        granted += done.get(END.toSeconds(), TimeUnit.SECONDS);
                    } catch (TimeoutException blocked) {
                        throw new AssertionError("blocked: " + queues(all.get(0)), blocked);
                    }
                }
                assertEquals(
                        0, spots.stream().mapToInt(spot -> spot.broken.get()).sum(), "overlaps");
                Eventually.holds("no request is left of " + granted, Duration.ofSeconds(10), () -> spots.stream()
                        .allMatch(spot -> server.nodesUnder(spot.path).isEmpty()));
                Eventually.holds("no watch is left", Duration.ofSeconds(10), () -> server.watchCount() == 0);
            } finally {
                threads.shutdownNow();
                all.forEach(ZkLockClient::close);
            }
        }

        private String queues(LockClient client) {
            StringBuilder text = new StringBuilder();
            for (Spot spot : spots) {
                text.append("\n  ").append(spot.path).append(": ").append(server.nodesUnder(spot.path));
                spot.claim(client, 0).lock().queue().forEach(each -> text.append("\n    ")
                        .append(each));
            }
            return text.toString();
        }

        private Integer takeTurns(LockClient client, SplittableRandom random, int rounds) throws InterruptedException {
            int granted = 0;
            for (int round = 0; round < rounds; round++) {
                List<Spot> chosen = new ArrayList<>(spots);
                Collections.shuffle(chosen, new java.util.Random(random.nextLong()));
                List<Claimed> claims = chosen.subList(0, random.nextInt(1, Math.min(5, chosen.size() + 1))).stream()
                        .map(spot -> spot.claim(client, random.nextInt()))
                        .toList();
                Acquirable lock = claims.size() == 1 && random.nextBoolean()
                        ? claims.get(0).lock()
                        : client.multiLock(claims.stream().map(Claimed::lock).toArray(Acquirable[]::new));
                Optional<Lease> lease = random.nextInt(5) == 0
                        ? lock.tryAcquire(Duration.ofMillis(random.nextInt(20)))
                        : Optional.of(lock.acquire());
                if (lease.isPresent()) {
                    granted++;
                    claims.forEach(Claimed::enter);
                    claims.forEach(Claimed::leave);
                    lease.get().close();
                }
            }
            return granted;
        }
    }

    /**
     * One path. An exclusive holder counts as the whole capacity, a reader as one of many, a permit as one of a few.
     */
    private static final class Spot {
        private static final int ALONE = 1000;

        final String path;
        final int kind;
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger broken = new AtomicInteger();

        Spot(String path, int kind) {
            this.path = path;
            this.kind = kind;
        }

        Claimed claim(LockClient client, int draw) {
            boolean even = (draw & 1) == 0;
            int permits = 1 + Math.floorMod(draw, CAPACITY);
            return switch (kind) {
                case 0 -> new Claimed(this, client.mutex(path), ALONE, ALONE);
                case 1 ->
                    even
                            ? new Claimed(this, client.readWriteLock(path).readLock(), 1, ALONE)
                            : new Claimed(this, client.readWriteLock(path).writeLock(), ALONE, ALONE);
                default -> new Claimed(this, client.semaphore(path, CAPACITY).permits(permits), permits, CAPACITY);
            };
        }
    }

    private record Claimed(Spot spot, Acquirable lock, int weight, int most) {
        void enter() {
            if (spot.inside.addAndGet(weight) > most) {
                spot.broken.incrementAndGet();
            }
        }

        void leave() {
            spot.inside.addAndGet(-weight);
        }
    }
}
