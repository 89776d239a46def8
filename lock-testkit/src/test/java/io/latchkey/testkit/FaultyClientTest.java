// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FaultyClientTest {
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
