// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Slowness;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handles that ZooKeeper's client never gives up by itself. */
@Timeout(60)
class SilentServersTest extends OnOneServer {
    private static final Duration SHORT = Slowness.stretched(Duration.ofSeconds(2));

    /** The second server has none of the data that the client has seen on the first, as one that was wiped. */
    @Test
    @Tag("slow")
    void clientIsServed_whenTheServersComeBackWithoutTheirData() throws Exception {
        try (EmbeddedZooKeeper former = EmbeddedZooKeeper.start();
                EmbeddedZooKeeper wiped = EmbeddedZooKeeper.start();
                FaultProxy proxy = FaultProxy.to(former.connectString() + "," + wiped.connectString())) {
            ZkLockClient client = client(
                    builder -> builder.connectString(proxy.connectString()).sessionTimeout(SHORT));
            Lease held = client.mutex("/held").acquire();
            for (int i = 0; i < 20; i++) {
                client.mutex("/m").acquire().close();
            }
            former.stop();
            Lease next = client.mutex("/m").tryAcquire(SHORT.multipliedBy(8)).orElseThrow();
            assertTrue(next.isValid());
            assertFalse(held.isValid());
            client.close();
        }
    }

    /** It accepts the connection, as a server that hangs does. */
    @Tag("slow")
    @Test
    void connectTimeoutHolds_whenTheServerNeverAnswers() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            long start = System.nanoTime();
            assertThrows(LockServiceUnavailableException.class, () -> ZkLockClient.builder()
                    .connectString("127.0.0.1:" + silent.getLocalPort())
                    .sessionTimeout(Duration.ofSeconds(20))
                    .connectTimeout(Duration.ofSeconds(1))
                    .build());
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            assertTrue(took.compareTo(Slowness.stretched(Duration.ofSeconds(6))) < 0, took::toString);
        }
    }

    @Test
    @Tag("slow")
    void clientIsServed_whenItsEventThreadHasEnded() throws Exception {
        FaultProxy proxy = fastProxy();
        ZkLockClient client =
                client(builder -> builder.connectString(proxy.connectString()).sessionTimeout(SHORT));
        Lease held = client.mutex("/m").acquire();
        for (Thread each : Thread.getAllStackTraces().keySet()) {
            if (each.getName().endsWith("-EventThread")) {
                each.interrupt();
            }
        }
        held.lost().toCompletableFuture().get(10 * SHORT.toMillis(), TimeUnit.MILLISECONDS);
        assertTrue(client.mutex("/m").acquire().isValid());
    }
}
