// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.PlainClient;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.time.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
    void leavesNoFiles() throws Exception {
        Path folder;
        try (EmbeddedZooKeeper another = EmbeddedZooKeeper.start()) {
            folder = another.folder();
            assertTrue(Files.isDirectory(folder));
        }
        assertFalse(Files.exists(folder));
    }
}
