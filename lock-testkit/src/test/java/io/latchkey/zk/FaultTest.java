// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.Semaphore;
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
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
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

    private void knowThePaths(Lockable lockable) throws Exception {
        for (ZkLockClient client : List.of(faulty, other)) {
            lockable.of(client).acquire().close();
        }
    }

    private List<ServerNode> nodes(Lockable lockable) {
        return lockable.paths().stream()
                .flatMap(path -> requestsUnder(path).stream())
                .toList();
    }

    private void awaitNodes(Lockable lockable, int perPath) throws InterruptedException {
        for (String path : lockable.paths()) {
            awaitRequests(path, perPath);
        }
    }

    private void assertNodesOf(Lease lease, Lockable lockable) {
        List<ServerNode> nodes = nodes(lockable);
        assertEquals(lockable.paths().size(), nodes.size(), nodes::toString);
        assertTrue(nodes.stream().allMatch(node -> node.created() == lease.token()), nodes::toString);
    }

    private void nothingIsLeft(Lockable lockable) throws InterruptedException {
        awaitNothingLeft(lockable.paths().toArray(String[]::new));
    }

    /** The next requests get all there is: no permit and no turn was lost. */
    private void nothingIsLost(Lockable lockable) throws Exception {
        nothingIsLeft(lockable);
        for (ZkLockClient client : List.of(other, faulty)) {
            lockable.of(client).tryAcquire(Duration.ofSeconds(10)).orElseThrow().close();
            lockable.blocker(client)
                    .tryAcquire(Duration.ofSeconds(10))
                    .orElseThrow()
                    .close();
        }
        nothingIsLeft(lockable);
    }

    // ---- lost requests and lost answers

    @Test
    void lostCreate_isSearchedUntilTheServerResponds() throws Exception {
        knowThePaths(Lockable.MUTEX);
        var cut = proxy.cutAfter(RequestMatch.create(), 1);
        proxy.refuse();
        assertEquals(Optional.empty(), faulty.mutex("/m").tryAcquire(Duration.ofSeconds(1)));
        cut.await(SOON);
        awaitRequests("/m", 1);
        operator.setACL("/m", ALL_BUT_READ, -1);
        Wire.Mark before = proxy.mark();
        proxy.accept();
        awaitUntil(
                "it is looked for",
                () -> !proxy.since(before).requests(RequestMatch.list()).isEmpty());
        settle(faulty.mutex("/elsewhere"));
        operator.setACL("/m", ZooDefs.Ids.OPEN_ACL_UNSAFE, -1);
        awaitNothingLeft("/m");
    }

    @ParameterizedTest
    @EnumSource
    void waiterKeepsItsPlaceAndMissesNothing_whenItsConnectionIsLost(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> waiting = lockable.of(faulty).acquireAsync();
        awaitNodes(lockable, 2);
        settle(lockable.of(faulty));
        long node = requestsUnder(lockable.paths().get(0)).get(1).created();
        proxy.cut();
        held.close();
        Lease lease = soon(waiting);
        assertEquals(node, lease.token());
        lease.close();
        nothingIsLost(lockable);
    }

    // ---- expiry

    @ParameterizedTest
    @EnumSource
    void requestIsMadeAgain_whenTheSessionEndsBetweenCreateAndList(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        HeldFrames answers = proxy.holdAnswers(RequestMatch.create());
        CompletableFuture<Lease> acquiring = lockable.of(faulty).acquireAsync();
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        proxy.refuse(); // else it may have asked again before the server is looked at
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        assertEquals(List.of(), nodes(lockable));
        proxy.cut(); // the held answer, which tells of a node that is gone, is lost with the connection
        answers.close();
        proxy.accept();
        Lease lease = acquiring.get(20, TimeUnit.SECONDS);
        assertNodesOf(lease, lockable);
        assertEquals(proxy.session().orElseThrow(), nodes(lockable).get(0).session());
        lease.close();
        nothingIsLost(lockable);
    }

    /** The server has answered the create and the list; while the responses are on their way, the session ends. */
    @Test
    void grantOnItsWay_isLost_whenTheSessionHasEnded() throws Exception {
        knowThePaths(Lockable.MUTEX);
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
        assertEquals(LossCause.SESSION_EXPIRED, lease.lost().get(10, TimeUnit.SECONDS));
        assertFalse(lease.isValid());
        assertTrue(successor.isValid());
        assertTrue(successor.token() > dead);
    }

    @Test
    void timedTryEndsInTime_whenItsSessionEnds() throws Exception {
        knowThePaths(Lockable.MUTEX);
        FaultProxy own = fastProxy();
        ZkLockClient hurried = patient(own);
        Lease held = other.mutex("/m").acquire();
        long start = System.nanoTime();
        Stopwatch watch = Stopwatch.start();
        CompletableFuture<Optional<Lease>> hasty = hurried.mutex("/m").tryAcquireAsync(Duration.ofSeconds(4));
        CompletableFuture<Optional<Lease>> patient = hurried.mutex("/m").tryAcquireAsync(Duration.ofSeconds(50));
        awaitRequests("/m", 3);
        long dead = own.session().orElseThrow();
        own.expireSession().get(5, TimeUnit.SECONDS);
        awaitUntil(
                "both queue again",
                () -> requestsUnder("/m").size() == 3
                        && requestsUnder("/m").stream().noneMatch(request -> request.session() == dead));
        assertFalse(hasty.isDone());
        assertEquals(Optional.empty(), hasty.get(10, TimeUnit.SECONDS));
        long ran = watch.stop();
        long took = Duration.ofNanos(System.nanoTime() - start).toMillis();
        assertTrue(took >= 4000 && ran < 4400, took + " ms, " + ran + " ms of them ran");
        awaitRequests("/m", 2);
        assertFalse(patient.isDone());
        held.close();
        Lease lease = patient.get(10, TimeUnit.SECONDS).orElseThrow();
        assertEquals(requestsUnder("/m").get(0).created(), lease.token());
    }

    /**
     * With expiry by time the loss is reported before the next grant: earlier by the margin, a quarter of the session.
     */
    @Test
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
            CompletableFuture<Long> lostAt = lease.lost().thenApply(cause -> {
                assertEquals(LossCause.DEADLINE_PASSED, cause);
                return System.nanoTime();
            });
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
    void guardedWriteChangesNothing_whenTheHolderIsCutOff() throws Exception {
        operator.create("/stock", new byte[] {0}, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        FaultProxy own = proxy();
        Lease stale = brief(own).mutex("/m").acquire();
        CompletableFuture<Lease> next = other.mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        own.blackHole();
        assertThrows(
                KeeperException.ConnectionLossException.class,
                () -> ZkLocks.guarded(stale, Op.setData("/stock", new byte[] {1}, -1)),
                "the outcome of the write is unknown");
        assertEquals(LossCause.DEADLINE_PASSED, stale.lost().get(20, TimeUnit.SECONDS));
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

    private ZkLockClient brief(FaultProxy own) {
        return client(builder -> builder.connectString(own.connectString()).sessionTimeout(BRIEF));
    }

    // ---- slow and silent servers

    private static final Duration SPAN = Duration.ofMillis(500);
    /** For a busy machine; an answer of the slow server would take twice as long as the span. */
    private static final Duration ALLOWANCE = Duration.ofMillis(400);

    private static <T> T timed(Duration limit, Callable<T> call) throws Exception {
        Stopwatch watch = Stopwatch.start();
        T result = call.call();
        Duration took = Duration.ofMillis(watch.stop());
        assertTrue(took.compareTo(limit.plus(ALLOWANCE)) < 0, "it took " + took);
        return result;
    }

    @Test
    void timedTryEndsInTime_whenTheServerIsSlow() throws Exception {
        for (Acquirable lock : List.of(
                faulty.mutex("/m"),
                faulty.readWriteLock("/rw").readLock(),
                faulty.semaphore("/s", 3).permits(2),
                faulty.multiLock(faulty.mutex("/a"), faulty.mutex("/b")))) {
            proxy.delay(SPAN);
            assertTrue(timed(SPAN, () -> lock.tryAcquire(SPAN)).isEmpty());
            proxy.delay(Duration.ZERO);
        }
        // What the late answers brought is given back.
        awaitNothingLeft("/m", "/rw", "/s", "/a", "/b");
        faulty.mutex("/m").acquire().close();
    }

    /** One without a time has the server's: a session timeout. */
    @Test
    void tryEndsWithinASessionTimeout_withoutATimeout() throws Exception {
        FaultProxy own = proxy();
        Mutex mutex = brief(own).mutex("/m");
        own.blackHole();
        timed(BRIEF, () -> assertThrows(LockUnavailableException.class, mutex::tryAcquire));
        own.heal();
    }

    /** A release ends when the connection is found broken, at two thirds of a session timeout; for others later. */
    @Test
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

    // ---- interruption at every stage

    @ParameterizedTest
    @EnumSource
    void releaseIsPendingAndKeepsTheStatus_whenTheThreadIsInterrupted(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease lease = lockable.of(faulty).acquire();
        HeldFrames answers = proxy.holdAnswers(RequestMatch.delete());
        Thread.currentThread().interrupt();
        assertEquals(ReleaseOutcome.PENDING, lease.release());
        assertTrue(Thread.interrupted());
        assertEquals(LeaseState.RELEASED, lease.state());
        answers.close();
        nothingIsLost(lockable);
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
        List<CompletableFuture<ReleaseOutcome>> released =
                leases.stream().map(Lease::releaseAsync).toList();
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
        CompletableFuture<ReleaseOutcome> release = held.releaseAsync();
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
            assertEquals(LossCause.NODE_DELETED, second.lost().get(10, TimeUnit.SECONDS));
            answers.firstCaught().get(10, TimeUnit.SECONDS);
        }
    }

    /**
     * One whose heartbeats tell of nothing in the time of a test, and whose leases outlive a machine that stands still.
     */
    private ZkLockClient withRareHeartbeats(FaultProxy own) throws Exception {
        knowThePaths(Lockable.MUTEX);
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
        assertThrows(LockUnavailableException.class, () -> semaphore.resize(4));
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
        assertEquals(LossCause.SESSION_EXPIRED, lease.lost().get(10, TimeUnit.SECONDS));
        // An acquire waits for the next session; a read sent before it may be lost with the previous one.
        semaphore.acquire().close();
        assertEquals(2, semaphore.availablePermits());
        semaphore.resize(3);
        assertEquals(3, other.semaphore("/s", 2).capacity());
    }
}
