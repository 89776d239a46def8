// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Leadership;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/shutting-down.md. LK-LEASE-50 has a holder that takes too long. */
@Tag("slow")
@Timeout(30)
class ShuttingDownTest {
    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final LockClient client = locks.client();
    private final LockClient other = locks.client();

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
    void leaderAndItsClientEnd() throws Exception {
        Leadership candidate = Leadership.start(client.mutex("/leader"), lease -> {
            new CountDownLatch(1).await();
            return Leadership.Next.QUEUE_AGAIN;
        });
        Eventually.holds("it leads", Duration.ofSeconds(10), candidate::isLeader);
        Thread hook = ShuttingDown.onExit(candidate, client);
        hook.start();
        hook.join();
        assertTrue(candidate.ended().toCompletableFuture().isDone());
        assertTrue(other.mutex("/leader").tryAcquire().isPresent());
    }
}
