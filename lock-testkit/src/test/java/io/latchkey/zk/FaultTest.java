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
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
import org.junit.jupiter.params.provider.ValueSource;

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

    @ParameterizedTest
    @EnumSource
    void nodeIsFoundAgain_whenTheAnswerToItsCreateIsLostOnMissingPaths(Lockable lockable) throws Exception {
        Fault cut = proxy.cutAfter(RequestMatch.create().path("of a request", path -> path.matches(".*/[a-z]+-.*")), 1);
        Lease lease = lockable.of(faulty).acquire();
        cut.await(SOON);
        assertNodesOf(lease, lockable);
        lease.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void timedTryLeavesNothing_whenTheAnswerToItsCreateIsLost(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Fault cut = proxy.cutAfter(RequestMatch.create(), 1);
        proxy.refuse();
        // Long enough for the create to go out.
        assertEquals(Optional.empty(), lockable.of(faulty).tryAcquire(Duration.ofSeconds(1)));
        cut.await(SOON);
        assertEquals(lockable.paths().size(), nodes(lockable).size(), "the server has made it");
        proxy.accept();
        nothingIsLost(lockable);
    }

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
    void listIsReadAgain_whenItsAnswerIsLost(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Fault cut = proxy.cutAfter(RequestMatch.list(), 1);
        Lease lease = lockable.of(faulty).acquire();
        cut.await(SOON);
        assertNodesOf(lease, lockable);
        lease.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void releaseIsPendingAndCarriedOutLater_whenItNeverArrives(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease lease = lockable.of(faulty).acquire();
        CompletableFuture<Lease> next = lockable.blocker(other).acquireAsync();
        awaitNodes(lockable, 2);
        Fault cut = proxy.cutBefore(RequestMatch.delete(), 1);
        assertEquals(ReleaseOutcome.PENDING, lease.release());
        cut.await(SOON);
        soon(next).close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void watchesAreSetAgain_whenTheirRequestIsLost(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        Fault cut = proxy.cutBefore(RequestMatch.watching(), 1);
        CompletableFuture<Lease> waiting = lockable.of(faulty).acquireAsync();
        cut.await(SOON);
        long session = proxy.session().orElseThrow();
        awaitUntil("watches", () -> server().watches().stream().anyMatch(watch -> watch.session() == session));
        held.close();
        soon(waiting).close();
        nothingIsLost(lockable);
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

    @ParameterizedTest
    @EnumSource
    void cancelledRequestLeavesNothing_whenTheConnectionIsAway(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> waiting = lockable.of(faulty).acquireAsync();
        awaitNodes(lockable, 2);
        settle(lockable.of(faulty));
        proxy.refuse();
        proxy.cut();
        assertTrue(waiting.cancel(true));
        proxy.accept();
        awaitNodes(lockable, 1);
        awaitWatches(0);
        held.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void tryReturnsEmpty_afterItsNodeIsDeleted(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        HeldFrames answers = proxy.holdAnswers(RequestMatch.delete());
        CompletableFuture<Optional<Lease>> tried = lockable.of(faulty).tryAcquireAsync(Duration.ZERO);
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        assertThrows(TimeoutException.class, () -> tried.get(20, TimeUnit.MILLISECONDS));
        answers.close();
        assertEquals(Optional.empty(), soon(tried));
        held.close();
        nothingIsLost(lockable);
    }

    @Test
    void tryIsRefused_whenTheServerIsDown() {
        ZkLockClient hasty = behind(proxy()); // it gives up when a session would be over
        server().stop();
        LockUnavailableException told = assertThrows(
                LockUnavailableException.class, () -> hasty.mutex("/m").tryAcquire());
        assertEquals(LockException.Reason.NO_ANSWER, told.reason());
        server().restart();
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

    @ParameterizedTest
    @EnumSource
    void requestWaitsBehindTheFormerNode_whenTheClientBelievesInTheExpiryFirst(Lockable lockable) throws Exception {
        FaultProxy own = fastProxy();
        ZkLockClient brief = behind(own);
        Lease lease = lockable.of(brief).acquire();
        long former = own.session().orElseThrow();
        own.expireAtClient().await(SOON);
        lease.lost().get(10, TimeUnit.SECONDS);
        Lease again = lockable.blocker(brief).acquire();
        assertTrue(nodes(lockable).stream().noneMatch(node -> node.session() == former), "granted when it was gone");
        again.close();
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

    @ParameterizedTest
    @EnumSource
    void holdersAndWaitersStay_whenTheServerRestarts(Lockable lockable) throws Exception {
        Lease held = lockable.of(faulty).acquire();
        CompletableFuture<Lease> waiting = lockable.blocker(patient(proxy())).acquireAsync();
        awaitNodes(lockable, 2);
        server().stop();
        awaitUntil("suspicion", () -> held.state() == LeaseState.SUSPECT);
        server().restart();
        awaitUntil("trust", () -> held.state() == LeaseState.HELD);
        settle(lockable.of(faulty));
        assertFalse(waiting.isDone());
        held.close();
        soon(waiting).close();
    }

    // ---- interruption at every stage

    @ParameterizedTest
    @EnumSource
    void interruptedRequestLeavesNothing_whenItsListIsOnTheWire(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        interruptWhileHeld(lockable, RequestMatch.list());
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void interruptedRequestLeavesNothing_whenItsWatchesAreOnTheWire(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        interruptWhileHeld(lockable, RequestMatch.watching());
        held.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void interruptedRequestLeavesNothing_whenItsPathsAreMissing(Lockable lockable) throws Exception {
        interruptWhileHeld(lockable, RequestMatch.create());
        nothingIsLost(lockable);
    }

    private void interruptWhileHeld(Lockable lockable, RequestMatch match) throws Exception {
        HeldFrames answers = proxy.holdAnswers(match);
        Thread caller = acquirer(lockable);
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        interrupt(caller);
        answers.close();
        awaitUntil("the request is gone", () -> nodes(lockable).stream()
                .noneMatch(node -> node.session() == proxy.session().orElseThrow()));
        awaitWatches(0);
    }

    @ParameterizedTest
    @EnumSource
    void interruptedRequestLeavesNothing_whenTheAnswerToItsCreateIsLost(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Fault cut = proxy.cutAfter(RequestMatch.create(), 1);
        proxy.refuse();
        Thread caller = acquirer(lockable);
        cut.await(SOON);
        interrupt(caller);
        proxy.accept();
        nothingIsLost(lockable);
    }

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

    @ParameterizedTest
    @EnumSource
    void nothingIsSent_whenTheThreadIsInterruptedOnEntry(Lockable lockable) throws Exception {
        Wire.Mark before = proxy.mark();
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> lockable.of(faulty).acquire());
        assertFalse(Thread.interrupted());
        settle(faulty.mutex("/elsewhere"));
        assertEquals(List.of(), proxy.since(before).requests(RequestMatch.create()));
    }

    private final CountDownLatch interrupted = new CountDownLatch(1);

    private Thread acquirer(Lockable lockable) {
        Acquirable lock = lockable.of(faulty);
        Thread caller = new Thread(() -> {
            try {
                lock.acquire();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
        });
        caller.start();
        return caller;
    }

    private void interrupt(Thread caller) throws InterruptedException {
        Stopwatch watch = Stopwatch.start();
        caller.interrupt();
        assertTrue(interrupted.await(10, TimeUnit.SECONDS));
        long took = watch.stop();
        assertTrue(took < 1000, took + " ms, not at once");
    }

    // ---- strangers and operators

    @Test
    void foreignChildrenAreIgnored() throws Exception {
        knowThePaths(Lockable.MUTEX);
        operator.create("/m/notes", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        operator.create("/m/write-short-0000000000", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        faulty.mutex("/m").acquire().close();
    }

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

    /** The requests behind it would otherwise have one predecessor, and all would take its deletion for their turn. */
    @ParameterizedTest
    @EnumSource
    void waiterQueuesAgainBehindTheOthers_whenItsNodeIsDeleted(Lockable lockable) throws Exception {
        ZkLockClient behind = client("behind");
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> second = lockable.of(faulty).acquireAsync();
        awaitNodes(lockable, 2);
        CompletableFuture<Lease> third = lockable.blocker(behind).acquireAsync();
        awaitNodes(lockable, 3);
        settle(lockable.of(faulty), lockable.of(behind));
        long former = requestsUnder(lockable.paths().get(0)).get(1).created();
        deleteRequest(lockable.paths().get(0), 1);
        awaitUntil(
                "it queues again",
                () -> nodes(lockable).stream().noneMatch(node -> node.created() == former)
                        && nodes(lockable).size() == 3 * lockable.paths().size());
        held.close();
        Lease granted = soon(third);
        settle(lockable.of(faulty), lockable.of(behind));
        assertFalse(second.isDone());
        assertTrue(granted.isValid());
        granted.close();
        soon(second).close();
        nothingIsLost(lockable);
    }

    /** The same behind a waiter of the same client, which the client notifies instead of setting a watch. */
    @ParameterizedTest
    @EnumSource
    void waiterIsServed_whenTheNodeOfItsNeighbourIsDeleted(Lockable lockable) throws Exception {
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> deleted = lockable.of(faulty).acquireAsync();
        awaitNodes(lockable, 2);
        CompletableFuture<Lease> last = lockable.blocker(faulty).acquireAsync();
        awaitNodes(lockable, 3);
        settle(lockable.of(faulty));
        long former = requestsUnder(lockable.paths().get(0)).get(1).created();
        deleteRequest(lockable.paths().get(0), 1);
        awaitUntil(
                "it queues again",
                () -> nodes(lockable).stream().noneMatch(node -> node.created() == former)
                        && nodes(lockable).size() == 3 * lockable.paths().size());
        held.close();
        soon(last).close();
        soon(deleted).close();
        nothingIsLost(lockable);
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

    /** Its list is the first to show that the neighbour's node is gone. */
    @Test
    void waiterIsNotGranted_whileALocalHolderWithADeletedNodeIsValid() throws Exception {
        FaultProxy own = proxy();
        Mutex mutex = withRareHeartbeats(own).mutex("/m");
        Lease held = mutex.acquire();
        CompletableFuture<Lease> neighbour = mutex.acquireAsync();
        settle(mutex);
        deleteRequest("/m", 1);
        CompletableFuture<Lease> third = mutex.acquireAsync();
        settle(mutex);
        Lease next;
        try (HeldFrames answers = own.holdAnswers(RequestMatch.multi())) {
            var unused = held.releaseAsync();
            next = soon(third);
            assertTrue(next.isValid());
            answers.firstCaught().get(10, TimeUnit.SECONDS);
            assertFalse(neighbour.isDone(), "it stands behind the third by now");
        }
        next.close();
        soon(neighbour).close();
    }

    /** The same, when the neighbour has been granted by the time that the list comes. */
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

    /** In other libraries, a connection lost during acquire leaks a permit. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noPermitIsLost_whenConnectionsBreakDuringAcquire(boolean answerOnly) throws Exception {
        Semaphore semaphore = faulty.semaphore("/s", 3);
        semaphore.acquire().close();
        for (int round = 0; round < 2; round++) {
            Fault cut =
                    answerOnly ? proxy.cutAfter(RequestMatch.create(), 2) : proxy.cutBefore(RequestMatch.create(), 2);
            List<CompletableFuture<Lease>> all =
                    List.of(semaphore.acquireAsync(), semaphore.acquireAsync(), semaphore.acquireAsync());
            CompletableFuture<Optional<Lease>> tried = semaphore.tryAcquireAsync(Duration.ofMillis(50));
            cut.await(SOON);
            tried.get(10, TimeUnit.SECONDS).ifPresent(Lease::close);
            for (CompletableFuture<Lease> each : all) {
                soon(each).close();
            }
            awaitNothingLeft("/s");
            assertEquals(3, other.semaphore("/s", 3).availablePermits());
            other.semaphore("/s", 3).permits(3).tryAcquire().orElseThrow().close();
        }
    }

    @Test
    void resizeReachesAWaiter_whenItReconnects() throws Exception {
        Lease held = other.semaphore("/s", 2).permits(2).acquire();
        CompletableFuture<Lease> waiting = faulty.semaphore("/s", 2).acquireAsync();
        awaitRequests("/s", 2);
        settle(faulty.semaphore("/s", 2));
        proxy.refuse();
        proxy.cut();
        awaitUntil("its connection is gone", () -> server().watches().isEmpty());
        other.semaphore("/s", 2).resize(3);
        proxy.accept();
        soon(waiting).close();
        held.close();
    }

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

    // ---- read-write, in particular

    @Test
    void waiterIsNotGranted_whenAReaderBetweenTwoWritersIsDeleted() throws Exception {
        ZkLockClient third = client("third");
        Lease writing = other.readWriteLock("/rw").writeLock().acquire();
        CompletableFuture<Lease> reader = faulty.readWriteLock("/rw").readLock().acquireAsync();
        awaitRequests("/rw", 2);
        CompletableFuture<Lease> writer = third.readWriteLock("/rw").writeLock().acquireAsync();
        awaitRequests("/rw", 3);
        settle(
                faulty.readWriteLock("/rw").readLock(),
                third.readWriteLock("/rw").readLock());
        deleteRequest("/rw", 1);
        awaitUntil(
                "it queues again",
                () -> requestsUnder("/rw").size() == 3
                        && requestsUnder("/rw").get(2).name().startsWith("read-"));
        settle(third.readWriteLock("/rw").readLock());
        assertFalse(writer.isDone());
        writing.close();
        Lease written = soon(writer);
        assertFalse(reader.isDone());
        written.close();
        soon(reader).close();
    }

    @Test
    void writerIsGranted_whenOneReaderIsDeletedAndTheOthersRelease() throws Exception {
        Lease first = other.readWriteLock("/rw").readLock().acquire();
        Lease second = faulty.readWriteLock("/rw").readLock().acquire();
        ZkLockClient third = client("third");
        CompletableFuture<Lease> writer = third.readWriteLock("/rw").writeLock().acquireAsync();
        awaitRequests("/rw", 3);
        deleteRequest("/rw", 1);
        assertEquals(LossCause.NODE_DELETED, second.lost().get(10, TimeUnit.SECONDS));
        settle(third.readWriteLock("/rw").readLock());
        assertFalse(writer.isDone());
        first.close();
        soon(writer).close();
    }
}
