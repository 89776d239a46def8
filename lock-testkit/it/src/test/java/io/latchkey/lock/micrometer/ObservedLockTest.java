// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.OnLoss;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.time.Eventually;
import io.micrometer.observation.Observation;
import io.micrometer.observation.Observation.ContextView;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The observations that a tracing system gets of a lock's callers. */
@Timeout(60)
class ObservedLockTest {
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final List<String> observed = Collections.synchronizedList(new ArrayList<>());
    private final List<String> reasons = Collections.synchronizedList(new ArrayList<>());

    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final LockClient client = locks.client();
    private final ObservedLock lock = ObservedLock.of(client.mutex("/orders/42"), "orders", registry);

    @BeforeEach
    void listen() {
        registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }

            @Override
            public void onEvent(Observation.Event event, Observation.Context context) {
                observed.add(context.getName() + " event " + event.getName() + " with outcome "
                        + context.getLowCardinalityKeyValue("outcome").getValue());
            }

            @Override
            public void onStop(Observation.Context context) {
                String parent = context.getParentObservation() == null
                        ? "none"
                        : context.getParentObservation().getContextView().getName();
                observed.add(context.getName() + " "
                        + context.getLowCardinalityKeyValue("outcome").getValue() + " of " + parent
                        + (context.getError() == null
                                ? ""
                                : ", " + context.getError().getClass().getSimpleName()));
                assertEquals("orders", context.getLowCardinalityKeyValue("lock").getValue());
                if (context.getName().equals("latchkey.acquire")) {
                    reasons.add(context.getLowCardinalityKeyValue("reason").getValue());
                }
                boolean granted = observed.get(observed.size() - 1).matches(".* (granted|kept|lost) .*");
                assertEquals(granted, context.getHighCardinalityKeyValue("token") != null);
                assertEquals(granted, context.getHighCardinalityKeyValue("path") != null);
            }
        });
    }

    @Test
    void waitAndBodyAreObserved_belowTheCaller() throws Exception {
        Observation caller = Observation.start("caller", registry).lowCardinalityKeyValue("lock", "orders");
        String result = caller.scopedChecked(() -> lock.call(lease -> {
            ContextView held = registry.getCurrentObservation().getContextView();
            assertEquals("latchkey.body", held.getName());
            assertEquals("hold orders", held.getContextualName(), "the name of the span");
            return "done";
        }));
        assertEquals("done", result);
        assertEquals(List.of("latchkey.acquire granted of caller", "latchkey.body kept of caller"), observed);
    }

    @Test
    void reasonOfAnAcquireIsThatOfItsError() throws Exception {
        Lease held = locks.client().mutex("/orders/42").acquire();
        CompletableFuture<Lease> late = lock.acquireAsync(Duration.ofSeconds(1));
        locks.advance(Duration.ofSeconds(1));
        assertThrows(ExecutionException.class, () -> late.get(20, TimeUnit.SECONDS));
        Eventually.holds("the stage has run", Duration.ofSeconds(20), () -> reasons.size() == 1);
        assertThrows(LockMismatchException.class, () -> ObservedLock.of(
                        client.semaphore("/orders/42", 2), "orders", registry)
                .acquire());
        held.close();
        lock.acquire().close();
        assertEquals(List.of("held_by_others", "different_kind", "none"), reasons);
    }

    @Test
    void bodyThatThrowsIsAnError_andTheLockIsReleased() throws Exception {
        assertThrows(
                IOException.class,
                () -> lock.run(lease -> {
                    throw new IOException("body");
                }));
        assertEquals(List.of("latchkey.acquire granted of none", "latchkey.body kept of none, IOException"), observed);
        assertTrue(client.mutex("/orders/42").tryAcquire().isPresent());
    }

    @Test
    void holdIsLost_whenTheLeaseIs() throws Exception {
        assertThrows(
                LeaseLostException.class,
                () -> lock.run(lease -> {
                    locks.expire(client);
                    lease.lost().toCompletableFuture().join();
                }));
        assertEquals(
                List.of(
                        "latchkey.acquire granted of none",
                        "latchkey.body event lost with outcome lost",
                        "latchkey.body lost of none"),
                observed);
    }

    @Test
    void holdIsKept_whenItsBodyReleasesOrTheConnectionIsAway() throws Exception {
        lock.run(Lease::close);
        lock.run(lease -> {
            locks.disconnect(client);
            Eventually.holds("suspect", Duration.ofSeconds(20), () -> lease.state() == LeaseState.SUSPECT);
        });
        assertEquals(
                List.of(
                        "latchkey.acquire granted of none",
                        "latchkey.body kept of none",
                        "latchkey.acquire granted of none",
                        "latchkey.body kept of none"),
                observed);
    }

    @Test
    void bodyIsInterrupted_whenItsCallAsksForThat() {
        assertThrows(
                LeaseLostException.class,
                () -> lock.run(OnLoss.INTERRUPT, lease -> {
                    locks.expire(client);
                    new CountDownLatch(1).await();
                }));
        assertEquals(
                List.of(
                        "latchkey.acquire granted of none",
                        "latchkey.body event lost with outcome lost",
                        "latchkey.body lost of none, InterruptedException"),
                observed);
    }

    @Test
    void triesAreObserved_withTheirOutcome() throws Exception {
        Lease held = lock.acquire();
        assertEquals(Optional.empty(), lock.tryAcquire());
        assertEquals(Optional.empty(), lock.tryAcquireAsync(Duration.ZERO).get(20, TimeUnit.SECONDS));
        Eventually.holds("three observations", Duration.ofSeconds(20), () -> observed.size() == 3);
        held.close();
        lock.tryAcquire(Duration.ofSeconds(1)).orElseThrow().close();
        lock.acquireAsync().get(20, TimeUnit.SECONDS).close();
        Eventually.holds("five observations", Duration.ofSeconds(20), () -> observed.size() == 5);
        lock.acquireUninterruptibly().close();
        assertEquals(
                List.of(
                        "latchkey.acquire granted of none",
                        "latchkey.acquire not_granted of none",
                        "latchkey.acquire not_granted of none",
                        "latchkey.acquire granted of none",
                        "latchkey.acquire granted of none",
                        "latchkey.acquire granted of none"),
                observed);
    }

    @Test
    void timedTryWaits() throws Exception {
        Lease held = client.mutex("/orders/42").acquire();
        FutureTask<Boolean> trying =
                new FutureTask<>(() -> lock.tryAcquire(Duration.ofHours(1)).isPresent());
        new Thread(trying).start();
        Eventually.holds(
                "it waits",
                Duration.ofSeconds(20),
                () -> trying.isDone() || lock.queue().size() == 2);
        held.close();
        assertTrue(trying.get(20, TimeUnit.SECONDS));
    }

    @Test
    void cancellingTheFutureReachesTheRequest() throws Exception {
        Lease held = client.mutex("/orders/42").acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        CompletableFuture<Optional<Lease>> trying = lock.tryAcquireAsync(Duration.ofHours(1));
        Eventually.holds(
                "three in the queue", Duration.ofSeconds(20), () -> lock.queue().size() == 3);
        waiting.cancel(false);
        trying.cancel(false);
        Eventually.holds(
                "one in the queue", Duration.ofSeconds(10), () -> lock.queue().size() == 1);
        Eventually.holds("both observed", Duration.ofSeconds(20), () -> observed.size() == 2);
        for (String each : observed) {
            assertTrue(each.startsWith("latchkey.acquire failed of none, "), each);
        }
        held.close();
    }

    @Test
    void failureIsObservedOnce_inEveryForm() throws Exception {
        client.close();
        assertThrows(ClientClosedException.class, lock::acquire);
        assertThrows(ClientClosedException.class, lock::acquireUninterruptibly);
        assertThrows(ClientClosedException.class, lock::tryAcquire);
        assertThrows(ClientClosedException.class, () -> lock.run(Lease::ensureValid));
        assertThrows(ExecutionException.class, () -> lock.tryAcquireAsync(Duration.ZERO)
                .get(20, TimeUnit.SECONDS));
        assertThrows(ExecutionException.class, () -> lock.acquireAsync().get(20, TimeUnit.SECONDS));
        Eventually.holds("six observations", Duration.ofSeconds(20), () -> observed.size() == 6);
        assertEquals(Collections.nCopies(6, "latchkey.acquire failed of none, ClientClosedException"), observed);
    }

    @Test
    void labelledLockIsObserved() throws Exception {
        lock.labelled("invoice 7")
                .run(lease -> assertEquals(
                        List.of("invoice 7"),
                        lock.queue().stream()
                                .map(request -> request.owner().label())
                                .toList()));
        assertEquals(List.of("latchkey.acquire granted of none", "latchkey.body kept of none"), observed);
    }

    @Test
    void limitedLockIsObserved_withThePathAndTheTokenOfItsLease() throws Exception {
        List<String> keys = Collections.synchronizedList(new ArrayList<>());
        registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }

            @Override
            public void onStop(Observation.Context context) {
                keys.add(context.getHighCardinalityKeyValue("path").getValue() + " "
                        + context.getHighCardinalityKeyValue("token").getValue());
            }
        });
        Duration limit = Duration.ofSeconds(9);
        long token = lock.heldAtMost(limit).call(OnLoss.IGNORE, lease -> {
            CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
            locks.advance(limit);
            assertEquals(LossCause.HELD_TOO_LONG, lost.getNow(null));
            return lease.token();
        });
        assertEquals(
                List.of(
                        "latchkey.acquire granted of none",
                        "latchkey.body event lost with outcome lost",
                        "latchkey.body lost of none"),
                observed);
        assertEquals(Collections.nCopies(2, "/orders/42 " + token), keys);
    }

    /** So a downgrade, a guarded write or a multi-lock takes them. */
    @Test
    void leaseIsTheLocksOwn() throws Exception {
        ObservedLock write = ObservedLock.of(client.readWriteLock("/pair").writeLock(), "orders", registry);
        Lease lease = write.acquire();
        Lease reading = client.readWriteLock("/pair").downgrade(lease);
        assertEquals(lease.token(), reading.token());
        reading.close();
    }
}
