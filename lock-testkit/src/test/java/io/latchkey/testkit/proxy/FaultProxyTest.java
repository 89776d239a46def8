// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.Stopwatch;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.ConnectionLossException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("once")
@Timeout(30)
class FaultProxyTest extends BehindAProxy {
    @Test
    void cutBeforeKeepsTheRequestFromTheServer() throws Exception {
        Fault fault = proxy.cutBefore(RequestMatch.create(), 2);
        client.create("/first", CreateMode.EPHEMERAL);
        assertThrows(ConnectionLossException.class, () -> client.create("/second", CreateMode.EPHEMERAL));
        assertEquals("/second", fault.await(SOON).path());
        client.awaitState(KeeperState.SyncConnected, SOON);
        assertNotNull(other.zooKeeper().exists("/first", false));
        assertEquals(null, other.zooKeeper().exists("/second", false));
        assertTrue(server.hasSession(client.session()));
    }

    @Test
    void cutBeforeLetsEarlierRequestsThrough() throws Exception {
        proxy.delay(Direction.TO_SERVER, Duration.ofMillis(20));
        CountDownLatch lost = new CountDownLatch(2);
        Fault fault = proxy.cutBefore(RequestMatch.create().under("/second"), 1);
        for (String path : List.of("/first", "/second")) {
            client.zooKeeper()
                    .create(
                            path,
                            new byte[0],
                            Ids.OPEN_ACL_UNSAFE,
                            CreateMode.EPHEMERAL,
                            (rc, requested, context, name, stat) -> lost.countDown(),
                            null);
        }
        fault.await(SOON);
        assertTrue(lost.await(10, TimeUnit.SECONDS));
        Eventually.holds("first node", SOON, () -> server.nodesUnder("/").stream()
                .anyMatch(n -> n.path().equals("/first")));
        assertFalse(server.nodesUnder("/").stream().anyMatch(n -> n.path().equals("/second")));
    }

    @Test
    void cutAfterLosesTheAnswerOnly() throws Exception {
        Fault fault = proxy.cutAfter(RequestMatch.create(), 1);
        assertThrows(ConnectionLossException.class, () -> client.create("/made", CreateMode.EPHEMERAL));
        fault.await(SOON);
        Stat made = other.zooKeeper().exists("/made", false);
        assertNotNull(made, () -> proxy.wire().toString());
        assertEquals(client.session(), made.getEphemeralOwner());
        client.awaitState(KeeperState.SyncConnected, SOON);
        assertEquals(1, proxy.wire().count(RequestMatch.create()));
    }

    @Test
    void cutIsNoticedAndTheSessionLivesOn() throws Exception {
        client.create("/mine", CreateMode.EPHEMERAL);
        proxy.cut();
        client.awaitState(KeeperState.Disconnected, SOON);
        client.awaitState(KeeperState.SyncConnected, SOON);
        assertNotNull(client.zooKeeper().exists("/mine", false));
    }

    @Test
    void faultTakenBackDoesNotStrike() throws Exception {
        try (Fault fault = proxy.cutBefore(RequestMatch.create(), 1)) {
            assertFalse(fault.struck().isDone());
        }
        client.create("/made", CreateMode.EPHEMERAL);
    }

    @Test
    void delayAddsToEveryRoundTrip() throws Exception {
        client.zooKeeper().exists("/", false);
        proxy.delay(Duration.ofMillis(15));
        long start = System.nanoTime();
        readTwentyTimes();
        double slow = (System.nanoTime() - start) / 20e6;
        assertTrue(slow >= 30, slow + " ms");
        proxy.delay(Duration.ZERO);
        Stopwatch watch = Stopwatch.start();
        readTwentyTimes();
        double fast = watch.stop() / 20.0;
        assertTrue(fast < slow - 15, "from " + slow + " to " + fast + " ms");
    }

    private void readTwentyTimes() throws Exception {
        for (int i = 0; i < 20; i++) {
            client.zooKeeper().exists("/", false);
        }
    }

    @Test
    void heldAnswersComeInOrderAfterRelease() throws Exception {
        CompletableFuture<String> created = new CompletableFuture<>();
        CompletableFuture<Integer> listed = new CompletableFuture<>();
        HeldFrames hold = proxy.holdAnswers(RequestMatch.create());
        client.zooKeeper()
                .create(
                        "/made",
                        new byte[0],
                        Ids.OPEN_ACL_UNSAFE,
                        CreateMode.EPHEMERAL,
                        (rc, path, context, name) -> created.complete(name),
                        null);
        client.zooKeeper()
                .getChildren("/", false, (rc, path, context, children) -> listed.complete(children.size()), null);
        hold.firstCaught().get(10, TimeUnit.SECONDS);
        assertNotNull(other.zooKeeper().exists("/made", false));
        assertFalse(created.isDone());
        // longer than the client would wait for a sign of the server
        assertThrows(AssertionError.class, () -> client.awaitState(KeeperState.Disconnected, Duration.ofMillis(4500)));
        assertFalse(listed.isDone());
        hold.release();
        assertEquals("/made", created.get(10, TimeUnit.SECONDS));
        assertEquals(2, listed.get(10, TimeUnit.SECONDS));
    }

    @Test
    void heldEventsComeAfterReleaseAndBeforeLaterAnswers() throws Exception {
        other.create("/watched", CreateMode.EPHEMERAL);
        client.zooKeeper().exists("/watched", true);
        try (HeldFrames hold = proxy.holdEvents()) {
            other.zooKeeper().delete("/watched", -1);
            hold.firstCaught().get(10, TimeUnit.SECONDS);
            assertFalse(client.hasEvent());
        }
        WatchedEvent event = client.awaitEvent(SOON);
        assertEquals(EventType.NodeDeleted, event.getType());
    }

    @Test
    void refusesUntilItAcceptsAgain() throws Exception {
        proxy.refuse();
        proxy.cut();
        client.awaitState(KeeperState.Disconnected, SOON);
        assertThrows(AssertionError.class, () -> client.awaitState(KeeperState.SyncConnected, Duration.ofMillis(1500)));
        proxy.accept();
        client.awaitState(KeeperState.SyncConnected, SOON);
    }

    @Test
    void blackHoleStopsAndHealsWithoutLoss() throws Exception {
        proxy.blackHole(Direction.TO_SERVER);
        CompletableFuture<String> created = new CompletableFuture<>();
        client.zooKeeper()
                .create(
                        "/made",
                        new byte[0],
                        Ids.OPEN_ACL_UNSAFE,
                        CreateMode.EPHEMERAL,
                        (rc, path, context, name) -> created.complete(name),
                        null);
        assertThrows(java.util.concurrent.TimeoutException.class, () -> created.get(300, TimeUnit.MILLISECONDS));
        assertEquals(null, other.zooKeeper().exists("/made", false));
        proxy.heal();
        assertEquals("/made", created.get(10, TimeUnit.SECONDS));
    }

    @Test
    void expiresTheSessionAtTheServerFirst() throws Exception {
        client.create("/mine", CreateMode.EPHEMERAL);
        long session = client.session();
        assertEquals(session, proxy.expireSession().get(10, TimeUnit.SECONDS));
        assertFalse(server.hasSession(session));
        assertEquals(null, other.zooKeeper().exists("/mine", false));
        client.awaitState(KeeperState.Disconnected, SOON);
        client.awaitState(KeeperState.Expired, SOON);
    }

    @Test
    void expiresTheSessionAtTheClientFirst() throws Exception {
        client.create("/mine", CreateMode.EPHEMERAL);
        Fault told = proxy.expireAtClient();
        told.await(SOON);
        client.awaitState(KeeperState.Expired, SOON);
        assertTrue(server.hasSession(client.session()));
        assertNotNull(other.zooKeeper().exists("/mine", false));
    }

    @Test
    void twoFalseExpiriesOfASession_areAnsweredOnce() throws Exception {
        Fault one = proxy.expireAtClient();
        Fault two = proxy.expireAtClient();
        one.await(SOON);
        two.await(SOON);
        client.awaitState(KeeperState.Expired, SOON);
    }

    @Test
    void closedProxyFailsItsFaults() throws Exception {
        Fault fault = proxy.cutBefore(RequestMatch.create(), 1);
        FaultProxy mine = FaultProxy.to(server);
        Fault never = mine.cutBefore(RequestMatch.any(), 1);
        mine.close();
        mine.close();
        assertThrows(AssertionError.class, () -> never.await(SOON));
        assertThrows(IllegalStateException.class, mine::cut);
        assertThrows(IllegalArgumentException.class, () -> proxy.cutAfter(RequestMatch.any(), 0));
        fault.close();
    }
}
