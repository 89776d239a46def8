// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.testkit.SimulatedLocks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queries of a client: each has its answer in a bounded time. */
@Tag("slow")
@Timeout(30)
class QueriesTest {
    private static <T> T soon(CompletionStage<T> asked) throws Exception {
        return asked.toCompletableFuture().get(5, TimeUnit.SECONDS);
    }

    @Test
    void queueHasItsHolderAndItsWaiter() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient client = locks.client();
            Lease held = soon(client.mutex("/m").acquireAsync());
            CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
            locks.advance(Duration.ZERO);
            List<Contender> queue = soon(client.mutex("/m").queueAsync());
            assertEquals(
                    List.of(Contender.State.HOLDING, Contender.State.WAITING),
                    queue.stream().map(Contender::state).toList());
            assertEquals(List.of(), soon(client.mutex("/unused").queueAsync()));
            held.close();
            soon(waiting).close();
        }
    }

    @Test
    void queueIsEmpty_whenItsPathIs() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient client = locks.client();
            soon(client.mutex("/m").acquireAsync()).close();
            locks.advance(Duration.ZERO);
            assertEquals(List.of(), soon(client.mutex("/m").queueAsync()));
            LockListing all = soon(client.listLocksAsync("/"));
            assertEquals(
                    List.of("/m"), all.locks().stream().map(lock -> lock.path()).toList());
        }
    }

    /** The diagnosis waits for a session timeout at most, and names a gap then. */
    @Test
    void circleIsFound_withoutAGap() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start(Duration.ofSeconds(3))) {
            LockClient alice = locks.client("alice");
            LockClient bob = locks.client("bob");
            Lease first = soon(alice.mutex("/a").acquireAsync());
            Lease second = soon(bob.mutex("/b").acquireAsync());
            CompletableFuture<Lease> third = alice.mutex("/b").acquireAsync();
            CompletableFuture<Lease> fourth = bob.mutex("/a").acquireAsync();
            locks.advance(Duration.ZERO);
            Diagnosis diagnosis = soon(CompletableFuture.supplyAsync(alice::diagnose));
            assertEquals(Optional.empty(), diagnosis.incompleteBecause());
            assertEquals(1, diagnosis.cycles().size(), diagnosis::toString);
            first.close();
            second.close();
            soon(third).close();
            soon(fourth).close();
        }
    }

    @Test
    void holderAndWaiterEnd_whenTheirClientIsClosed() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient client = locks.client();
            Lease held = soon(client.mutex("/m").acquireAsync());
            CompletableFuture<LossCause> lost = held.lost().toCompletableFuture();
            CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
            soon(CompletableFuture.runAsync(client::close));
            assertEquals(LossCause.CLIENT_CLOSED, soon(lost));
            assertTrue(waiting.isCompletedExceptionally());
            assertFalse(held.isValid());
        }
    }
}
