// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.PrimitiveIterator;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers of curator-test, handed to the kit's clients, proxies and faults. */
@Tag("slow")
@Timeout(120)
class CuratorServersTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int TICK = 100; // milliseconds

    private static InstanceSpec spec(int id, PrimitiveIterator.OfInt ports) {
        int election = ports.nextInt();
        int quorum = ports.nextInt();
        Map<String, Object> settings = Map.of("maxSessionTimeout", "60000"); // else 20 ticks
        return new InstanceSpec(null, ports.nextInt(), election, quorum, true, id, TICK, 0, settings);
    }

    /** Curator draws ports by itself, one by one: two may be the same, and a connection may take one meanwhile. */
    private static List<InstanceSpec> specs(int count) {
        PrimitiveIterator.OfInt ports = Localhost.freePorts(3 * count).iterator();
        return IntStream.rangeClosed(1, count).mapToObj(id -> spec(id, ports)).toList();
    }

    private static TestingServer server() throws Exception {
        return new TestingServer(specs(1).get(0), true);
    }

    private static ExternalServers started() throws Exception {
        TestingServer curator = server();
        return ExternalServers.at(curator.getConnectString())
                .controlledBy(server -> curator.stop(), server -> curator.restart())
                .closing(curator);
    }

    @Test
    void leaseIsLost_whenItsSessionEndsAtCuratorsServer() throws Exception {
        ZooKeeperFixture servers = started();
        try (servers;
                // Before its deadline it connects again, and is told.
                FaultyClient client = FaultyClient.connect(servers, Duration.ofSeconds(20))) {
            Lease lease = client.client().mutex("/orders/7").acquire();
            client.expire(ExpiryOrder.SERVER_FIRST).join();
            LossCause cause = lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS);
            assertEquals(LossCause.SESSION_EXPIRED, cause);
        }
        assertFalse(servers.isServing(0), "closed with the fixture");
    }

    @Test
    void leaseSurvives_whenTheServerIsStoppedAndComesBack() throws Exception {
        try (ExternalServers servers = started();
                FaultyClient client = FaultyClient.connect(servers, Duration.ofSeconds(20))) {
            Lease lease = client.client().mutex("/a").acquire();
            assertEquals(OptionalInt.of(0), servers.leader());

            servers.stop(0);
            assertFalse(servers.isServing(0));
            assertEquals(OptionalInt.empty(), servers.leader());

            servers.restart(0);
            Eventually.holds("a server that serves", SOON, () -> servers.isServing(0));
            client.client().mutex("/b").acquire().close();
            assertTrue(lease.isValid());
        }
    }

    @Test
    void clientGoesToAnotherServer_whenTheLeaderOfCuratorsClusterStops() throws Exception {
        TestingCluster cluster = new TestingCluster(specs(3));
        cluster.start();
        try (ExternalServers servers = ExternalServers.at(cluster.getConnectString())
                        .controlledBy(
                                server -> cluster.getServers().get(server).stop(),
                                server -> cluster.getServers().get(server).restart())
                        .closing(cluster);
                // Longer than an election takes beside a busy machine.
                FaultyClient client = FaultyClient.connect(servers, Duration.ofSeconds(30))) {
            assertEquals(3, servers.size());
            int first = Eventually.present("a leader", SOON, servers::leader);
            Lease lease = client.client().mutex("/a").acquire();

            servers.stop(first);
            Fault asked = client.proxy().answered(RequestMatch.create().under("/b"));
            client.client().mutex("/b").acquire().close();

            asked.await(SOON);
            assertTrue(lease.isValid());
            assertTrue(servers.hasSession(client.proxy().session().getAsLong()));
            assertFalse(servers.isServing(first));
        }
    }

    @Test
    void stopIsRefused_whenNothingSaysHow() throws Exception {
        try (TestingServer curator = server()) {
            ExternalServers servers = ExternalServers.at(curator.getConnectString());
            assertThrows(UnsupportedOperationException.class, () -> servers.stop(0));
            assertThrows(IndexOutOfBoundsException.class, () -> servers.connectString(1));
            servers.close();
            assertTrue(servers.isServing(0), "not its own");
        }
    }

    @Test
    void failureOfAControlReachesTheTest() {
        ExternalServers servers = ExternalServers.at("127.0.0.1:1")
                .controlledBy(
                        server -> {
                            throw new Exception("the plug is stuck");
                        },
                        server -> {});
        IllegalStateException failure = assertThrows(IllegalStateException.class, () -> servers.stop(0));
        assertEquals("the plug is stuck", failure.getCause().getMessage());
    }
}
