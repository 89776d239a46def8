// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ZooKeeperFixture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
@LatchkeyTest
@Timeout(30)
class LatchkeyExtensionTest {
    private static EmbeddedZooKeeper seen;

    private final EmbeddedZooKeeper ofTheConstructor;

    LatchkeyExtensionTest(EmbeddedZooKeeper server) {
        ofTheConstructor = server;
    }

    @Test
    void fillsInServersAndClients(
            EmbeddedZooKeeper server, ZooKeeperFixture fixture, FaultyClient one, FaultyClient two, LockClient plain)
            throws Exception {
        assertSame(server, fixture);
        assertSame(ofTheConstructor, server);
        assertSame(server, seen == null ? server : seen);
        seen = server;
        assertNotSame(one.client(), two.client());
        assertNotEquals(one.name(), two.name());
        assertTrue(one.name().matches("client-\\d+ \\(one\\)"), one.name());
        try (Lease lease = plain.mutex("/a").acquire()) {
            assertFalse(two.client().mutex("/a").tryAcquire().isPresent());
            assertTrue(one.client().mutex("/b").tryAcquire().isPresent());
            assertTrue(lease.isValid());
        }
    }

    @Test
    void leaseIsLostBeforeTheServerEndsIt_whenTheClientExpiresFirst(FaultyClient one) throws Exception {
        Lease lease = one.client().mutex("/client-first").acquire();
        one.expire(ExpiryOrder.CLIENT_FIRST).get(10, TimeUnit.SECONDS);
        lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertFalse(lease.isValid());
    }

    @Nested
    class InnerTests {
        @Test
        void sharesTheServer(EmbeddedZooKeeper server) {
            assertSame(ofTheConstructor, server);
        }
    }
}
