// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireOp;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.server.ServerWatch;
import io.latchkey.zk.Layout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SimulatedLocksTest {
    private static final Duration SESSION = Duration.ofSeconds(10);

    @Test
    void oneHoldsAtATime() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Lease first = locks.client("first").mutex("/m").acquire();
            Mutex other = locks.client("other").mutex("/m");
            assertEquals(Optional.empty(), other.tryAcquire());
            CompletableFuture<Lease> waiting = other.acquireAsync();
            assertFalse(waiting.isDone());
            assertEquals(List.of("first", "other"), labels(other));
            assertEquals(ReleaseOutcome.RELEASED, first.release());
            Lease second = waiting.get();
            assertTrue(second.token() > first.token());
            second.close();
            assertEquals(1, locks.nodesUnder("/").size(), "the path alone");
            assertEquals(List.of(), locks.watches());
        }
    }

    private static List<String> labels(Mutex mutex) {
        return mutex.queue().stream().map(Contender::label).toList();
    }

    @Test
    void lineOfManyPermits_hasOneWaiterThatWatchesThePathAfterAResizeUpAndDown() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Semaphore pool = locks.client().semaphore("/pool", 9);
            Lease before = pool.acquire();
            pool.resize(1_000);
            pool.resize(9);
            List<Lease> held = new ArrayList<>();
            for (int i = 1; i < 9; i++) {
                held.add(pool.acquire());
            }
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Semaphore two = locks.client().semaphore("/pool", 9);
                waiting.add(two.acquireAsync());
                waiting.add(two.acquireAsync());
            }
            for (CompletableFuture<Lease> next : waiting) {
                assertEquals(1, watchersOfChildren(locks, "/pool"));
                held.remove(held.size() - 1).close();
                held.add(0, next.get(10, TimeUnit.SECONDS));
            }
            held.forEach(Lease::close);
            before.close();
            assertEquals(List.of(), locks.watches());
        }
    }

    private static long watchersOfChildren(SimulatedLocks locks, String path) {
        return locks.watches().stream()
                .filter(watch -> watch.path().equals(path) && watch.kind() == ServerWatch.Kind.CHILDREN)
                .count();
    }

    /** Holders of before a shrink tell nothing more: the waiter behind one of them looks at the whole queue. */
    @Test
    void waiterBehindAHolderFromBeforeAShrink_isGrantedByAnotherRelease() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            for (LockClient waits : List.of(mine, locks.client())) {
                Semaphore pool = mine.semaphore("/pool", 20);
                Lease large = pool.permits(12).acquire();
                Lease last = pool.permits(8).acquire();
                pool.resize(10);
                CompletableFuture<Lease> waiting = waits.semaphore("/pool", 20).acquireAsync();
                large.close();
                waiting.get(10, TimeUnit.SECONDS).close();
                last.close();
                pool.resize(20);
            }
        }
    }

    @Test
    void expiredHolder_losesItsLeaseAndAnotherIsServed() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Lease held = mine.mutex("/m").acquire();
            CompletableFuture<Lease> waiting = locks.client().mutex("/m").acquireAsync();
            long session = locks.session(mine);
            locks.expire(mine);
            assertEquals(LossCause.SESSION_EXPIRED, held.lost().get());
            assertFalse(held.isValid());
            assertTrue(waiting.get().isValid());
            assertFalse(locks.sessions().contains(session));
            assertTrue(locks.session(mine) > session);
            assertEquals(Optional.empty(), mine.mutex("/m").tryAcquire());
        }
    }

    @Test
    void observer_getsTheEventsOfItsClientInSimulatedTime() throws Exception {
        CompletableFuture<Duration> heldUntilLost = new CompletableFuture<>();
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient observed = locks.client(new LockObserver() {
                @Override
                public void lost(Request request, long token, LossCause cause, Duration held) {
                    heldUntilLost.complete(held);
                }
            });
            Lease held = observed.mutex("/m").acquire();
            locks.advance(Duration.ofSeconds(7));
            assertTrue(held.isValid());
            locks.expire(observed);
            assertEquals(Duration.ofSeconds(7), heldUntilLost.get(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void leaseOfACutOffClient_isValidUntilItsDeadline() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Lease held = mine.mutex("/m").acquire();
            locks.cutOff(mine);
            locks.expire(mine);
            Lease next = locks.client().mutex("/m").acquire();
            assertTrue(held.isValid(), "it cannot know");
            assertTrue(next.isValid());
            locks.advance(SESSION);
            assertEquals(LossCause.DEADLINE_PASSED, held.lost().get());
            assertTrue(next.isValid());
            locks.heal(mine);
            assertTrue(locks.session(mine) > 0);
            assertEquals(2, locks.sessions().size());
        }
    }

    @Test
    void validLeasesDoNotOverlap_whenAPartitionEndsASession() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Lease held = mine.mutex("/m").acquire();
            CompletableFuture<Lease> waiting = locks.client().mutex("/m").acquireAsync();
            locks.cutOff(mine);
            Duration passed = Duration.ZERO;
            while (!waiting.isDone()) {
                locks.advance(Duration.ofMillis(100));
                passed = passed.plusMillis(100);
                assertFalse(held.isValid() && waiting.isDone());
            }
            assertTrue(passed.compareTo(SESSION.multipliedBy(9).dividedBy(10)) > 0, passed.toString());
            assertTrue(passed.compareTo(SESSION.multipliedBy(2)) < 0, passed.toString());
            assertEquals(LeaseState.LOST, held.state());
        }
    }

    @Test
    void everyOrderOfExpiryEndsWithANewSession() throws Exception {
        for (ExpiryOrder order : ExpiryOrder.values()) {
            try (SimulatedLocks locks = SimulatedLocks.start()) {
                LockClient mine = locks.client();
                Lease held = mine.mutex("/m").acquire();
                long session = locks.session(mine);
                locks.expire(mine, order);
                assertEquals(
                        order == ExpiryOrder.PARTITION ? LossCause.DEADLINE_PASSED : LossCause.SESSION_EXPIRED,
                        held.lost().get(),
                        order.name());
                assertEquals(order == ExpiryOrder.CLIENT_FIRST, locks.sessions().contains(session), order.name());
                locks.advance(SESSION.multipliedBy(2));
                assertEquals(List.of(locks.session(mine)), locks.sessions(), order.name());
                assertTrue(mine.mutex("/m").tryAcquire().isPresent(), order.name());
            }
        }
    }

    /**
     * A quarter of the timeout is the margin: the heartbeat that makes a pair with the barrier comes then, just in
     * time.
     */
    @Test
    void clientThatWasDisconnectedForSevenTenthsOfItsTimeout_keepsItsLease() throws Exception {
        Duration timeout = Duration.ofSeconds(10);
        try (SimulatedLocks locks = SimulatedLocks.start(timeout)) {
            LockClient mine = locks.client();
            Lease held = mine.mutex("/m").acquire();
            locks.disconnect(mine);
            locks.advance(Duration.ofSeconds(7));
            assertTrue(held.isValid());
            locks.heal(mine);
            locks.advance(timeout);
            assertTrue(held.isValid());
        }
    }

    /** What was not sent leaves nothing to look for and nothing to remember. */
    @Test
    void triesSendNothing_whileTheirClientIsDisconnected() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            mine.mutex("/m").acquire().close();
            locks.disconnect(mine);
            for (int i = 0; i < 20; i++) {
                CompletableFuture<Optional<Lease>> tried = mine.mutex("/m").tryAcquireAsync(Duration.ofMillis(20));
                locks.advance(Duration.ofMillis(20));
                assertEquals(Optional.empty(), tried.get(10, TimeUnit.SECONDS));
            }
            CompletableFuture<Lease> waits = mine.mutex("/m").acquireAsync();
            locks.heal(mine);
            waits.get(10, TimeUnit.SECONDS).close();
            ServerNode path = locks.nodesUnder("/").stream()
                    .filter(node -> node.path().equals("/m"))
                    .findFirst()
                    .orElseThrow();
            assertEquals(2, path.childCounter(), "requests that were ever made");
        }
    }

    /** No event tells when a server that has refused it would not refuse it any more. */
    @Test
    void refusedFirstWritesOfAConnection_areRepeated() throws Exception {
        Duration timeout = Duration.ofSeconds(10);
        try (SimulatedLocks locks = SimulatedLocks.start(timeout)) {
            LockClient mine = locks.client();
            Lease held = mine.mutex("/m").acquire();
            locks.disconnect(mine);
            locks.refuseWrites(mine, 10);
            locks.heal(mine);
            locks.advance(timeout.multipliedBy(2));
            assertTrue(held.isValid());
            CompletableFuture<ReleaseOutcome> released = held.releaseAsync();
            locks.advance(Duration.ZERO);
            assertEquals(ReleaseOutcome.RELEASED, released.getNow(null));
        }
    }

    @Test
    void sessionsOfConnectedClientsOutliveAnyTime() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Lease held = locks.client().mutex("/m").acquire();
            locks.advance(Duration.ofHours(1));
            assertTrue(held.isValid());
        }
    }

    @Test
    void timeoutPasses_whenTimeIsAdvanced() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Semaphore semaphore = locks.client().semaphore("/s", 2);
            assertTrue(semaphore.tryAcquire(Duration.ofSeconds(1)).isPresent());
            assertTrue(semaphore.tryAcquire(Duration.ofSeconds(1)).isPresent());
            CompletableFuture<Optional<Lease>> third = semaphore.tryAcquireAsync(Duration.ofSeconds(1));
            locks.advance(Duration.ofMillis(999));
            assertFalse(third.isDone());
            locks.advance(Duration.ofMillis(1));
            assertEquals(Optional.empty(), third.get());
        }
    }

    @Test
    void timeCanPassByItself() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.startWithTimePassing()) {
            Lease held = locks.client().mutex("/m").acquire();
            long before = System.nanoTime();
            assertEquals(Optional.empty(), locks.client().mutex("/m").tryAcquire(Duration.ofMillis(50)));
            assertTrue(System.nanoTime() - before >= TimeUnit.MILLISECONDS.toNanos(50));
            assertTrue(held.isValid());
        }
    }

    @Test
    void threadsShareViewsOfAReadWriteLock() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            int[] count = new int[1];
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                ReadWriteLock lock = locks.client().readWriteLock("/rw");
                Lock write = lock.asReadWriteLock().writeLock();
                Lock read = lock.asReadWriteLock().readLock();
                threads.add(new Thread(() -> {
                    for (int n = 0; n < 100; n++) {
                        write.lock();
                        try {
                            count[0]++;
                        } finally {
                            write.unlock();
                        }
                        read.lock();
                        try {
                            assertTrue(count[0] > 0);
                        } finally {
                            read.unlock();
                        }
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(800, count[0]);
            assertEquals(List.of(), locks.watches());
        }
    }

    /** As an operator's {@code deleteall} leaves it, or the server's removal of an empty container. */
    @Test
    void holderLosesBeforeTheNextOfItsClientIsGranted_whenThePathWasDeleted() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Mutex mutex = locks.client().mutex("/m");
            Lease held = mutex.acquire();
            locks.delete(locks.nodesUnder("/m").get(0).path());
            locks.delete("/m");
            Lease next = mutex.acquire();
            assertFalse(held.isValid());
            assertEquals(LossCause.NODE_DELETED, held.lost().get());
            assertEquals(ReleaseOutcome.LOST, held.release());
            assertTrue(next.isValid());
        }
    }

    @Test
    void clientsShareAPath_whenTheirLayoutIsTheSame() throws Exception {
        for (Layout layout : Layout.values()) {
            try (SimulatedLocks locks = SimulatedLocks.start()) {
                Lease held = locks.builder().layout(layout).build().mutex("/m").acquire();
                Mutex other = locks.builder().layout(layout).build().mutex("/m");
                assertEquals(Optional.empty(), other.tryAcquire(), layout.name());
                held.close();
                Lease next = other.tryAcquire().orElseThrow();
                String request = locks.nodesUnder("/m").get(0).path();
                assertEquals(layout == Layout.CURATOR, request.startsWith("/m/_c_"), request);
                next.close();
            }
        }
    }

    @Test
    void curatorsSemaphoreGivesItsPermitsOneByOne() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.builder().layout(Layout.CURATOR).build();
            Semaphore other = locks.builder().layout(Layout.CURATOR).build().semaphore("/s", 2);
            Lease first = mine.semaphore("/s", 2).acquire();
            Lease second = other.acquire();
            CompletableFuture<Lease> third = other.acquireAsync();
            assertFalse(third.isDone());
            locks.expire(mine);
            Lease granted = third.get();
            assertEquals(LossCause.SESSION_EXPIRED, first.lost().get());
            assertEquals(0, other.availablePermits());
            granted.close();
            second.close();
            assertEquals(2, other.availablePermits());
        }
    }

    @Test
    void turnsOfOneClientHaveOneToken_whenTheyAreLocal() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Mutex mutex =
                    locks.builder().localTurns(2, Duration.ofSeconds(1)).build().mutex("/m");
            List<CompletableFuture<Lease>> turns =
                    List.of(mutex.acquireAsync(), mutex.acquireAsync(), mutex.acquireAsync());
            List<Long> tokens = new ArrayList<>();
            for (CompletableFuture<Lease> turn : turns) {
                try (Lease lease = turn.get()) {
                    tokens.add(lease.token());
                }
            }
            assertEquals(tokens.get(0), tokens.get(1));
            assertTrue(tokens.get(2) > tokens.get(1), tokens.toString());
            assertThrows(IllegalArgumentException.class, () -> locks.builder().localTurns(1, SESSION));
            assertThrows(IllegalArgumentException.class, () -> locks.builder().localTurns(2, Duration.ZERO));
        }
    }

    @Test
    void answerIsLostAndTheRequestFound_whenTheConnectionIsCutAfterIt() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Lease other = mine.mutex("/other").acquire();
            mine.mutex("/m").acquire().close();
            Fault second = locks.cutAfter(mine, RequestMatch.create().under("/m"), 2);
            mine.mutex("/m").acquire().close();
            assertFalse(second.struck().isDone());
            locks.refuse(mine);
            CompletableFuture<Lease> asked = mine.mutex("/m").acquireAsync();
            assertEquals(WireOp.CREATE2, second.await(Duration.ZERO).op());
            assertEquals(LeaseState.SUSPECT, other.state());
            assertEquals(1, locks.nodesUnder("/m").size(), "the server has carried it out");
            locks.heal(mine);
            asked.get().close();
            assertEquals(LeaseState.HELD, other.state());
            assertEquals(0, locks.nodesUnder("/m").size());
        }
    }

    @Test
    void requestIsMadeAgain_whenTheConnectionIsCutBeforeIt() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            mine.mutex("/m").acquire().close();
            locks.refuse(mine);
            Fault lost = locks.cutBefore(mine, RequestMatch.create(), 1);
            CompletableFuture<Lease> asked = mine.mutex("/m").acquireAsync();
            assertTrue(lost.struck().isDone());
            assertEquals(0, locks.nodesUnder("/m").size(), "the server has not got it");
            locks.heal(mine);
            asked.get().close();
            Fault never = locks.cutBefore(mine, RequestMatch.create(), 1);
            locks.heal(mine);
            assertTrue(never.struck().isCancelled());
            assertThrows(IllegalArgumentException.class, () -> locks.cutAfter(mine, RequestMatch.any(), 0));
        }
    }

    @Test
    void sessionLivesOn_whileAnswersAreHeld() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            mine.mutex("/m").acquire().close();
            HeldFrames hold = locks.holdAnswers(mine, RequestMatch.create());
            long session = locks.session(mine);
            CompletableFuture<Lease> asked = mine.mutex("/m").acquireAsync();
            assertTrue(hold.firstCaught().isDone());
            locks.advance(SESSION.multipliedBy(3));
            assertFalse(asked.isDone());
            hold.release();
            locks.advance(SESSION);
            assertTrue(asked.get().isValid());
            assertEquals(session, locks.session(mine));
        }
    }

    @Test
    void closedClientIsRefused() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            mine.mutex("/m").acquire();
            mine.close();
            assertEquals(List.of(), locks.sessions());
            assertEquals(1, locks.nodesUnder("/").size(), "the path alone");
            assertThrows(IllegalArgumentException.class, () -> locks.expire(mine));
        }
    }
}
