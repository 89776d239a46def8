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
import java.util.function.BiConsumer;
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

    /** A mutex whose wait is interrupted when its request has ended like this. */
    private static ZkAcquirable interruptedMutex(
            SimulatedLocks locks, BiConsumer<InterruptedWait, CompletableFuture<Optional<ZkLease>>> ends) {
        Engine engine = EngineOf.lock(locks.client().mutex("/m"));
        return new ZkAcquirable(engine, List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m")))) {
            @Override
            CompletableFuture<Optional<ZkLease>> startToWait(WaitPolicy waitPolicy) {
                InterruptedWait wait = new InterruptedWait();
                ends.accept(wait, super.startToWait(waitPolicy));
                return wait;
            }
        };
    }

    @Test
    void leaseIsReleased_whenItsCallerIsInterruptedAtTheGrant() {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            ZkAcquirable lock = interruptedMutex(locks, (wait, request) -> wait.complete(request.join()));
            assertThrows(InterruptedException.class, lock::acquire);
            locks.advance(Duration.ZERO); // until callbacks have run
            assertEquals(List.of(), locks.nodesUnder("/m"));
        }
    }

    @Test
    void interruptionIsThrown_whenTheRequestFailsAtTheSameTime() {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            ZkAcquirable lock = interruptedMutex(
                    locks, (wait, request) -> wait.completeExceptionally(new LockUnavailableException("no server")));
            assertThrows(InterruptedException.class, lock::acquire);
        }
    }
}
