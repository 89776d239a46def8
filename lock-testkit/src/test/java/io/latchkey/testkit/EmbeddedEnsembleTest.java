package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EmbeddedEnsembleTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final EmbeddedEnsemble ensemble = EmbeddedEnsemble.start();

    @AfterEach
    void close() {
        ensemble.close();
    }

    @Test
    void expiresASessionOnEveryServer() throws Exception {
        try (PlainClient client = new PlainClient(ensemble.connectString(), Duration.ofSeconds(6))) {
            client.create("/mine", CreateMode.EPHEMERAL);
            assertTrue(ensemble.hasSession(client.session()));
            assertEquals(client.session(), ensemble.nodesUnder("/").get(0).session());
            ensemble.expireSession(client.session());
            assertEquals(List.of(), ensemble.nodesUnder("/"));
            client.awaitState(KeeperState.Expired, SOON);
        }
    }

    @Test
    void survivesTheStopOfItsLeader() throws Exception {
        int first = ensemble.leader().getAsInt();
        try (PlainClient client = new PlainClient(ensemble.connectString((first + 1) % 3), Duration.ofSeconds(6))) {
            client.create("/kept", CreateMode.PERSISTENT);
            client.create("/mine", CreateMode.EPHEMERAL);
            ensemble.stop(first);
            assertFalse(ensemble.isServing(first));
            int second = ensemble.awaitLeader(SOON);
            assertNotEquals(first, second);
            client.awaitState(KeeperState.SyncConnected, SOON);
            ensemble.restart(first);
            Eventually.holds("server " + first + " back", SOON, () -> ensemble.isServing(first));
            assertEquals(
                    List.of("/kept", "/mine"),
                    ensemble.nodesUnder("/").stream().map(ServerNode::path).toList());
            assertTrue(ensemble.hasSession(client.session()));
        }
    }

    @Test
    void proxyGoesRoundTheServers() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(ensemble);
                PlainClient client = new PlainClient(proxy.connectString(), Duration.ofSeconds(6))) {
            for (int i = 0; i < 2; i++) {
                proxy.cut();
                client.awaitState(KeeperState.SyncConnected, SOON);
            }
            client.create("/mine", CreateMode.EPHEMERAL);
            List<String> opened = proxy.wire().records().stream()
                    .map(WireRecord::toString)
                    .filter(text -> text.startsWith("opened to port"))
                    .distinct()
                    .toList();
            assertEquals(3, opened.size(), () -> proxy.wire().toString());
            assertEquals(client.session(), proxy.expireSession().get(10, TimeUnit.SECONDS));
            Eventually.holds("end of the session", SOON, () -> !ensemble.hasSession(client.session()));
            assertEquals(List.of(), ensemble.nodesUnder("/"));
        }
    }

    @Test
    void oneServerAloneServesNobody() throws Exception {
        int leader = ensemble.leader().getAsInt();
        ensemble.stop((leader + 1) % 3);
        ensemble.stop((leader + 2) % 3);
        Eventually.holds("no service", SOON, () -> !ensemble.isServing(leader));
        assertTrue(ensemble.leader().isEmpty());
        assertThrows(IllegalStateException.class, ensemble::sessions);
        ensemble.restart((leader + 1) % 3);
        ensemble.awaitLeader(SOON);
    }
}
