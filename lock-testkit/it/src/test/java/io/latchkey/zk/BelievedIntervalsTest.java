// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.ClientProcess;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.FencedStore;
import io.latchkey.testkit.SkewedClock;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedEnsemble.FollowerPartition;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import io.latchkey.zk.BlockedWaiters.Kind;
import io.latchkey.zk.BlockedWaiters.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Three servers and sessions that end by time alone: the intervals in which clients find their leases valid never
 * overlap where the recipe forbids it, and a loss is reported before the next grant. A tick is 500 ms and a session 3
 * s, so that a follower that is cut off from its leader answers its clients for longer than their sessions live.
 */
@Tag("once")
@Tag("long")
@Tag("soak")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BelievedIntervalsTest {
    private static final Duration TICK = Duration.ofMillis(500);
    private static final Duration SESSION = Duration.ofSeconds(3);
    /** On a busy machine a JVM that has just begun may need 3 s for its first requests alone. */
    private static final Duration SESSION_OF_A_NEW_JVM = Slowness.stretched(SESSION);

    private static final Duration LIMIT = Duration.ofSeconds(2);
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int TESTS = 8;
    private static final List<Kind> KINDS = List.of(
            Kind.MUTEX,
            Kind.WRITER_BEFORE_READER,
            Kind.MUTEX,
            Kind.READER_BEFORE_WRITER,
            Kind.MUTEX,
            Kind.PERMITS,
            Kind.BODY,
            Kind.BODY,
            Kind.BODY);

    private final long seed = Long.getLong("latchkey.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final EmbeddedEnsemble ensemble = EmbeddedEnsemble.start(TICK);
    private final LossFigures figures = new LossFigures("sessions of 3 s, a tick of 0.5 s, seed " + seed);
    private final List<ZooKeeper> readers = new ArrayList<>();
    private int runs;

    @AfterAll
    void closeAll() throws InterruptedException {
        for (ZooKeeper reader : readers) {
            reader.close();
        }
        ensemble.close();
        figures.print();
    }

    private BlockedWaiters standoff(String side) throws Exception {
        runs++;
        return new BlockedWaiters(ensemble, side, "/standoff-" + runs);
    }

    /** One client for each kind; not all at once, so that their heartbeats differ. */
    private List<FaultyClient> holders(BlockedWaiters standoff, String servers) throws Exception {
        List<FaultyClient> holders = new ArrayList<>();
        for (Kind kind : KINDS) {
            FaultyClient holder = FaultyClient.connectTo(servers, ensemble, SESSION);
            holders.add(holder);
            pause(100);
            Pair unused = standoff.pair(holder, kind);
        }
        pause((int) SESSION.toMillis());
        return holders;
    }

    private void pause(int atMostMillis) {
        LockSupport.parkNanos(Duration.ofMillis(random.nextInt(atMostMillis)).toNanos());
    }

    @Test
    @Timeout(600)
    void validLeasesDoNotOverlap_whenAClientIsCutOffFromItsServer() throws Exception {
        Soak.rounds(TESTS, () -> {
            try (BlockedWaiters standoff = standoff(ensemble.connectString())) {
                List<FaultyClient> holders = holders(standoff, ensemble.connectString());
                List<Pair> unheard = new ArrayList<>();
                for (int i = 0; i < holders.size(); i++) {
                    pause(200);
                    Direction direction = random.nextBoolean() ? Direction.TO_SERVER : Direction.TO_CLIENT;
                    if (i % 3 == 2 && direction == Direction.TO_CLIENT) {
                        // The server hears of it, and so of the deletion when the deadline has passed: the session may
                        // live.
                        holders.get(i).proxy().blackHole(Direction.TO_CLIENT);
                    } else if (i % 3 == 2) {
                        holders.get(i).proxy().blackHole(Direction.TO_SERVER);
                        unheard.add(standoff.pairs().get(i));
                    } else {
                        holders.get(i).proxy().blackHole();
                        unheard.add(standoff.pairs().get(i));
                    }
                }
                standoff.awaitNext(standoff.pairs());
                standoff.assertOver(unheard);
                standoff.check();
                figures.add("client cut off from its server", standoff.lossRecords(unheard));
                figures.add("answers cut off, deleted by the holder", standoff.givingsBut(unheard));
                figures.add("client or answers cut off: last step", standoff.lastSteps());
                holders.forEach(FaultyClient::close);
            }
        });
    }

    @Test
    @Timeout(600)
    void validLeasesDoNotOverlap_whenAServerIsCutOffFromTheLeader() throws Exception {
        Soak.rounds(TESTS, () -> {
            int leader = ensemble.awaitLeader(SOON);
            int follower = (leader + 1 + random.nextInt(2)) % 3;
            awaitServing(follower);
            ZooKeeper reader = reader(follower);
            try (BlockedWaiters standoff = standoff(ensemble.connectString(leader))) {
                List<FaultyClient> holders = holders(standoff, ensemble.connectString(follower));
                try (FollowerPartition partition = ensemble.cutOffFromLeader(follower)) {
                    assertEquals(follower, partition.follower());
                    standoff.awaitNext(standoff.pairs());
                    standoff.assertOver(standoff.pairs());
                    assertNotNull(reader.exists("/zookeeper", false), "it answered its clients to the end");
                }
                standoff.check();
                figures.add("server cut off from the leader", standoff.lossRecords());
                figures.add("server cut off from the leader: last step", standoff.lastSteps());
                holders.forEach(FaultyClient::close);
            }
        });
    }

    /** Every third holder is cut off as well: its node goes with its session, and its lease by what comes first. */
    @Test
    @Timeout(600)
    void validLeasesDoNotOverlap_whenTheirLimitPassesOrTheirClientCloses() throws Exception {
        Soak.rounds(TESTS, () -> {
            try (BlockedWaiters standoff = standoff(ensemble.connectString())) {
                List<FaultyClient> holders = new ArrayList<>();
                List<Pair> limited = new ArrayList<>();
                List<Pair> cutOff = new ArrayList<>();
                List<Pair> closed = new ArrayList<>();
                for (int i = 0; i < KINDS.size(); i++) {
                    FaultyClient holder = FaultyClient.connectTo(ensemble.connectString(), ensemble, SESSION);
                    holders.add(holder);
                    closed.add(standoff.pair(holder, KINDS.get(i)));
                    Pair pair = standoff.pair(holder, KINDS.get(i), lock -> lock.heldAtMost(LIMIT));
                    (i % 3 == 1 ? cutOff : limited).add(pair);
                }
                for (int i = 1; i < holders.size(); i += 3) {
                    holders.get(i).proxy().blackHole();
                }
                standoff.awaitNext(limited);
                figures.add("limit passed", lostBy(LossCause.HELD_TOO_LONG, standoff.lossRecords(limited)));
                standoff.awaitNext(cutOff);
                figures.add("limit or deadline passed, client cut off", standoff.lossRecords(cutOff));
                holders.forEach(holder -> holder.client().close());
                standoff.awaitNext(closed);
                holders.forEach(FaultyClient::close);
                standoff.check(Set.of(LossCause.HELD_TOO_LONG, LossCause.CLIENT_CLOSED, LossCause.DEADLINE_PASSED));
                figures.add("client closed", lostBy(LossCause.CLIENT_CLOSED, standoff.lossRecords(closed)));
                figures.add("limit passed or client closed: last step", standoff.lastSteps());
            }
        });
    }

    private static List<LossRecord> lostBy(LossCause cause, List<LossRecord> all) {
        return all.stream()
                .filter(lossRecord -> lossRecord.cause().equals(cause.name()))
                .toList();
    }

    private ZooKeeper reader(int server) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper reader = new ZooKeeper(ensemble.connectString(server), 30_000, event -> connected.countDown());
        readers.add(reader);
        assertTrue(connected.await(SOON.toSeconds(), TimeUnit.SECONDS));
        return reader;
    }

    @Test
    @Timeout(600)
    void allServersAreRestarted() throws Exception {
        Soak.rounds(TESTS, () -> {
            for (int server = 0; server < 3; server++) {
                awaitServing(server);
            }
            try (BlockedWaiters standoff = standoff(ensemble.connectString())) {
                List<FaultyClient> holders = holders(standoff, ensemble.connectString());
                List<Pair> cutOff = new ArrayList<>();
                for (int i = 0; i < holders.size(); i += 2) {
                    holders.get(i).proxy().blackHole();
                    cutOff.add(standoff.pairs().get(i));
                }
                IntStream.range(0, 3).forEach(ensemble::kill);
                pause(1500);
                assertTrue(ensemble.leader().isEmpty());
                IntStream.range(0, 3).forEach(ensemble::restart);
                standoff.awaitNext(cutOff);
                standoff.assertOver(cutOff);
                standoff.letSurvivorsGo();
                standoff.check();
                figures.add("all three restarted, holder cut off", standoff.lossRecords(cutOff));
                figures.add("all three restarted, holder in reach", standoff.givingsBut(cutOff));
                figures.add("all three restarted: last step", standoff.lastSteps());
                holders.forEach(FaultyClient::close);
            }
        });
    }

    @Test
    @Timeout(600)
    @DisabledOnOs(OS.WINDOWS)
    void validLeasesDoNotOverlap_whenAClientIsPausedPastItsSession() throws Exception {
        Soak.rounds(TESTS, () -> {
            try (BlockedWaiters standoff = standoff(ensemble.connectString());
                    ClientProcess one = ClientProcess.start(ensemble, SESSION_OF_A_NEW_JVM);
                    ClientProcess two = ClientProcess.start(ensemble, SESSION_OF_A_NEW_JVM)) {
                CompletableFuture<?> first = pausedPastItsSession(standoff, one, "/paused/" + runs + "/1");
                CompletableFuture<?> second = pausedPastItsSession(standoff, two, "/paused/" + runs + "/2");
                first.get(SOON.toSeconds(), TimeUnit.SECONDS);
                second.get(SOON.toSeconds(), TimeUnit.SECONDS);
                standoff.checkLooks();
                figures.add("client's JVM paused", standoff.lossRecords());
            }
        });
    }

    /** Its first looks afterwards fall into the time of the next holder. */
    private CompletableFuture<?> pausedPastItsSession(BlockedWaiters standoff, ClientProcess client, String path)
            throws Exception {
        long token = client.acquire(path).get(SOON.toSeconds(), TimeUnit.SECONDS);
        CompletableFuture<Lease> next = standoff.next(path, token);
        pause((int) SESSION_OF_A_NEW_JVM.toMillis());
        CompletableFuture<ClientProcess.Belief> belief = client.belief();
        CompletableFuture<Long> ended = client.pauseUntilExpired();
        return ended.thenCombine(next, (session, lease) -> lease).thenCompose(lease -> {
            assertTrue(lease.isValid());
            client.resume();
            return belief.thenAccept(told -> standoff.history().believed(client, path, told));
        });
    }

    /** As much as the margin for drift allows: one part in a hundred. */
    @Test
    @Timeout(600)
    void validLeasesDoNotOverlap_whenClocksRunFastOrSlow() throws Exception {
        Soak.rounds(TESTS, () -> {
            try (BlockedWaiters standoff = standoff(ensemble.connectString())) {
                cutOffWithClocks(standoff, i -> i % 2 == 0 ? 0.99 : 1.01);
                for (Pair pair : standoff.pairs()) {
                    assertEquals(
                            LossCause.DEADLINE_PASSED,
                            pair.held().lost().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS));
                }
                standoff.check();
                Map<String, List<LossRecord>> bySpeed = new LinkedHashMap<>();
                for (LossRecord lossRecord : standoff.lossRecords()) {
                    int number = Integer.parseInt(
                            lossRecord.path().substring(lossRecord.path().lastIndexOf('/') + 1));
                    bySpeed.computeIfAbsent(
                                    "client's clocks 1 % " + (number % 2 == 0 ? "slow" : "fast") + ", cut off",
                                    speed -> new ArrayList<>())
                            .add(lossRecord);
                }
                bySpeed.forEach(figures::add);
                figures.add("clocks 1 % fast or slow, cut off: last step", standoff.lastSteps());
            }
        });
    }

    /**
     * What this class would show if leases were believed for too long: with clocks at a quarter of the speed they are.
     */
    @Test
    @Timeout(120)
    void overlapIsDetected_whenClocksExceedTheDrift() throws Exception {
        try (BlockedWaiters standoff = standoff(ensemble.connectString())) {
            cutOffWithClocks(standoff, i -> 0.25);
            assertInstanceOf(Verdict.Broken.class, ExclusionChecker.readWrite().byTheirOwnLooks(standoff.history()));
        }
    }

    /**
     * With a session so long that for seconds it has ended and ZooKeeper's own client, which goes by the machine's
     * clock, has not.
     */
    @Test
    @Timeout(120)
    void writesOfAHolderWithSlowClocks_areRefused() throws Exception {
        Duration session = SESSION.multipliedBy(3);
        ZooKeeper operator = reader(ensemble.awaitLeader(SOON));
        operator.create("/guarded", new byte[] {0}, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        FencedStore<String> store = new FencedStore<>("");
        try (FaultyClient slow = FaultyClient.connect(ensemble, session, SkewedClock.of(0.25));
                FaultyClient other = FaultyClient.connect(ensemble, session)) {
            Lease stale = slow.client().mutex("/drift").acquire();
            CompletableFuture<Lease> next = other.client().mutex("/drift").acquireAsync();
            Eventually.holds(
                    "a waiter",
                    SOON,
                    () -> other.client().mutex("/drift").queue().size() == 2);
            slow.proxy().blackHole();
            Lease holder = next.get(SOON.toSeconds(), TimeUnit.SECONDS);
            assertTrue(stale.isValid() && holder.isValid(), "both believe");
            assertEquals("", store.read(holder.token()));
            assertEquals(
                    1,
                    ZkLocks.guarded(holder, Op.setData("/guarded", new byte[] {1}, -1))
                            .size());

            assertThrows(FencedStore.StaleTokenException.class, () -> store.write("stale", stale.token()));
            Exception refused = assertThrows(
                    Exception.class, () -> ZkLocks.guarded(stale, Op.setData("/guarded", new byte[] {2}, -1)));
            assertTrue(refused instanceof KeeperException || refused instanceof LeaseLostException, refused::toString);
            slow.proxy().heal();
            LossCause unused = stale.lost().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
            assertEquals("", store.look());
            assertEquals(1, operator.getData("/guarded", false, null)[0]);
        }
    }

    private void cutOffWithClocks(BlockedWaiters standoff, IntToDoubleFunction rates) throws Exception {
        List<FaultyClient> holders = new ArrayList<>();
        for (int i = 0; i < KINDS.size(); i++) {
            holders.add(FaultyClient.connect(ensemble, SESSION, SkewedClock.of(rates.applyAsDouble(i))));
            Pair unused = standoff.pair(holders.get(i), KINDS.get(i));
        }
        pause((int) SESSION.toMillis());
        holders.forEach(holder -> holder.proxy().blackHole());
        standoff.awaitNext(standoff.pairs());
        standoff.awaitSessionsOver(standoff.pairs());
        for (Pair pair : standoff.pairs()) {
            LossCause unused = pair.held().lost().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        holders.forEach(FaultyClient::close);
    }

    private void awaitServing(int server) throws InterruptedException {
        Eventually.holds("server " + server + " serves", SOON, () -> ensemble.isServing(server));
    }
}
