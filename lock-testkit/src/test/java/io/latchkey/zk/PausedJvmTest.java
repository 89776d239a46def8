// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.ClientProcess;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The true zombie: a holder whose whole JVM stood still for longer than its session. */
@Timeout(60)
@DisabledOnOs(OS.WINDOWS)
class PausedJvmTest extends OnOneServer {
    /** Longer than a cold JVM needs from its grant to the first look. */
    private static final Duration OUTLIVES_A_COLD_START = Duration.ofSeconds(4);

    @Test
    void leaseIsInvalidAtTheFirstLook_whenTheProcessWasStopped() throws Exception {
        ZkLockClient other = client("other");
        try (ClientProcess holder = ClientProcess.start(server(), OUTLIVES_A_COLD_START)) {
            long token = holder.acquire("/m").get(30, TimeUnit.SECONDS);
            assertTrue(holder.isValid().get(10, TimeUnit.SECONDS));
            holder.pauseUntilExpired().get(20, TimeUnit.SECONDS);
            Lease successor = other.mutex("/m").acquire();
            assertTrue(successor.token() > token);
            CompletableFuture<Boolean> firstLook = holder.isValid();
            holder.resume();
            assertFalse(firstLook.get(10, TimeUnit.SECONDS));
            assertFalse(holder.lost().get(10, TimeUnit.SECONDS).isEmpty());
            assertTrue(successor.isValid());
        }
    }
}
