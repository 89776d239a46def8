// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Single failures, each at a chosen request on the wire. The contracts test the promises of every implementation. */
@Tag("once")
@Timeout(60)
class FaultTest extends OnOneServer {
    private static final Duration SOON = Slowness.stretched(Duration.ofSeconds(10));
    /** Of a session that is to end by time, and not before. */
    private static final Duration BRIEF = Slowness.stretched(Duration.ofSeconds(3));

    private final FaultProxy proxy = fastProxy();
    /** Its session outlives a reconnect, so that a cut is only a cut. */
    private final ZkLockClient faulty = patient(proxy);

    private final ZkLockClient other = client("other");
    /** A client of an operator. */
    private final ZooKeeper operator = handle();

    FaultTest() throws Exception {}

    private void knowThePath() throws Exception {
        for (ZkLockClient client : List.of(faulty, other)) {
            client.mutex("/m").acquire().close();
        }
    }

    // ---- lost requests and lost answers

    /** The lists that the requests need anyway are behind the barrier of the server that the creates were sent to. */
    @Test
    void lostCreatesAreNotLookedForAgain_afterAReconnectToTheirServer() throws Exception {
        List<Mutex> free = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            free.add(faulty.mutex("/lost/" + i));
            free.get(i).acquire().close();
        }
        Fault cut = proxy.cutBefore(RequestMatch.create(), 1);
        List<CompletableFuture<Lease>> asked =
                free.stream().map(Mutex::acquireAsync).toList();
        cut.await(SOON);
        for (CompletableFuture<Lease> one : asked) {
            soon(one).close();
        }
        Wire.Mark settled = proxy.mark();
        proxy.cut();
        // A request outlives the loss of the connection; a query that is sent before the client sees it does not.
        faulty.mutex("/elsewhere").acquire().close();
        settle(faulty.mutex("/elsewhere"));
        assertEquals(
                List.of(), proxy.since(settled).requests(RequestMatch.list().under("/lost")));
    }

    // ---- expiry

    /** The server has answered the create and the list; while the responses are on their way, the session ends. */
    @Test
    void grantOnItsWay_isLost_whenTheSessionHasEnded() throws Exception {
        knowThePath();
        HeldFrames answers = proxy.holdAnswers(RequestMatch.list());
        CompletableFuture<Lease> acquiring = faulty.mutex("/m").acquireAsync();
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        long dead = requestsUnder("/m").get(0).created();
        proxy.refuse();
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        Lease successor = other.mutex("/m").acquire();
        answers.close();
        Lease lease = soon(acquiring);
        assertEquals(dead, lease.token());
        assertTrue(lease.isValid(), "the client could not know it");
        assertTrue(successor.isValid());
        proxy.accept();
        assertEquals(
                LossCause.SESSION_EXPIRED, lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
        assertFalse(lease.isValid());
        assertTrue(successor.isValid());
        assertTrue(successor.token() > dead);
    }

    /** Both stand in the queue again, in the next session, when the first is out of time. */
    @Test
    void timedTriesEndInTime_whenTheirSessionEnds() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Mutex mutex = locks.client().mutex("/m");
            LockClient expiring = locks.client();
            Lease held = mutex.acquire();
            Duration time = Duration.ofSeconds(4);
            CompletableFuture<Optional<Lease>> hasty = expiring.mutex("/m").tryAcquireAsync(time);
            CompletableFuture<Optional<Lease>> patient = expiring.mutex("/m").tryAcquireAsync(time.multipliedBy(10));
            locks.expire(expiring);
            locks.advance(time.minusMillis(1));
            assertEquals(3, mutex.queue().size());
            assertFalse(hasty.isDone());
            locks.advance(Duration.ofMillis(1));
            assertEquals(Optional.empty(), hasty.getNow(null));
            assertEquals(2, mutex.queue().size());
            held.close();
            soon(patient).orElseThrow().close();
        }
    }

    /**
     * With expiry by time the loss is reported before the next grant: earlier by the margin, a quarter of the session.
     */
    @Test
    @Tag("slow")
    void everyHolderKnowsBeforeTheNextIsGranted_whenItsClientIsCutOff() throws Exception {
        FaultProxy own = fastProxy();
        ZkLockClient cutOff = brief(own);
        Map<Acquirable, Acquirable> nextOfHeld = Map.of(
                cutOff.mutex("/mutex"), other.mutex("/mutex"),
                cutOff.readWriteLock("/read").readLock(),
                        other.readWriteLock("/read").writeLock(),
                cutOff.readWriteLock("/write").writeLock(),
                        other.readWriteLock("/write").readLock(),
                cutOff.semaphore("/permits", 2).permits(2), other.semaphore("/permits", 2),
                cutOff.multiLock(cutOff.mutex("/a"), cutOff.mutex("/b")), other.mutex("/b"));
        Map<CompletableFuture<Long>, CompletableFuture<Long>> grantedOfLost = new HashMap<>();
        for (Map.Entry<Acquirable, Acquirable> each : nextOfHeld.entrySet()) {
            Lease lease = each.getKey().acquire();
            CompletableFuture<Long> lostAt = lease.lost()
                    .thenApply(cause -> {
                        assertEquals(LossCause.DEADLINE_PASSED, cause);
                        return System.nanoTime();
                    })
                    .toCompletableFuture();
            grantedOfLost.put(lostAt, each.getValue().acquireAsync().thenApply(next -> System.nanoTime()));
            awaitQueue(each.getValue(), 2);
        }
        own.blackHole();
        for (Map.Entry<CompletableFuture<Long>, CompletableFuture<Long>> each : grantedOfLost.entrySet()) {
            long gap = each.getValue().get(20, TimeUnit.SECONDS) - each.getKey().get(20, TimeUnit.SECONDS);
            assertTrue(gap > 0, "told " + Duration.ofNanos(-gap) + " too late");
        }
        own.heal(); // or its client would be long in closing
    }

    /** Its write is on its way when its session ends, and reaches the server after the next holder's write. */
    @Test
    @Tag("slow")
    void guardedWriteChangesNothing_whenTheHolderIsCutOff() throws Exception {
        makeNode("/stock", new byte[] {0});
        FaultProxy own = proxy();
        Lease stale = brief(own).mutex("/m").acquire();
        CompletableFuture<Lease> next = other.mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        own.blackHole();
        assertThrows(
                KeeperException.ConnectionLossException.class,
                () -> ZkLocks.guarded(stale, Op.setData("/stock", new byte[] {1}, -1)),
                "the outcome of the write is unknown");
        assertEquals(
                LossCause.DEADLINE_PASSED, stale.lost().toCompletableFuture().get(20, TimeUnit.SECONDS));
        LeaseLostException refused = assertThrows(
                LeaseLostException.class, () -> ZkLocks.guarded(stale, Op.setData("/stock", new byte[] {1}, -1)));
        assertEquals(LossCause.DEADLINE_PASSED, refused.lossCause());
        Lease successor = next.get(20, TimeUnit.SECONDS);
        assertEquals(
                1,
                ZkLocks.guarded(successor, Op.setData("/stock", new byte[] {2}, -1))
                        .size());
        own.heal();
        settle(other.mutex("/m"));
        assertEquals(2, operator.getData("/stock", false, null)[0]);
    }

    private ZkLockClient brief(FaultProxy own) throws InterruptedException {
        return client(builder -> builder.connectString(own.connectString()).sessionTimeout(BRIEF));
    }

    // ---- slow and silent servers

    /** For a busy machine. */
    private static final Duration ALLOWANCE = Duration.ofMillis(400);

    private static <T> T timed(Duration limit, Callable<T> call) throws Exception {
        Stopwatch watch = Stopwatch.start();
        T result = call.call();
        Duration took = Duration.ofMillis(watch.stop());
        assertTrue(took.compareTo(limit.plus(ALLOWANCE)) < 0, "it took " + took);
        return result;
    }

    /** A release ends when the connection is found broken, at two thirds of a session timeout; for others later. */
    @Test
    @Tag("slow")
    void releaseReturnsPending_andTheDeletionIsRetried() throws Exception {
        FaultProxy own = proxy();
        Mutex mutex = brief(own).mutex("/m");
        Lease held = mutex.acquire();
        own.blackHole();
        assertEquals(ReleaseOutcome.PENDING, timed(BRIEF, held::release));
        own.heal();
        awaitNothingLeft("/m");
        assertTrue(soon(mutex.acquireAsync()).isValid());
    }

    // ---- strangers and operators

    /** A refused transaction names one missing node only. */
    @Test
    void releasesOfDeletedNodesTakeFewTransactions() throws Exception {
        FaultProxy own = proxy();
        ZkLockClient rarelyBeating =
                client(builder -> builder.connectString(own.connectString()).sessionTimeout(Duration.ofMinutes(1)));
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            leases.add(rarelyBeating.semaphore("/s", 200).acquire());
        }
        for (int i = 0; i < 200; i += 2) {
            operator.delete(requestsUnder("/s").get(i / 2).path(), -1);
        }
        Wire.Mark before = own.mark();
        HeldFrames answers = own.holdAnswers(RequestMatch.multi().butHeartbeats());
        List<CompletableFuture<ReleaseOutcome>> released = leases.stream()
                .map(lease -> lease.releaseAsync().toCompletableFuture())
                .toList();
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        answers.close();
        List<ReleaseOutcome> outcomes = new ArrayList<>();
        for (CompletableFuture<ReleaseOutcome> one : released) {
            outcomes.add(one.get(10, TimeUnit.SECONDS));
        }
        assertEquals(100, Collections.frequency(outcomes, ReleaseOutcome.RELEASED));
        assertEquals(100, Collections.frequency(outcomes, ReleaseOutcome.LOST));
        assertEquals(List.of(), requestsUnder("/s"));
        int sent =
                own.since(before).requests(RequestMatch.multi().butHeartbeats()).size();
        assertTrue(sent <= 20, sent + " transactions");
    }

    @ParameterizedTest
    @EnumSource(Layout.class)
    void localHolderLosesBeforeTheNextGrant_whenItsNodeWasDeleted(Layout layout) throws Exception {
        FaultProxy own = proxy();
        ZkLockClient neighbours =
                client(builder -> builder.connectString(own.connectString()).layout(layout));
        Mutex elsewhere = client(builder -> builder.layout(layout)).mutex("/n");
        Lease held = neighbours.mutex("/n").acquire();
        CompletableFuture<Lease> neighbour = neighbours.mutex("/n").acquireAsync();
        awaitQueue(elsewhere, 2);
        CompletableFuture<Lease> next = elsewhere.acquireAsync();
        awaitQueue(elsewhere, 3);
        settle(neighbours.mutex("/n"), elsewhere);
        CompletableFuture<Boolean> stillValid =
                next.thenApply(granted -> neighbour.isDone() && neighbour.join().isValid());
        HeldFrames answers = own.holdAnswers(RequestMatch.multi()); // no heartbeat tells of the deletion either
        operator.delete(nodesInOrder("/n").get(1).path(), -1);
        CompletableFuture<ReleaseOutcome> release = held.releaseAsync().toCompletableFuture();
        assertTrue(soon(neighbour).isValid(), "its client has not heard of the deletion");
        answers.firstCaught().get(10, TimeUnit.SECONDS);
        settle(elsewhere);
        assertFalse(next.isDone());
        answers.release();
        assertFalse(stillValid.get(10, TimeUnit.SECONDS));
        assertEquals(ReleaseOutcome.RELEASED, release.get(10, TimeUnit.SECONDS));
    }

    /**
     * A list shows that the node of a local holder is gone, when that holder has been granted already.
     */
    @Test
    void localHolderWithoutANode_losesItsLeaseBeforeTheNextGrant() throws Exception {
        FaultProxy own = proxy();
        Mutex mutex = withRareHeartbeats(own).mutex("/m");
        Lease held = mutex.acquire();
        CompletableFuture<Lease> neighbour = mutex.acquireAsync();
        settle(mutex);
        deleteRequest("/m", 1);
        HeldFrames list = own.holdAnswers(RequestMatch.list());
        CompletableFuture<Lease> third = mutex.acquireAsync();
        list.firstCaught().get(10, TimeUnit.SECONDS);
        try (list;
                HeldFrames answers = own.holdAnswers(RequestMatch.multi())) {
            var unused = held.releaseAsync();
            Lease second = soon(neighbour);
            assertTrue(second.isValid(), "its client has not heard of the deletion");
            CompletableFuture<Boolean> stillValid = third.thenApply(granted -> second.isValid());
            list.release();
            assertFalse(stillValid.get(10, TimeUnit.SECONDS));
            assertEquals(
                    LossCause.NODE_DELETED, second.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
            answers.firstCaught().get(10, TimeUnit.SECONDS);
        }
    }

    /**
     * One whose heartbeats tell of nothing in the time of a test, and whose leases outlive a machine that stands still.
     */
    private ZkLockClient withRareHeartbeats(FaultProxy own) throws Exception {
        knowThePath();
        ZkLockClient client =
                client(builder -> builder.connectString(own.connectString()).sessionTimeout(Duration.ofSeconds(60)));
        client.mutex("/m").acquire().close();
        return client;
    }

    /** The nodes under a path in the order in which they were made, in whatever layout. */
    private List<ServerNode> nodesInOrder(String path) {
        return server().nodesUnder(path).stream()
                .sorted(Comparator.comparingLong(ServerNode::created))
                .toList();
    }

    // ---- permits, in particular

    @Test
    void resizeCanBeRepeated_whenItsResponseIsLost() throws Exception {
        Semaphore semaphore = faulty.semaphore("/s", 2);
        semaphore.acquire().close();
        Fault cut = proxy.cutAfter(RequestMatch.setData(), 1);
        assertThrows(LockServiceUnavailableException.class, () -> semaphore.resize(4));
        cut.await(SOON);
        // An acquire waits for the next connection; a read sent before it may be lost with the previous one.
        semaphore.acquire().close();
        semaphore.resize(4);
        assertEquals(4, other.semaphore("/s", 2).capacity());
        Lease four = other.semaphore("/s", 2).acquire();
        assertEquals(3, semaphore.availablePermits());
        four.close();
    }

    @Test
    void semaphoreIsUsable_inTheNextSession() throws Exception {
        Semaphore semaphore = faulty.semaphore("/s", 2);
        Lease lease = semaphore.acquire();
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        assertEquals(
                LossCause.SESSION_EXPIRED, lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
        // An acquire waits for the next session; a read sent before it may be lost with the previous one.
        semaphore.acquire().close();
        assertEquals(2, semaphore.availablePermits());
        semaphore.resize(3);
        assertEquals(3, other.semaphore("/s", 2).capacity());
    }
}
