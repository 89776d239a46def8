// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What docs/shutting-down.md says of a holder in time and of one that takes too long. */
@Timeout(30)
class ShuttingDownTest {
    private final SimulatedLocks locks = SimulatedLocks.start();
    private final LockClient client = locks.client();
    private final LockClient other = locks.client();

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void nextRequestIsGrantedAtTheRelease_whenTheHolderFinishesInTime() throws Exception {
        Lease lease = client.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
        CompletableFuture<Lease> next = other.mutex("/m").acquireAsync();
        Thread hook = ShuttingDown.onExit(client);
        hook.start();
        Eventually.holds("waiting requests end", Duration.ofSeconds(10), waiting::isCompletedExceptionally);
        assertTrue(lease.isValid());
        assertEquals(ReleaseOutcome.RELEASED, lease.release());
        hook.join();
        next.get(10, TimeUnit.SECONDS).close(); // no time has passed
    }

    @Test
    void leaseIsLost_whenItsHolderTakesLongerThanTheGrace() throws Exception {
        Lease lease = client.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
        CompletableFuture<Lease> next = other.mutex("/m").acquireAsync();
        Thread hook = ShuttingDown.onExit(client);
        hook.start();
        Eventually.holds("waiting requests end", Duration.ofSeconds(10), waiting::isCompletedExceptionally);
        locks.advance(Duration.ofSeconds(19));
        assertTrue(lease.isValid());
        locks.advance(Duration.ofSeconds(1));
        assertEquals(LossCause.CLIENT_CLOSED, lease.lost().get(10, TimeUnit.SECONDS));
        hook.join();
        next.get(10, TimeUnit.SECONDS).close();
    }
}
