// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

/** The guarantees of a limit on holding, tested with a mutex. {@link LeaseContract} has them too. */
abstract class LimitContract extends GraceContract {
    @Guarantee(
            id = "LK-LEASE-44",
            says = "a lease is lost at its limit without a server as well",
            needs = Feature.LIMITS)
    void limitWithoutServer() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client).heldAtMost(moment()));
        CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
        fixture().cutOff(client);
        assertEquals(LossCause.HELD_TOO_LONG, soon(lost));
        assertEquals(LeaseState.LOST, lease.state());
        assertEquals(Duration.ZERO, lease.remaining());
        assertEquals(ReleaseOutcome.LOST, lease.release());
        fixture().heal(client);
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-45",
            says = "of limits on limits the smallest counts, and a body with INTERRUPT is interrupted at it",
            needs = Feature.LIMITS)
    void limitsOnLimits() {
        Mutex lock = mutex(client()).heldAtMost(HOUR).heldAtMost(moment()).heldAtMost(HOUR);
        LeaseLostException told = assertThrows(
                LeaseLostException.class,
                () -> lock.run(OnLoss.INTERRUPT, lease -> new CountDownLatch(1)
                        .await(patience().toNanos(), TimeUnit.NANOSECONDS)));
        assertEquals(LossCause.HELD_TOO_LONG, told.lossCause());
        assertInstanceOf(InterruptedException.class, told.getCause());
    }

    @Guarantee(
            id = "LK-LEASE-46",
            says = "after a loss the next request is granted when the stages of lost() have run, or a bound has passed",
            needs = {Feature.LIMITS, Feature.SESSION_VIEWS})
    void nextAfterTheNotice() throws Exception {
        assertNextIsAfterTheNotice(moment(), client -> {});
        assertNextIsAfterTheNotice(HOUR, LockClient::close);
    }

    private void assertNextIsAfterTheNotice(Duration limit, Consumer<LockClient> loss) throws Exception {
        LockClient client = client();
        long bound = client.session().timeout().dividedBy(20).toNanos();
        Mutex others = mutex(client());
        AtomicLong lossAtTheEarliest = new AtomicLong(System.nanoTime() + limit.toNanos());
        Lease lease = acquired(mutex(client).heldAtMost(limit));
        CompletableFuture<Boolean> early = new CompletableFuture<>();
        CompletableFuture<Lease> next = new CompletableFuture<>();
        var unused = lease.lost().thenRun(() -> {
            boolean granted = isDoneWithin(bound / 2, next);
            early.complete(granted && System.nanoTime() - lossAtTheEarliest.get() < bound);
        });
        var unused2 = queued(others).thenAccept(next::complete);
        if (limit.equals(HOUR)) {
            lossAtTheEarliest.set(System.nanoTime());
        }
        loss.accept(client);
        assertFalse(soon(early), "granted before the stage had ended");
        soon(next).close();
    }

    private static boolean isDoneWithin(long nanos, CompletableFuture<?> due) {
        try {
            return due.get(nanos, TimeUnit.NANOSECONDS) != null;
        } catch (InterruptedException | ExecutionException | TimeoutException notDone) {
            return false;
        }
    }

    @Guarantee(
            id = "LK-LEASE-47",
            says = "a stage of lost() that blocks delays the next grant only for a bounded time",
            needs = Feature.LIMITS)
    void blockingStage() throws Exception {
        Lease lease = acquired(mutex(client()).heldAtMost(moment()));
        CompletableFuture<Boolean> go = new CompletableFuture<>();
        CompletableFuture<Boolean> stage =
                lease.lost().thenApply(cause -> go.join()).toCompletableFuture();
        try {
            soon(queued(mutex(client()))).close();
            assertFalse(stage.isDone());
        } finally {
            go.complete(true);
        }
        assertTrue(soon(stage));
    }

    @Guarantee(
            id = "LK-LEASE-48",
            says = "a view whose lease reached its limit tells the loss",
            needs = {Feature.LIMITS, Feature.LOCK_VIEWS})
    @SuppressWarnings("LockNotBeforeTry") // the view is what is tested
    void limitOfAView() throws Exception {
        Mutex lock = mutex(client());
        Lock view = lock.heldAtMost(moment()).asLock();
        view.lock();
        Lease lease = lock.leaseOfView().orElseThrow();
        assertEquals(LossCause.HELD_TOO_LONG, soon(lease.lost()));
        assertThrows(LockOwnershipLostException.class, view::unlock);
        assertFree(mutex(client()));
    }
}
