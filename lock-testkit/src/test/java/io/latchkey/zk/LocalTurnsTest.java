// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Contender.ReleaseRequestResult;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiters of one client that take turns with one place in the server's queue. */
@Timeout(60)
class LocalTurnsTest extends OnOneServer {
    private static final Duration LONG = Slowness.stretched(Duration.ofSeconds(8));
    private static final int TURNS = 5;

    private final FaultProxy proxy = fastProxy();
    private final ZkLockClient turning = client(builder ->
            builder.connectString(proxy.connectString()).sessionTimeout(LONG).localTurns(TURNS, Duration.ofMinutes(1)));

    private CompletableFuture<Lease> turn() {
        return turning.mutex("/m").acquireAsync();
    }

    @Test
    void turnsCostNoRequests() throws Exception {
        int turns = 200;
        ZkLockClient client = client(builder -> builder.connectString(proxy.connectString())
                .sessionTimeout(LONG)
                .localTurns(turns + 1, Duration.ofMinutes(1)));
        Wire.Mark before = proxy.mark();
        Lease first = client.mutex("/m").acquire();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        for (int i = 0; i < turns; i++) {
            served.add(client.mutex("/m").acquireAsync().thenAccept(Lease::close));
        }
        first.close();
        CompletableFuture.allOf(served.toArray(CompletableFuture<?>[]::new)).get(10, TimeUnit.SECONDS);
        awaitNothingLeft("/m");
        // One acquires, one waits behind it and gives up; each takes and leaves a place.
        long requests = proxy.since(before).requestsButHeartbeats();
        assertTrue(requests <= 12, () -> requests + " requests for " + turns + " turns");
    }

    @Test
    void threadsHoldOneAfterTheOther() throws Exception {
        int threads = 8;
        int each = 100;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger held = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> work = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                work.add(pool.submit(() -> {
                    for (int j = 0; j < each; j++) {
                        try (Lease lease = turning.mutex("/m").acquire()) {
                            assertEquals(1, inside.incrementAndGet());
                            assertTrue(lease.isValid());
                            held.incrementAndGet();
                            inside.decrementAndGet();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> one : work) {
                one.get(30, TimeUnit.SECONDS);
            }
            assertEquals(threads * each, held.get());
        } finally {
            pool.shutdownNow();
        }
        awaitNothingLeft("/m");
    }

    @Test
    void nextClientIsServed_whenTheLocalTurnsAreUsedUp() throws Exception {
        Lease first = soon(turn());
        List<CompletableFuture<Lease>> own = new ArrayList<>();
        own.add(turn());
        awaitRequests("/m", 2);
        CompletableFuture<Lease> other = client("other").mutex("/m").acquireAsync();
        awaitRequests("/m", 3);
        for (int i = 2; i < 3 * TURNS; i++) {
            own.add(turn());
        }
        // The first place has five turns. The second stands before the other client, the third behind it.
        Lease now = first;
        for (int i = 1; i < 2 * TURNS; i++) {
            now.close();
            assertFalse(other.isDone());
            now = soon(own.get(i - 1));
            assertEquals(i < TURNS, now.token() == first.token(), "turn " + i);
        }
        awaitRequests("/m", 3);
        now.close();
        Lease others = soon(other);
        assertTrue(others.token() > now.token());
        CompletableFuture<Lease> after = own.get(2 * TURNS - 1);
        settle(turning.mutex("/m"));
        assertFalse(after.isDone());
        others.close();
        Lease last = soon(after);
        assertTrue(last.token() > others.token());
        for (int i = 2 * TURNS; i < own.size(); i++) {
            last.close();
            last = soon(own.get(i));
        }
        last.close();
        awaitNothingLeft("/m");
    }

    @Test
    void noTurnBegins_afterItsTimeout() throws Exception {
        ZkLockClient brief = client(builder -> builder.localTurns(1000, Duration.ofNanos(1)));
        Lease first = brief.mutex("/m").acquire();
        CompletableFuture<Lease> second = brief.mutex("/m").acquireAsync();
        first.close();
        assertTrue(soon(second).token() > first.token());
    }

    @Test
    void localWaiterThatGivesUp_isSkipped() throws Exception {
        Lease held = soon(turn());
        CompletableFuture<Lease> cancelled = turn();
        CompletableFuture<Optional<Lease>> impatient = turning.mutex("/m").tryAcquireAsync(Duration.ofMillis(50));
        CompletableFuture<Lease> patient = turn();
        cancelled.cancel(false);
        assertEquals(Optional.empty(), soon(impatient));
        assertEquals(Optional.empty(), turning.mutex("/m").tryAcquire());
        assertEquals(Optional.empty(), turning.mutex("/m").tryAcquire(Duration.ofMillis(20)));
        held.close();
        Lease next = soon(patient);
        assertEquals(held.token(), next.token());
        next.close();
        awaitNothingLeft("/m");
    }

    @Test
    void releasedTurnEnds_thoughTheNodeStays() throws Exception {
        Lease held = soon(turn());
        CompletableFuture<LossCause> lost = held.lost();
        CompletableFuture<Lease> next = turn();
        held.close();
        assertTrue(soon(next).isValid());
        assertFalse(held.isValid());
        assertFalse(lost.isDone());
        assertThrows(IllegalStateException.class, held::ensureValid);
    }

    @Test
    void lostPlace_isReportedToItsHolderAndWaitersQueueAgain() throws Exception {
        Lease first = soon(turn());
        CompletableFuture<Lease> second = turn();
        first.close();
        Lease held = soon(second);
        CompletableFuture<LossCause> lost = held.lost();
        CompletableFuture<Lease> third = turn();
        CompletableFuture<Lease> fourth = turn();
        soon(proxy.expireSession());
        assertEquals(LossCause.SESSION_EXPIRED, soon(lost));
        Lease anew = soon(third);
        assertTrue(anew.token() > held.token());
        anew.close();
        assertEquals(anew.token(), soon(fourth).token());
        soon(fourth).close();
        awaitNothingLeft("/m");
    }

    @Test
    void deletedNodeOfATurn_losesTheLeaseAndWaitersQueueAgain() throws Exception {
        Lease held = soon(turn());
        CompletableFuture<LossCause> lost = held.lost();
        CompletableFuture<Lease> next = turn();
        awaitRequests("/m", 2);
        deleteRequest("/m", 0);
        assertEquals(LossCause.NODE_DELETED, soon(lost));
        assertTrue(soon(next).token() > held.token());
    }

    @Test
    void holderThatIsAskedToRelease_passesNoTurnOn() throws Exception {
        Lease held = soon(turn());
        var asked = held.releaseRequested();
        CompletableFuture<Lease> next = turn();
        awaitRequests("/m", 2);
        LockClient operator = client("operator");
        awaitUntil("a listening holder", () -> {
            ReleaseRequestResult answer = operator.mutex("/m").queue().get(0).requestRelease();
            return answer == ReleaseRequestResult.DELIVERED;
        });
        assertEquals("operator", soon(asked).label());
        held.close();
        assertTrue(soon(next).token() > held.token());
    }

    @Test
    void closeOfTheClient_endsHolderAndWaiters() throws Exception {
        Lease held = soon(turn());
        CompletableFuture<Lease> waiting = turn();
        turning.close();
        assertFalse(held.isValid());
        refusal(ClientClosedException.class, waiting);
        refusal(ClientClosedException.class, turn());
        assertEquals(List.<ServerNode>of(), requestsUnder("/m"));
    }

    /** The engine is busy when the lease is released, so its release is carried out after the session's deadline. */
    @Test
    void turnIsNotPassedOn_afterTheDeadline() throws Exception {
        ZkLockClient brief = client(builder -> builder.sessionTimeout(SESSION).localTurns(TURNS, LONG));
        ZkLease held = (ZkLease) brief.mutex("/m").acquire();
        Lease clock = brief.mutex("/clock").acquire();
        CompletableFuture<Boolean> valid = brief.mutex("/m").acquireAsync().thenApply(Lease::isValid);
        awaitRequests("/m", 2);
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread engine = new Thread(() -> held.context().execute(() -> {
            busy.countDown();
            Uninterruptibles.awaitUninterruptibly(goOn);
        }));
        engine.start();
        busy.await();
        var unused = held.releaseAsync();
        awaitUntil("the deadline", () -> !clock.isValid());
        goOn.countDown();
        assertTrue(soon(valid));
        engine.join();
    }

    @Test
    void boundsAreCheckedAtTheDoor() {
        ZkLockClient.Builder builder = ZkLockClient.builder();
        assertThrows(IllegalArgumentException.class, () -> builder.localTurns(1, LONG));
        assertThrows(IllegalArgumentException.class, () -> builder.localTurns(2, Duration.ZERO));
        assertThrows(NullPointerException.class, () -> builder.localTurns(2, null));
    }
}
