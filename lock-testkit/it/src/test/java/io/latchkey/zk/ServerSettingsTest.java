// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ProcessEnsemble;
import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Quotas;
import org.apache.zookeeper.StatsTrack;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Settings of clients and servers that bite: each is refused clearly or handled. */
@Timeout(60)
class ServerSettingsTest extends OnOneServer {
    private static final Duration SHORT = Duration.ofSeconds(10);
    private static final Duration LONGER = Duration.ofSeconds(30);

    // ---- handles that forget their watches

    @Test
    void borrowedHandleIsRefused_whenItDisablesTheResetOfWatches() throws Exception {
        ZKClientConfig forgetful = new ZKClientConfig();
        forgetful.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        ZooKeeper handle = new ZooKeeper("127.0.0.1:1", 1000, event -> {}, false, forgetful);
        try {
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> ZkLockClient.using(handle));
            assertTrue(refused.getMessage().contains(ZKClientConfig.DISABLE_AUTO_WATCH_RESET), refused.getMessage());
        } finally {
            handle.close();
        }
    }

    // ---- quotas

    /**
     * Servers that enforce quotas refuse to mark a holder's node, which takes less room than before; to delete it they
     * never do.
     */
    @Test
    @Tag("slow")
    void releaseSucceeds_whenQuotaIsExceeded() throws Exception {
        try (ProcessEnsemble ensemble = ProcessEnsemble.start("enforceQuota=true")) {
            ZkLockClient one = client(builder -> builder.connectString(ensemble.connectString()));
            ZkLockClient two = client(builder -> builder.connectString(ensemble.connectString()));
            Lease held = one.mutex("/limited/m").acquire();
            CompletableFuture<Lease> next = two.mutex("/limited/m").acquireAsync();
            Eventually.holds(
                    "both are there",
                    LONG_SESSION,
                    () -> two.mutex("/limited/m").queue().size() == 2);
            ZooKeeper operator = operator(ensemble);
            limitBytes(operator, "/limited", 1);
            operator.close();
            assertEquals(ReleaseOutcome.RELEASED, held.release());
            assertTrue(next.get(10, TimeUnit.SECONDS).isValid());
            LockException refused = assertThrows(
                    LockException.class, () -> one.mutex("/limited/m").acquire());
            assertEquals(LockException.Reason.QUOTA_EXCEEDED, refused.reason(), refused.getMessage());
            one.close();
            two.close();
        }
    }

    /** It leaves room for the request's node, and not for the kind of the lock at the path. */
    @Test
    @Tag("slow")
    void pathIsNotAdopted_whenThatExceedsAQuota() throws Exception {
        try (ProcessEnsemble ensemble = ProcessEnsemble.start("enforceQuota=true")) {
            ZooKeeper operator = operator(ensemble);
            ZkLockClient one = client(builder -> builder.connectString(ensemble.connectString()));
            Lease elsewhere = one.mutex("/elsewhere").acquire();
            String request = operator.getChildren("/elsewhere", false).get(0);
            int room = operator.exists("/elsewhere/" + request, false).getDataLength();
            operator.multi(List.of(create("/limited", new byte[0])));
            limitBytes(operator, "/limited", room);
            LockException refused = assertThrows(
                    LockException.class, () -> one.mutex("/limited").acquire());
            assertEquals(LockException.Reason.QUOTA_EXCEEDED, refused.reason(), refused.getMessage());
            assertEquals(0, operator.exists("/limited", false).getDataLength());
            elsewhere.close();
            one.close();
            operator.close();
        }
    }

    private static ZooKeeper operator(ProcessEnsemble ensemble) throws IOException {
        return new ZooKeeper(ensemble.connectString(), (int) LONG_SESSION.toMillis(), event -> {});
    }

    private static void limitBytes(ZooKeeper operator, String path, long bytes) throws Exception {
        StatsTrack limit = new StatsTrack();
        limit.setByteHardLimit(bytes);
        String quota = Quotas.limitPath(path);
        for (Op each : List.of(
                create(quota.substring(0, quota.lastIndexOf('/')), new byte[0]),
                create(quota, limit.getStatsBytes()),
                create(Quotas.statPath(path), new StatsTrack().getStatsBytes()))) {
            operator.multi(List.of(each));
        }
    }

    private static Op create(String path, byte[] data) {
        return Op.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    // ---- session time-outs that change

    @Test
    void logNamesTheSessionTimeout_whenTheServerGivesAnotherThanAsked() throws Exception {
        server().limitSessions(SHORT);
        try (LoggedWarnings log = LoggedWarnings.listen()) {
            client(builder -> builder.sessionTimeout(Duration.ofMillis(34_567)));
            Eventually.holds("the line", Duration.ofSeconds(10), () -> !log.aboveDebugWith("34567 ms")
                    .isEmpty());
            assertEquals(
                    List.of("The session timeout is 10000 ms by the server's settings, instead of 34567 ms"),
                    log.aboveDebugWith("34567 ms"));
        }
    }

    /** A blocked stage of {@code lost()} keeps the node for a twentieth of the session: 0.05 s, not 2 s. */
    @Test
    void boundOfTheNotice_isAPartOfTheGrantedTimeout() throws Exception {
        server().limitSessions(Duration.ofSeconds(1));
        ZkLockClient client = client(builder -> builder.sessionTimeout(Duration.ofSeconds(40)));
        CompletableFuture<Long> next = new CompletableFuture<>();
        Lease lease = client.mutex("/m").heldAtMost(Duration.ofMillis(300)).acquire();
        var unused = lease.lost().thenAccept(cause -> next.join());
        var unused2 =
                client("other").mutex("/m").acquireAsync().thenAccept(granted -> next.complete(System.nanoTime()));
        awaitUntil("the loss", () -> !lease.isValid());
        long lost = System.nanoTime();
        Duration kept = Duration.ofNanos(next.get(10, TimeUnit.SECONDS) - lost);
        assertTrue(kept.compareTo(Duration.ofMillis(1_500)) < 0, () -> "kept for " + kept);
    }

    @Test
    @Tag("slow")
    void validityIsShortened_whenTheServerShortensTheSessionAtReconnect() throws Exception {
        FaultProxy proxy = fastProxy();
        ZkLockClient client = asksForLonger(proxy);
        Lease before = client.mutex("/before").acquire();
        awaitUntil("a longer lease", () -> before.remaining().compareTo(SHORT) > 0);
        server().limitSessions(SHORT);
        proxy.refuse();
        proxy.cut();
        awaitUntil("the cut", () -> before.state() != LeaseState.HELD);
        proxy.accept();
        Lease after = client.mutex("/after").acquire();
        assertTrue(after.remaining().compareTo(SHORT) <= 0, () -> "still " + after.remaining());
        assertTrue(before.remaining().compareTo(SHORT) <= 0, () -> "still " + before.remaining());
        if (before.state() == LeaseState.LOST) {
            assertEquals(
                    LossCause.DEADLINE_PASSED,
                    before.lost().toCompletableFuture().get(5, TimeUnit.SECONDS));
        }
        // It beats in time for the shorter session.
        CountDownLatch lost = new CountDownLatch(1);
        var unused = after.lost().thenAccept(cause -> lost.countDown());
        boolean lostSoon = lost.await(SHORT.toMillis() * 5 / 4, TimeUnit.MILLISECONDS);
        assertFalse(
                lostSoon, () -> "lost: " + after.lost().toCompletableFuture().join());
        assertTrue(after.isValid());
    }

    /** Deadlines move closer, and so does the report of the loss, even if the holder does not check. */
    @Test
    @Tag("slow")
    void lossIsReportedInTheShorterTime_whenTheServerShortensTheSession() throws Exception {
        Duration shortened = Duration.ofSeconds(3);
        FaultProxy proxy = fastProxy();
        ZkLockClient client = asksForLonger(proxy);
        CompletableFuture<LossCause> before =
                client.mutex("/before").acquire().lost().toCompletableFuture();
        server().limitSessions(shortened);
        try (HeldFrames barriers = proxy.holdAnswers(RequestMatch.multi())) {
            proxy.cut();
            barriers.firstCaught().get(shortened.toMillis(), TimeUnit.MILLISECONDS);
            assertEquals(LossCause.DEADLINE_PASSED, before.get(shortened.toMillis(), TimeUnit.MILLISECONDS));
        }
        CompletableFuture<LossCause> after =
                client.mutex("/after").acquire().lost().toCompletableFuture();
        proxy.blackHole();
        assertEquals(LossCause.DEADLINE_PASSED, after.get(shortened.toMillis(), TimeUnit.MILLISECONDS));
    }

    @Test
    @Tag("slow")
    void longerSessionCounts_afterTheFirstResponse() throws Exception {
        FaultProxy proxy = fastProxy();
        server().limitSessions(SHORT);
        ZkLockClient client = asksForLonger(proxy);
        Lease held = client.mutex("/m").acquire();
        assertTrue(held.remaining().compareTo(SHORT) <= 0);
        server().limitSessions(LONGER);
        proxy.cut();
        awaitUntil("a longer lease", () -> held.remaining().compareTo(SHORT) > 0);
        assertEquals(LeaseState.HELD, held.state());
        assertFalse(held.lost().toCompletableFuture().isDone());
    }

    private ZkLockClient asksForLonger(FaultProxy proxy) throws InterruptedException {
        return client(builder -> builder.connectString(proxy.connectString()).sessionTimeout(LONGER));
    }
}
