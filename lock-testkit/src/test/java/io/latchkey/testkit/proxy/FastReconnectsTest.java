// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.Reconnects;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The times are a fifth of what a client that sleeps takes at least, and many times what is needed. */
@Tag("slow")
@Timeout(60)
class FastReconnectsTest extends BehindAProxy {
    private static final double SLEEPS_TAKE_MILLIS = 1000;

    @Test
    void fastReconnectsEnd_withTheirOwner() throws Exception {
        FastReconnects.of(proxy).close();
        assertEquals(
                0,
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().equals("latchkey-fast-reconnects-" + proxy.connectString()))
                        .count());
        long start = System.nanoTime();
        proxy.cut();
        client.awaitState(KeeperState.Disconnected, SOON);
        assertTrue(System.nanoTime() - start > 90_000_000, "ZooKeeper sleeps 100 ms before it tells");
    }

    @Test
    void faultyClientLosesItsSessionAndClosesInstantly_inFastMode() throws Exception {
        double fastest = Double.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            long start = System.nanoTime();
            try (FaultyClient fast = FaultyClient.connect(server, Duration.ofSeconds(6), Reconnects.FAST)) {
                Lease lease = fast.client().mutex("/fast").acquire();
                fast.expire(ExpiryOrder.SERVER_FIRST).get(10, TimeUnit.SECONDS);
                lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS);
                fast.client().mutex("/fast").acquire().close();
            }
            fastest = Math.min(fastest, (System.nanoTime() - start) / 1e6);
        }
        assertTrue(fastest < SLEEPS_TAKE_MILLIS / 2, "the fastest life took " + fastest + " ms");
    }
}
