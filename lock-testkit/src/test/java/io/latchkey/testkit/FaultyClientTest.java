// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.contract.ServerFixture;
import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class FaultyClientTest {
    /** Also its timers: by its own clocks the limit has passed after ten seconds, by ours after one. */
    @Test
    @Tag("slow")
    void limitPassesSooner_byFastClocks() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                FaultyClient client = FaultyClient.connect(server, Duration.ofSeconds(40), SkewedClock.of(10))) {
            Duration limit = Duration.ofSeconds(10);
            long start = System.nanoTime();
            Lease lease = client.client().mutex("/a").heldAtMost(limit).acquire();
            assertEquals(
                    LossCause.HELD_TOO_LONG, lease.lost().toCompletableFuture().get(20, TimeUnit.SECONDS));
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            assertTrue(took.compareTo(limit) < 0, () -> "lost after " + took);
        }
    }

    @Test
    void proxyIsClosed_whenItsClientCannotBe() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            FaultyClient client =
                    FaultyClient.connect(server, Duration.ofSeconds(6), Reconnects.FAST, (servers, timeout) -> {
                        LockClient real = Connector.ofLatchkey().connect(servers, timeout);
                        return (LockClient) Proxy.newProxyInstance(
                                LockClient.class.getClassLoader(),
                                new Class<?>[] {LockClient.class},
                                (proxy, method, arguments) -> {
                                    real.close();
                                    throw new IllegalStateException("a fault of the client");
                                });
                    });
            assertThrows(IllegalStateException.class, client::close);
            assertNoThreadsOf(client.proxy().connectString());
        }
    }

    @Test
    void proxyIsClosed_whenTheConnectorOfAFixtureFails() throws Exception {
        CompletableFuture<String> before = new CompletableFuture<>();
        try (ServerFixture fixture = new ServerFixture((servers, timeout) -> {
            before.complete(servers);
            throw new IllegalStateException("a fault of the connector");
        })) {
            assertThrows(IllegalStateException.class, fixture::newClient);
            assertNoThreadsOf(before.join());
        }
    }

    /** Of the proxy there, or of the fast reconnects to it. */
    private static void assertNoThreadsOf(String proxy) {
        String port = proxy.substring(proxy.indexOf(':') + 1);
        List<String> left = Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("latchkey-") && name.endsWith(port))
                .toList();
        assertEquals(List.of(), left);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
    void rateOfClocksIsRefused_unlessTheyGoOn(double rate) {
        assertThrows(IllegalArgumentException.class, () -> SkewedClock.of(rate));
    }

    /** A busy machine may take longer than the session of a test for it. */
    @Tag("slow")
    @Test
    void firstConnectionMayTakeLongerThanASession_withClocksOfItsOwn() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            server.stop();
            CompletableFuture<FaultyClient> connecting = CompletableFuture.supplyAsync(
                    () -> FaultyClient.connect(server, Duration.ofMillis(500), SkewedClock.of(1)));
            assertThrows(TimeoutException.class, () -> connecting.get(1500, TimeUnit.MILLISECONDS));
            server.restart();
            connecting.get(30, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("slow")
    void clientIsServedAgain_whenItsServerStopsDuringAPartition() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                FaultyClient client = FaultyClient.connect(server, Duration.ofSeconds(40))) {
            CompletableFuture<Long> ended = client.expire(ExpiryOrder.PARTITION);
            server.stop();
            assertThrows(ExecutionException.class, () -> ended.get(20, TimeUnit.SECONDS));
            server.restart();
            client.client().mutex("/a").acquire(Duration.ofSeconds(20)).close();
        }
    }

    /** A test that ends while its client is cut off does not wait for a session timeout. */
    @Test
    void closeEndsTheFaultsFirst() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            FaultyClient client = FaultyClient.connect(server, Duration.ofSeconds(40));
            client.client().mutex("/a").acquire();
            client.proxy().blackHole(Direction.TO_SERVER);
            long start = System.nanoTime();
            client.close();
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            assertTrue(took.compareTo(Duration.ofSeconds(10)) < 0, () -> "closed after " + took);
            assertTrue(server.nodesUnder("/a").isEmpty(), "its session is closed at the server");
        }
    }
}
