// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.threads.ThreadIdentity;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whether a thread waits for leases that it holds itself: then it waits forever. */
@Timeout(30)
class HeldLeasesTest {
    private final ClientContext context = new Engine(WithoutServer.config()).context();

    /** Returns the events of a request that this thread waits for, or has waited for. */
    private RequestEvents asked(LockTarget... members) {
        RequestEvents events = context.eventsOf(List.of(members));
        events.callerWaits();
        return events;
    }

    private OwnLease held(LockTarget... members) {
        return new OwnLease(asked(members));
    }

    private boolean waitsForItself(LockTarget wanted, OwnLease... held) {
        for (OwnLease lease : held) {
            context.held().add(lease);
            context.held().received(lease);
        }
        boolean waits = context.heldByCallerOf(asked(wanted)).isPresent();
        for (OwnLease lease : held) {
            context.held().remove(lease);
        }
        assertTrue(context.heldByCallerOf(asked(wanted)).isEmpty(), "by leases that have ended");
        assertFalse(context.held().anyOf(ThreadIdentity.current()));
        return waits;
    }

    /** A lease of the current thread. */
    private record OwnLease(RequestEvents events) implements HeldLeases.HeldLease {
        @Override
        public boolean hasEnded() {
            return false;
        }

        @Override
        public boolean end(LossCause cause) {
            return false;
        }

        @Override
        public void notifyOwner(LossCause cause) {
            // It has no owner.
        }

        @Override
        public CompletableFuture<@Nullable Void> notified() {
            return new CompletableFuture<>();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    @Test
    void threadWaitsForItself_whenItsLeasesTogetherHaveAllPermits() {
        LockTarget permit = new LockTarget(Recipe.semaphore(2, 1), new LockPath("/s"));
        assertTrue(waitsForItself(permit, held(permit), held(permit)));
        assertFalse(waitsForItself(permit, held(permit)), "another thread may hold the other permit");
    }

    /** As one that waits when the semaphore is made smaller. */
    @Test
    void threadDoesNotWaitForItself_whenItAsksForMoreThanTheCapacityAndHoldsAnotherPath() {
        LockPath path = new LockPath("/s");
        context.learn(path, PathData.semaphore(2).resized(1));
        LockTarget bothPermits = new LockTarget(Recipe.semaphore(2, 2), path);
        assertFalse(waitsForItself(bothPermits, held(new LockTarget(Recipe.MUTEX, new LockPath("/a")))));
    }

    /** Of a pool that ends a thread and hands its leases to another one. */
    @Test
    void leaseIsForgottenWithItsEnd_whenItsThreadIsGone() throws Exception {
        LockTarget lock = new LockTarget(Recipe.MUTEX, new LockPath("/a"));
        List<OwnLease> leases = new ArrayList<>();
        WeakReference<Thread> gone = runToItsEnd(() -> {
            for (int i = 0; i < 2; i++) {
                OwnLease lease = held(lock);
                context.held().add(lease);
                context.held().received(lease);
                leases.add(lease);
            }
        });
        while (gone.get() != null) {
            System.gc();
        }
        for (OwnLease lease : leases) {
            context.held().remove(lease);
        }
        for (OwnLease lease : leases) {
            assertFalse(context.held().anyOf(lease.events().caller()));
        }
    }

    private static WeakReference<Thread> runToItsEnd(Runnable task) throws InterruptedException {
        Thread thread = new Thread(task);
        thread.start();
        thread.join();
        return new WeakReference<>(thread);
    }

    @Test
    void threadWaitsForItself_whenItAcquiresAnyMemberOfItsMultiLock() {
        LockTarget first = new LockTarget(Recipe.MUTEX, new LockPath("/a"));
        LockTarget second = new LockTarget(Recipe.MUTEX, new LockPath("/b"));
        assertTrue(waitsForItself(first, held(first, second)));
        assertTrue(waitsForItself(second, held(first, second)));
        assertFalse(waitsForItself(new LockTarget(Recipe.MUTEX, new LockPath("/c")), held(first, second)));
    }
}
