// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A wait that ends at the moment of the grant, which no test with threads can choose. */
@Timeout(30)
class ZkAcquirableTest {
    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    /** A request that ends between the interruption of its caller and the moment when the caller gives it up. */
    private static final class EndsLate extends AcquireFuture {
        private final Consumer<AcquireFuture> ends;

        EndsLate(AcquireFuture request, Engine engine, WaitPolicy waitPolicy, Consumer<AcquireFuture> ends) {
            super(engine.context(), request.events(), waitPolicy, () -> {});
            this.ends = ends;
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            ends.accept(this);
            return super.cancel(mayInterruptIfRunning);
        }
    }

    /** A mutex whose caller is interrupted, and whose request ends then like this. */
    private static ZkAcquirable interruptedMutex(
            SimulatedLocks locks, BiConsumer<AcquireFuture, CompletableFuture<Optional<ZkLease>>> ends) {
        Engine engine = EngineOf.lock(locks.client().mutex("/m"));
        return new ZkAcquirable(engine, List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m"))), Optional.empty()) {
            @Override
            AcquireFuture start(WaitPolicy waitPolicy) {
                AcquireFuture request = super.start(waitPolicy);
                Thread.currentThread().interrupt();
                return new EndsLate(request, engine, waitPolicy, wait -> ends.accept(wait, request));
            }
        };
    }

    @Test
    void leaseIsReleased_whenItsCallerIsInterruptedAtTheGrant() {
        ZkAcquirable lock = interruptedMutex(locks, (wait, request) -> wait.answer(request.join()));
        assertThrows(InterruptedException.class, lock::acquire);
        locks.advance(Duration.ZERO); // until callbacks have run
        assertEquals(List.of(), locks.nodesUnder("/m"));
    }

    @Test
    void interruptionIsThrown_whenTheRequestFailsAtTheSameTime() {
        ZkAcquirable lock =
                interruptedMutex(locks, (wait, request) -> wait.fail(new LockServiceUnavailableException("no server")));
        assertThrows(InterruptedException.class, lock::acquire);
    }
}
