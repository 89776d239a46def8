// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.LockUnavailableException;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A wait that ends at the moment of the grant, which no test with threads can choose. */
@Timeout(30)
class ZkAcquirableTest {
    /** A request that ends before its interrupted caller can cancel it. */
    private static final class InterruptedWait extends CompletableFuture<Optional<ZkLease>> {
        @Override
        public Optional<ZkLease> get() throws InterruptedException {
            throw new InterruptedException("at the grant");
        }
    }

    @Test
    void leaseIsReleased_whenItsCallerIsInterruptedAtTheGrant() {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Engine engine = EngineOf.lock(locks.client().mutex("/m"));
            LockTarget mutex = new LockTarget(Recipe.MUTEX, new LockPath("/m"));
            ZkAcquirable lock = new ZkAcquirable(engine, List.of(mutex)) {
                @Override
                CompletableFuture<Optional<ZkLease>> startToWait(WaitPolicy waitPolicy) {
                    CompletableFuture<Optional<ZkLease>> granted = new InterruptedWait();
                    granted.complete(super.startToWait(waitPolicy).join());
                    return granted;
                }
            };
            assertThrows(InterruptedException.class, lock::acquire);
            locks.advance(Duration.ZERO); // until callbacks have run
            assertEquals(List.of(), locks.nodesUnder("/m"));
        }
    }

    @Test
    void interruptionIsThrown_whenTheRequestFailsAtTheSameTime() {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Engine engine = EngineOf.lock(locks.client().mutex("/m"));
            LockTarget mutex = new LockTarget(Recipe.MUTEX, new LockPath("/m"));
            ZkAcquirable lock = new ZkAcquirable(engine, List.of(mutex)) {
                @Override
                CompletableFuture<Optional<ZkLease>> startToWait(WaitPolicy waitPolicy) {
                    CompletableFuture<Optional<ZkLease>> failed = new InterruptedWait();
                    failed.completeExceptionally(new LockUnavailableException("no server"));
                    return failed;
                }
            };
            assertThrows(InterruptedException.class, lock::acquire);
        }
    }
}
