// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedEnsemble.FollowerPartition;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A mutex on three servers, some of which go. */
@Timeout(90)
@Tag("slow")
class EnsembleTest {
    private static final Duration SESSION = Duration.ofSeconds(10);

    /** Longer than an election and a reconnect of ZooKeeper's client. An election that goes wrong doubles its waits. */
    private static final Duration LONG_SESSION = Duration.ofSeconds(30);

    private static final Duration SOON = Duration.ofSeconds(30);

    private final EmbeddedEnsemble ensemble = EmbeddedEnsemble.start();
    private final List<ZkLockClient> clients = new ArrayList<>();

    @AfterEach
    void closeAll() {
        clients.forEach(ZkLockClient::close);
        ensemble.close();
    }

    @Test
    void leaseSurvives_whenTheLeaderIsKilled() throws Exception {
        ZkLockClient one = client(ensemble.connectString(), LONG_SESSION);
        ZkLockClient two = client(ensemble.connectString(), LONG_SESSION);
        Lease held = one.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = two.mutex("/m").acquireAsync();
        awaitQueue(one, 2);
        CompletableFuture<LossCause> lost = held.lost().toCompletableFuture();

        ensemble.stop(ensemble.awaitLeader(SOON));
        ensemble.awaitLeader(SOON);

        Eventually.holds("trust or a loss", SOON, () -> lost.isDone() || held.state() == LeaseState.HELD);
        assertFalse(lost.isDone(), () -> "lost: " + lost.getNow(null));
        Eventually.holds(
                "the waiter is still there",
                SOON,
                () -> ensemble.leader().isPresent() && ensemble.nodesUnder("/m").size() == 2);
        assertFalse(lost.isDone());
        assertFalse(waiting.isDone());
        held.close();
        assertTrue(waiting.get(30, TimeUnit.SECONDS).isValid());
    }

    /** The quorum is away: nothing can be granted, and the holder stops believing before its session may be ended. */
    @Test
    void leasesEndWithinTheTimeout_withoutAQuorum() throws Exception {
        ZkLockClient one = client(ensemble.connectString(), SESSION);
        Lease held = one.mutex("/m").acquire();
        int leader = ensemble.awaitLeader(SOON);
        int follower = (leader + 1) % 3;
        ensemble.stop(leader);
        long start = System.nanoTime(); // until here the other two may elect a leader, and answer
        ensemble.stop(follower);
        assertEquals(
                LossCause.DEADLINE_PASSED, held.lost().toCompletableFuture().get(20, TimeUnit.SECONDS));
        Duration believed = Duration.ofNanos(System.nanoTime() - start);
        assertTrue(believed.compareTo(SESSION) < 0, "believed for " + believed);
        assertATimedTryIsEmptyInItsTime(one, "/free");
        ensemble.restart(leader);
        ensemble.restart(follower);
        ensemble.awaitLeader(SOON);
        assertTrue(one.mutex("/m").acquire().token() > held.token());
        Eventually.holds("nothing is left of the try", SOON, () -> ensemble.nodesUnder("/free")
                .isEmpty());
    }

    /** The leader is killed, and no server serves for a while. */
    @Test
    void releasesAndWaitersContinue_whenTheLeaderIsKilled() throws Exception {
        goOnThrough(() -> ensemble.kill(ensemble.awaitLeader(SOON)), () -> {});
    }

    @Test
    void releasesAndWaitersContinue_whenAllServersAreRestarted() throws Exception {
        ZkLockClient third = client(ensemble.connectString(), LONG_SESSION);
        goOnThrough(
                () -> {
                    IntStream.range(0, 3).forEach(ensemble::kill);
                    assertATimedTryIsEmptyInItsTime(third, "/free");
                },
                () -> IntStream.range(0, 3).forEach(ensemble::restart));
        Eventually.holds("nothing is left of the try", SOON, () -> ensemble.nodesUnder("/free")
                .isEmpty());
    }

    private interface Action {
        void carryOut() throws Exception;
    }

    private void goOnThrough(Action fault, Action repair) throws Exception {
        ZkLockClient one = client(ensemble.connectString(), LONG_SESSION);
        ZkLockClient two = client(ensemble.connectString(), LONG_SESSION);
        Lease held = one.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = two.mutex("/m").acquireAsync();
        awaitQueue(one, 2);
        long place = tokensOnTheServer("/m").get(1);
        fault.carryOut();
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
        assertEquals(LeaseState.RELEASED, held.state());
        repair.carryOut();
        Lease next = waiting.get(60, TimeUnit.SECONDS);
        assertEquals(place, next.token());
        assertTrue(next.isValid());
        assertNotEquals(ReleaseOutcome.LOST, released.get(30, TimeUnit.SECONDS));
        Eventually.holds("one node is left", SOON, () -> tokensOnTheServer("/m").equals(List.of(place)));
    }

    @Test
    void timeoutsHold_whenTheServerIsCutOffFromTheLeader() throws Exception {
        int leader = ensemble.awaitLeader(SOON);
        int follower = (leader + 1) % 3;
        ZkLockClient one = client(ensemble.connectString(follower), LONG_SESSION);
        ZkLockClient two = client(ensemble.connectString(leader), LONG_SESSION);
        one.mutex("/free").acquire().close();
        Lease held = one.mutex("/m").acquire();
        CompletableFuture<Lease> next = two.mutex("/m").acquireAsync();
        awaitQueue(two, 2);
        Lease theirs = two.mutex("/n").acquire();
        CompletableFuture<Lease> waiting = one.mutex("/n").acquireAsync();
        Eventually.holds("both on /n", SOON, () -> tokensOnTheServer("/n").size() == 2);
        long place = tokensOnTheServer("/n").get(1);

        try (FollowerPartition partition = ensemble.cutOffFromLeader(follower)) {
            assertATimedTryIsEmptyInItsTime(one, "/free");
            assertEquals(ReleaseOutcome.PENDING, held.release());
            assertEquals(LeaseState.RELEASED, held.state());
            partition.awaitNoticed(SOON);
            theirs.close();
            assertFalse(next.isDone() || waiting.isDone());
        }

        assertTrue(next.get(30, TimeUnit.SECONDS).isValid());
        assertEquals(place, waiting.get(30, TimeUnit.SECONDS).token());
        Eventually.holds("nothing is left of the try", SOON, () -> ensemble.nodesUnder("/free")
                .isEmpty());
    }

    @Test
    void nothingStaleIsWritten_whenTheServerIsCutOffFromTheLeader() throws Exception {
        int leader = ensemble.awaitLeader(SOON);
        int follower = (leader + 1) % 3;
        List<FollowerPartition> partition = new ArrayList<>();
        writeThrough(
                client(ensemble.connectString(follower), LONG_SESSION),
                client(ensemble.connectString(leader), LONG_SESSION),
                () -> partition.add(ensemble.cutOffFromLeader(follower)),
                () -> partition.get(0).close());
    }

    @Test
    void nothingStaleIsWritten_whenTheLeaderIsKilled() throws Exception {
        writeThrough(
                client(ensemble.connectString(), LONG_SESSION),
                client(ensemble.connectString(), LONG_SESSION),
                () -> ensemble.kill(ensemble.awaitLeader(SOON)),
                () -> {});
    }

    /** The holder writes right after the fault, and its session is ended. The outcome of its write is open. */
    private void writeThrough(ZkLockClient one, ZkLockClient two, Action fault, Action repair) throws Exception {
        Lease stale = one.mutex("/m").acquire();
        CompletableFuture<Lease> next = two.mutex("/m").acquireAsync();
        awaitQueue(two, 2);
        long session = ensemble.nodesUnder("/m").stream()
                .filter(node -> node.created() == stale.token())
                .findFirst()
                .orElseThrow()
                .session();
        assertEquals(
                1,
                ZkLocks.guarded(
                                stale,
                                Op.create("/data", new byte[] {1}, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT))
                        .size());

        fault.carryOut();
        FutureTask<Boolean> write = new FutureTask<>(() -> isWritten(stale, 2));
        new Thread(write, "stale write").start();
        ensemble.awaitLeader(SOON);
        ensemble.expireSession(session);
        Lease holder = next.get(60, TimeUnit.SECONDS);
        assertTrue(isWritten(holder, 3));
        repair.carryOut();
        write.get(60, TimeUnit.SECONDS);
        assertFalse(isWritten(stale, 4));
        Eventually.holds("the write of the next holder stays", SOON, () -> ensemble.nodesUnder("/").stream()
                .anyMatch(node -> node.path().equals("/data") && node.data()[0] == 3));
    }

    /** Whether a guarded write is confirmed. */
    private static boolean isWritten(Lease lease, int value) throws InterruptedException {
        try {
            return ZkLocks.guarded(lease, Op.setData("/data", new byte[] {(byte) value}, -1))
                            .size()
                    == 1;
        } catch (KeeperException | LeaseLostException refused) {
            return false;
        }
    }

    private static void assertATimedTryIsEmptyInItsTime(ZkLockClient client, String path) throws InterruptedException {
        assertEquals(Optional.empty(), TimedAcquires.tryAcquire(client.mutex(path), Duration.ofSeconds(1)));
    }

    private List<Long> tokensOnTheServer(String path) {
        return ensemble.nodesUnder(path).stream()
                .map(ServerNode::created)
                .sorted()
                .toList();
    }

    private ZkLockClient client(String connectString, Duration session) throws InterruptedException {
        ZkLockClient client = ZkLockClient.builder()
                .connectString(connectString)
                .sessionTimeout(session)
                .build();
        clients.add(client);
        return client;
    }

    private static void awaitQueue(ZkLockClient viewer, int length) throws InterruptedException {
        Eventually.holds(
                "a queue of " + length, SOON, () -> viewer.mutex("/m").queue().size() == length);
    }
}
