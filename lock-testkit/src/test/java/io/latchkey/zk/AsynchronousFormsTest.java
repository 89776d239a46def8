// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The asynchronous forms of queue, resize and downgrade when servers are away, sessions end or callers give up. */
@Timeout(60)
class AsynchronousFormsTest {
    private final SimulatedLocks locks = SimulatedLocks.start();
    private final LockClient client = locks.client("mine");
    private final LockClient other = locks.client("other");

    @AfterEach
    void close() {
        locks.close();
    }

    private static <E extends LockException> E failure(Class<E> type, CompletableFuture<?> failing) {
        ExecutionException told = assertThrows(ExecutionException.class, () -> failing.get(10, TimeUnit.SECONDS));
        return assertInstanceOf(type, told.getCause());
    }

    @Test
    void questionsEnd_whenNoServerAnswers() throws Exception {
        client.semaphore("/s", 2).acquire().close();
        var held = locks.holdAnswers(client, RequestMatch.any().butHeartbeats());
        List<CompletableFuture<?>> asked = List.of(
                client.semaphore("/s", 2).queueAsync(),
                client.semaphore("/s", 2).resizeAsync(3),
                client.multiLock(client.mutex("/a"), client.mutex("/b")).queueAsync());
        locks.advance(Duration.ofSeconds(15));
        for (CompletableFuture<?> each : asked) {
            assertEquals(
                    LockException.Reason.NO_ANSWER,
                    failure(LockUnavailableException.class, each).reason());
        }
        held.close();
    }

    @Test
    void resizeTakesEffect_whenThePathIsRemovedAtTheSameTime() throws Exception {
        Semaphore semaphore = client.semaphore("/s", 2);
        semaphore.acquire().close();
        var held = locks.holdAnswers(client, RequestMatch.any().butHeartbeats());
        CompletableFuture<Void> resized = semaphore.resizeAsync(3);
        locks.delete("/s");
        held.close();
        assertNull(resized.get(10, TimeUnit.SECONDS));
        assertEquals(3, other.semaphore("/s", 2).capacity());
    }

    @Test
    void questionThatWaitsForAConnectionEnds_whenTheSessionEnds() throws Exception {
        client.mutex("/m").acquire().close();
        locks.disconnect(client);
        CompletableFuture<?> listing = client.locksAsync("/");
        locks.expire(client);
        locks.heal(client);
        assertEquals(
                LockException.Reason.NO_SESSION,
                failure(LockUnavailableException.class, listing).reason());
    }

    @Test
    void readLeaseIsReleased_whenTheDowngradeWasCancelled() throws Exception {
        ReadWriteLock lock = client.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        var held = locks.holdAnswers(client, RequestMatch.multi().under("/rw"));
        CompletableFuture<Lease> downgrade = lock.downgradeAsync(write);
        assertTrue(downgrade.cancel(false));
        held.close();
        Eventually.holds(
                "nothing is left",
                Duration.ofSeconds(10),
                () -> other.readWriteLock("/rw").readLock().queue().isEmpty());
    }

    @Test
    void downgradeFails_whenTheLeaseIsLost() throws Exception {
        ReadWriteLock lock = client.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        other.readWriteLock("/rw").readLock().queue().get(0).evict();
        LeaseLostException unused = failure(LeaseLostException.class, lock.downgradeAsync(write));
        assertEquals(List.of(), other.readWriteLock("/rw").readLock().queue());
    }

    @Test
    void contenderOfADowngradedLease_isThatOfItsWriteLease() throws Exception {
        ReadWriteLock lock = client.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        var before = other.readWriteLock("/rw").readLock().queue().get(0);
        Lease read = lock.downgrade(write);
        var after = other.readWriteLock("/rw").readLock().queue().get(0);
        assertTrue(before.isOf(write) && before.isOf(read) && after.isOf(read));
        assertTrue(lock.readLock().queue().get(0).isOwn());
        Lease beside = other.readWriteLock("/rw").readLock().acquire();
        assertTrue(!before.isOf(beside) && !after.isOf(beside));
        read.close();
        beside.close();
    }
}
