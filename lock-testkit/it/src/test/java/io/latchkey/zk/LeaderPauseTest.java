// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.server.ProcessEnsemble;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.BlockedWaiters.Kind;
import io.latchkey.zk.BlockedWaiters.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * As {@link BelievedIntervalsTest}, with servers in processes of their own: their leader stands still (SIGSTOP) and
 * goes on, or is killed (SIGKILL). The other servers wait five seconds for it, which is longer than a session.
 */
@Tag("once")
@Tag("long")
@Tag("soak")
@DisabledOnOs(OS.WINDOWS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LeaderPauseTest {
    private static final Duration SESSION = Duration.ofSeconds(3);
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int TESTS = 3;
    private static final List<Kind> KINDS =
            List.of(Kind.MUTEX, Kind.PERMITS, Kind.MUTEX, Kind.WRITER_BEFORE_READER, Kind.MUTEX, Kind.BODY);

    private final long seed = Long.getLong("latchkey.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final ProcessEnsemble ensemble = ProcessEnsemble.start();
    private final LossFigures figures = new LossFigures("sessions of 3 s, a tick of 0.5 s, seed " + seed);
    private int runs;

    @AfterAll
    void closeAll() {
        ensemble.close();
        figures.print();
    }

    /** About as long as a session, so that it may end the sessions when it goes on, or hear of them just before. */
    @Test
    @Timeout(600)
    void validLeasesDoNotOverlap_whenTheLeaderIsPaused() throws Exception {
        Soak.rounds(TESTS, () -> {
            int millis = random.nextInt(2500, 4500);
            failing("leader paused for 2.5 to 4.5 s", leader -> {
                ensemble.pause(leader);
                assertFalse(ensemble.isServing(leader));
                pause(millis - 1000);
                ensemble.resume(leader);
                Eventually.holds("it serves", SOON, () -> ensemble.isServing(leader));
            });
        });
    }

    /** By then there is another, and it still believes to lead for a moment. */
    @Test
    @Timeout(600)
    void validLeasesDoNotOverlap_whenAPausedLeaderIsReplaced() throws Exception {
        Soak.rounds(
                TESTS,
                () -> failing("leader paused until another led", leader -> {
                    ensemble.pause(leader);
                    assertNotEquals(leader, ensemble.awaitLeader(SOON));
                    ensemble.resume(leader);
                    Eventually.holds("it follows", SOON, () -> ensemble.isServing(leader));
                }));
    }

    @Test
    @Timeout(600)
    void validLeasesDoNotOverlap_whenTheLeaderDies() throws Exception {
        Soak.rounds(
                TESTS,
                () -> failing("leader's process killed", leader -> {
                    ensemble.kill(leader);
                    assertNotEquals(leader, ensemble.awaitLeader(SOON));
                    ensemble.restart(leader);
                    Eventually.holds("it follows", SOON, () -> ensemble.isServing(leader));
                }));
    }

    /** Nothing is committed during the pause, and the leader continues to lead after it. */
    @Test
    @Timeout(120)
    void timeoutsHoldAndWorkContinues_whenTheLeaderIsPaused() throws Exception {
        int leader = ensemble.awaitLeader(SOON);
        try (ZkLockClient one = patient((leader + 1) % 3);
                ZkLockClient two = patient((leader + 2) % 3)) {
            one.mutex("/free").acquire().close();
            Lease held = one.mutex("/held").acquire();
            Lease writes = one.mutex("/writes").acquire();
            CompletableFuture<Lease> next = two.mutex("/held").acquireAsync();
            Eventually.holds(
                    "both are there", SOON, () -> two.mutex("/held").queue().size() == 2);
            ensemble.pause(leader);
            CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
            CompletableFuture<?> written = CompletableFuture.runAsync(() -> assertDoesNotThrow(() -> ZkLocks.guarded(
                    writes, Op.create("/written", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT))));
            assertEquals(Optional.empty(), TimedAcquires.tryAcquire(one.mutex("/free"), Duration.ofSeconds(1)));
            assertEquals(LeaseState.RELEASED, held.state());
            assertFalse(released.isDone() || next.isDone() || written.isDone());
            ensemble.resume(leader);
            assertEquals(ReleaseOutcome.RELEASED, released.get(60, TimeUnit.SECONDS));
            assertTrue(next.get(60, TimeUnit.SECONDS).isValid());
            written.get(60, TimeUnit.SECONDS);
            Eventually.holds("nothing is left of the try", SOON, () -> two.mutex("/free")
                    .queue()
                    .isEmpty());
        }
    }

    private ZkLockClient patient(int server) throws InterruptedException {
        return ZkLockClient.builder()
                .connectString(ensemble.connectString(server))
                .sessionTimeout(SESSION.multipliedBy(10))
                .connectTimeout(SOON)
                .build();
    }

    private interface FailingAction {
        void strike(int leader) throws Exception;
    }

    /** The last holders are cut off at the same time; the others continue with any server that serves them. */
    private void failing(String name, FailingAction fault) throws Exception {
        for (int i = 0; i < ensemble.size(); i++) {
            int server = i;
            Eventually.holds("server " + server, SOON, () -> ensemble.isServing(server));
        }
        int leader = ensemble.awaitLeader(SOON);
        String spared = ensemble.connectString((leader + 1) % 3) + "," + ensemble.connectString((leader + 2) % 3);
        runs++;
        List<FaultyClient> holders = new ArrayList<>();
        try (BlockedWaiters standoff = new BlockedWaiters(ensemble, spared, "/standoff-" + runs)) {
            for (Kind kind : KINDS) {
                FaultyClient holder = FaultyClient.connect(ensemble, SESSION);
                holders.add(holder);
                Pair unused = standoff.pair(holder, kind);
            }
            pause(random.nextInt((int) SESSION.toMillis()));
            List<Pair> cutOff = standoff.pairs().subList(2, KINDS.size());
            holders.subList(2, holders.size()).forEach(holder -> holder.proxy().blackHole());
            fault.strike(leader);
            standoff.awaitNext(cutOff);
            standoff.assertOver(cutOff);
            standoff.letSurvivorsGo();
            assertTrue(standoff.lossRecords().size() + standoff.lastSteps().size() >= cutOff.size());
            standoff.check();
            assertEquals(
                    standoff.pairs().size(),
                    standoff.pairs().stream()
                            .filter(pair -> !pair.held().isValid())
                            .count());
            figures.add(name + ", holder cut off", standoff.lossRecords(cutOff));
            figures.add(name + ", holder in reach", standoff.givingsBut(cutOff));
            figures.add(name + ": last step", standoff.lastSteps());
        } finally {
            holders.forEach(FaultyClient::close);
        }
    }

    private static void pause(int millis) {
        LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
    }
}
