// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.PlainClient;
import io.latchkey.testkit.proxy.FastReconnects;
import io.latchkey.testkit.proxy.FaultProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.NodeExistsException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("once")
@Timeout(30)
class EmbeddedZooKeeperTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();

    @AfterEach
    void close() {
        server.close();
    }

    private PlainClient client(Duration timeout) throws Exception {
        return new PlainClient(server.connectString(), timeout);
    }

    @Test
    void tellsNodesWatchesAndSessions() throws Exception {
        try (PlainClient client = client(Duration.ofSeconds(6))) {
            client.create("/a", CreateMode.PERSISTENT);
            client.create("/a/b", CreateMode.EPHEMERAL);
            client.zooKeeper().getChildren("/a", true);
            client.zooKeeper().exists("/a/missing", true);
            List<ServerNode> nodes = server.nodesUnder("/");
            assertEquals(
                    List.of("/a", "/a/b"), nodes.stream().map(ServerNode::path).toList());
            assertEquals(client.session(), nodes.get(1).session());
            assertEquals(0, nodes.get(0).session());
            assertEquals(
                    List.of("b"),
                    server.nodesUnder("/a").stream().map(ServerNode::name).toList());
            assertEquals(List.of(), server.nodesUnder("/nowhere"));
            assertEquals(
                    Set.of(
                            new ServerWatch("/a", ServerWatch.Kind.CHILDREN, client.session()),
                            new ServerWatch("/a/missing", ServerWatch.Kind.DATA, client.session())),
                    Set.copyOf(server.watches()));
            assertEquals(2, server.watchCount());
            assertEquals(Set.of(client.session()), server.sessions());
        }
        assertEquals(Set.of(), server.sessions());
        Eventually.holds("no watch is left", SOON, () -> server.watchCount() == 0); // they go with the connection
    }

    @Test
    void expiresASessionWithItsNodes() throws Exception {
        try (PlainClient client = client(Duration.ofSeconds(6))) {
            client.create("/mine", CreateMode.EPHEMERAL);
            server.expireSession(client.session());
            assertEquals(List.of(), server.nodesUnder("/"));
            assertFalse(server.hasSession(client.session()));
            client.awaitState(KeeperState.Expired, SOON);
            server.expireSession(client.session());
        }
    }

    @Test
    void restartKeepsPortDataAndSessions() throws Exception {
        try (PlainClient client = client(Duration.ofSeconds(6))) {
            client.create("/mine", CreateMode.EPHEMERAL);
            int port = server.port();
            server.stop();
            assertFalse(server.isRunning());
            assertThrows(IllegalStateException.class, server::sessions);
            client.awaitState(KeeperState.Disconnected, SOON);
            server.restart();
            assertEquals(port, server.port());
            client.awaitState(KeeperState.SyncConnected, SOON);
            assertEquals(client.session(), server.nodesUnder("/").get(0).session());
        }
    }

    @Test
    void killedServerKeepsItsSessions_afterARestart() throws Exception {
        try (PlainClient client = client(Duration.ofSeconds(6))) {
            client.create("/mine", CreateMode.EPHEMERAL);
            server.kill();
            assertFalse(server.isRunning());
            client.awaitState(KeeperState.Disconnected, SOON);
            server.restart();
            client.awaitState(KeeperState.SyncConnected, SOON);
            assertEquals(client.session(), server.nodesUnder("/").get(0).session());
        }
    }

    @Test
    void heldExpiryLetsSilentSessionsLive() throws Exception {
        server.holdExpiry();
        try (FaultProxy proxy = FaultProxy.to(server);
                PlainClient client = new PlainClient(proxy.connectString(), Duration.ofMillis(500))) {
            long session = client.session();
            proxy.blackHole();
            assertThrows(
                    AssertionError.class,
                    () -> Eventually.holds("expiry", Duration.ofMillis(1500), () -> !server.hasSession(session)));
            server.resumeExpiry();
            Eventually.holds("expiry", SOON, () -> !server.hasSession(session));
            proxy.heal();
        }
    }

    @Test
    void childCounterCanBeRaisedToItsEnd() throws Exception {
        try (PlainClient client = client(Duration.ofSeconds(6))) {
            client.create("/queue", CreateMode.PERSISTENT);
            server.setChildCounter("/queue", Integer.MAX_VALUE - 1);
            server.restart();
            client.awaitState(KeeperState.SyncConnected, SOON);
            String next = client.create("/queue/n-", CreateMode.EPHEMERAL_SEQUENTIAL);
            assertEquals("/queue/n-2147483646", next);
            String last = client.create("/queue/n-", CreateMode.EPHEMERAL_SEQUENTIAL);
            assertEquals("/queue/n-2147483647", last);
            assertThrows(
                    NodeExistsException.class,
                    () -> client.create("/queue/n-", CreateMode.EPHEMERAL_SEQUENTIAL),
                    "the counter stands still");
            assertThrows(IllegalArgumentException.class, () -> server.setChildCounter("/queue", 5));
            assertThrows(IllegalArgumentException.class, () -> server.setChildCounter("/none", 5));
        }
    }

    @Test
    void reapsContainersThatHaveHadAChild() throws Exception {
        try (PlainClient client = client(Duration.ofSeconds(6))) {
            for (String path : List.of("/used", "/unused", "/inUse")) {
                client.zooKeeper().create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER, new Stat());
            }
            client.create("/used/child", CreateMode.PERSISTENT);
            client.zooKeeper().delete("/used/child", -1);
            client.create("/inUse/child", CreateMode.PERSISTENT);
            assertEquals(List.of("/used"), server.reapContainers());
            assertEquals(
                    List.of("/inUse", "/inUse/child", "/unused"),
                    server.nodesUnder("/").stream().map(ServerNode::path).toList());
        }
    }

    @Test
    void sessionTimeoutsHaveBounds() throws Exception {
        try (EmbeddedZooKeeper strict = EmbeddedZooKeeper.builder()
                        .tick(Duration.ofMillis(50))
                        .maxSession(Duration.ofSeconds(1))
                        .start();
                PlainClient shortest = new PlainClient(strict.connectString(), Duration.ofMillis(20));
                PlainClient longest = new PlainClient(strict.connectString(), Duration.ofSeconds(10))) {
            assertEquals(100, shortest.zooKeeper().getSessionTimeout());
            assertEquals(1000, longest.zooKeeper().getSessionTimeout());
        }
        assertThrows(IllegalArgumentException.class, () -> EmbeddedZooKeeper.builder()
                .minSession(Duration.ofSeconds(2))
                .maxSession(Duration.ofSeconds(1))
                .start());
        assertThrows(IllegalArgumentException.class, () -> EmbeddedZooKeeper.builder()
                .tick(Duration.ZERO));
    }

    @Test
    void takesManyConnectionsFromOneAddress() throws Exception {
        List<AutoCloseable> made = new ArrayList<>();
        made.add(FastReconnects.of(server.connectString())); // clients close in milliseconds
        try {
            for (int i = 0; i < 80; i++) {
                made.add(client(Duration.ofSeconds(6)));
            }
            assertEquals(80, server.sessions().size());
        } finally {
            Collections.reverse(made);
            for (AutoCloseable each : made) {
                each.close();
            }
        }
    }

    @Test
    void leavesNoFilesAndKeepsTheHandlerOfUncaughtExceptions() throws Exception {
        Path folder;
        CountDownLatch handled = new CountDownLatch(1);
        Thread.UncaughtExceptionHandler mine = (thread, e) -> handled.countDown();
        Thread.UncaughtExceptionHandler theirs = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler(mine);
        try (EmbeddedZooKeeper another = EmbeddedZooKeeper.start()) {
            assertTrue(another.isRunning());
            folder = another.folder();
            assertTrue(Files.isDirectory(folder));
            Thread thread = new Thread(() -> {
                throw new IllegalStateException("uncaught");
            });
            thread.start();
            assertTrue(handled.await(10, TimeUnit.SECONDS));
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(theirs);
        }
        assertFalse(Files.exists(folder));
    }
}
