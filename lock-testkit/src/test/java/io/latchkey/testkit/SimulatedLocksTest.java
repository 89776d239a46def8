// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Contender;
import io.latchkey.lock.Contender.ReleaseRequestResult;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.Layout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SimulatedLocksTest {
    private static final Duration SESSION = Duration.ofSeconds(10);

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
                .filter(watch -> watch.path().equals(path) && watch.kind() == ServerNode.Watch.Kind.CHILDREN)
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
    void observer_getsTheEventsOfItsClientInSimulatedTime() throws Exception {
        CompletableFuture<Duration> heldUntilLost = new CompletableFuture<>();
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient observed = locks.client(new LockObserver() {
                @Override
                public void lost(Request request, long token, LossCause cause, Duration held) {
                    heldUntilLost.complete(held);
                }
            });
            Lease first = locks.client().mutex("/m").acquire();
            CompletableFuture<Lease> waiting = observed.mutex("/m").acquireAsync();
            locks.advance(Duration.ofSeconds(3));
            first.close();
            Lease held = waiting.get(10, TimeUnit.SECONDS);
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

    /** It need not wait for the heartbeat with which the deletion is sent again. */
    @Test
    void releaseIsPendingAtOnce_whenTheServerRefusesIt() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Lease held = mine.mutex("/m").acquire();
            locks.refuseWrites(mine, 1);
            CompletableFuture<ReleaseOutcome> released = held.releaseAsync();
            locks.advance(Duration.ZERO);
            assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
            locks.advance(SESSION);
            assertEquals(0, locks.nodesUnder("/m").size());
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

    /** The client learns of the deletion only after it has asked for the release. */
    @Test
    void releaseOfAPermitTellsTheLoss_whenItsNodeIsGone() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Lease held = mine.semaphore("/s", 2).acquire();
            HeldFrames events = locks.holdEvents(mine);
            locks.delete(locks.nodesUnder("/s").get(0).path());
            CompletableFuture<ReleaseOutcome> released = held.releaseAsync();
            events.release();
            assertEquals(ReleaseOutcome.LOST, released.get(10, TimeUnit.SECONDS));
        }
    }

    /** Its loss is no loss of the lease. */
    @Test
    void releaseSucceeds_whenTheRevocationNodeIsGone() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Lease held = mine.mutex("/m").acquire();
            var unused = held.releaseRequested();
            String revocation = locks.nodesUnder("/m").stream()
                    .filter(node -> node.name().startsWith("revoke-"))
                    .findFirst()
                    .orElseThrow()
                    .path();
            HeldFrames events = locks.holdEvents(mine);
            locks.delete(revocation);
            CompletableFuture<ReleaseOutcome> released = held.releaseAsync();
            events.release();
            assertEquals(ReleaseOutcome.RELEASED, released.get(10, TimeUnit.SECONDS));
        }
    }

    /** The request was delivered to the write lease; the read lease is another object. */
    @Test
    void downgradedHolderIsNotified_whenItsWriteLeaseWasAskedToRelease() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            ReadWriteLock lock = locks.client().readWriteLock("/rw");
            Lease write = lock.writeLock().acquire();
            CompletableFuture<ReleaseRequest> ofTheWriter = write.releaseRequested();
            ReadWriteLock ofAnother = locks.client("admin").readWriteLock("/rw");
            Contender holder = ofAnother.readLock().queue().get(0);
            assertEquals(ReleaseRequestResult.DELIVERED, holder.requestRelease());
            assertEquals("admin", ofTheWriter.get(10, TimeUnit.SECONDS).label());
            Lease read = lock.downgrade(write);
            CompletableFuture<ReleaseRequest> ofTheReader = read.releaseRequested();
            assertEquals("admin", ofTheReader.get(10, TimeUnit.SECONDS).label());
            assertTrue(read.isValid());
            read.close();
            assertEquals(List.of(), locks.nodesUnder("/rw"));
        }
    }

    /** Otherwise the nodes of its other members would stay when the read lease is released. */
    @Test
    void leaseOfAMultiLockIsNotDowngraded_whenItsFirstMemberIsTheWriteLock() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            ReadWriteLock lock = mine.readWriteLock("/rw");
            Lease both = mine.multiLock(lock.writeLock(), mine.mutex("/z")).acquire();
            assertThrows(IllegalArgumentException.class, () -> lock.downgradeAsync(both));
            assertThrows(IllegalArgumentException.class, () -> lock.downgrade(both));
            assertTrue(both.isValid());
            assertEquals(ReleaseOutcome.RELEASED, both.release());
            assertEquals(List.of(), locks.nodesUnder("/rw"));
            assertEquals(List.of(), locks.nodesUnder("/z"));
        }
    }

    /** The list of a third request that waits is not sent until one of the two has moved. */
    @Test
    void tryIsAnsweredAtOnce_whenTwoRequestsOfItsClientWaitAhead() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Lease held = locks.client().mutex("/m").acquire();
            Mutex mutex = locks.client().mutex("/m");
            List<CompletableFuture<Lease>> waiting = List.of(mutex.acquireAsync(), mutex.acquireAsync());
            CompletableFuture<Optional<Lease>> tried = mutex.tryAcquireAsync(Duration.ZERO);
            assertEquals(Optional.empty(), tried.get(10, TimeUnit.SECONDS));
            assertEquals(3, locks.nodesUnder("/m").size(), "those of the holder and of the two that wait");
            held.close();
            for (CompletableFuture<Lease> next : waiting) {
                next.get(10, TimeUnit.SECONDS).close();
            }
        }
    }

    @Test
    void diagnosisNamesItsGap_onPathsSharedWithCurator() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient client = locks.builder().layout(Layout.CURATOR).build();
            Lease held = client.mutex("/m").acquire();
            CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
            assertEquals(
                    "the paths are shared with Curator or kazoo, whose nodes do not show the kind of lock",
                    client.diagnose().gap().orElse(""));
            held.close();
            waiting.get().close();
        }
    }

    @Test
    void curatorsSemaphoreGivesItsPermitsOneByOne() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.builder().layout(Layout.CURATOR).build();
            Semaphore other = locks.builder().layout(Layout.CURATOR).build().semaphore("/s", 2);
            Lease first = mine.semaphore("/s", 2).permits(1).acquire();
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

    /** It waits twice: for its turn, and for a permit in what is left of its time. */
    @Test
    void timedTryForCuratorsSemaphoreWaitsForAsLongAsItMay() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Semaphore other = locks.builder().layout(Layout.CURATOR).build().semaphore("/s", 1);
            Semaphore mine = locks.builder().layout(Layout.CURATOR).build().semaphore("/s", 1);
            Lease first = other.acquire();
            CompletableFuture<Lease> second = other.acquireAsync();
            CompletableFuture<Optional<Lease>> tried = mine.tryAcquireAsync(Duration.ofSeconds(8));
            locks.advance(Duration.ofSeconds(5));
            first.close();
            Lease next = second.get();
            locks.advance(Duration.ofMillis(2_999));
            assertFalse(tried.isDone());
            locks.advance(Duration.ofMillis(1));
            assertEquals(Optional.empty(), tried.getNow(null));

            CompletableFuture<Optional<Lease>> triedAgain = mine.tryAcquireAsync(Duration.ofSeconds(8));
            locks.advance(Duration.ofSeconds(5));
            next.close();
            assertTrue(triedAgain.get().isPresent());
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
            assertEquals(WireRecord.Op.CREATE2, second.await(Duration.ZERO).op());
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
