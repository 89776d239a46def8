// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.FaultProxy;
import io.latchkey.testkit.Hold;
import io.latchkey.testkit.RequestMatch;
import io.latchkey.testkit.ServerNode;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.Wire;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Failures one by one, each struck at a chosen request on the wire. */
@Timeout(60)
class FaultTest extends OnOneServer {
    private static final Duration SOON = Slowness.stretched(Duration.ofSeconds(10));

    /** Of a session that is to end by time, and not before. */
    private static final Duration BRIEF = Slowness.stretched(Duration.ofSeconds(3));

    private final FaultProxy proxy = fastProxy();
    /** Its session outlives a reconnect, so that a cut is only a cut. */
    private final ZkLockClient faulty = patient(proxy);

    private final ZkLockClient other = client("other");
    /** Somebody with a shell. */
    private final ZooKeeper operator = handle();

    FaultTest() throws Exception {}

    @BeforeEach
    void knowThePath() throws Exception {
        faulty.mutex("/m").acquire().close();
        other.mutex("/m").acquire().close();
    }

    // ---- lost requests and lost answers

    @Test
    void aCreateWhoseAnswerIsLostIsFoundAgain() throws Exception {
        var cut = proxy.cutAfter(RequestMatch.create(), 1);
        Lease lease = faulty.mutex("/m").acquire();
        cut.await(SOON);
        assertEquals(1, requestsUnder("/m").size(), "one node, not two");
        assertEquals(requestsUnder("/m").get(0).created(), lease.token());
        lease.close();
        assertEquals(List.of(), requestsUnder("/m"));
    }

    @Test
    void aCreateThatNeverArrivedIsSentAgain() throws Exception {
        var cut = proxy.cutBefore(RequestMatch.create(), 1);
        Lease lease = faulty.mutex("/m").acquire();
        cut.await(SOON);
        assertEquals(1, requestsUnder("/m").size());
        assertTrue(lease.isValid());
    }

    @Test
    void aCreateOnAMissingPathWhoseAnswerIsLostIsFoundAgain() throws Exception {
        var cut = proxy.cutAfter(RequestMatch.multi().butHeartbeats(), 1);
        Lease lease = faulty.mutex("/fresh/path").acquire();
        cut.await(SOON);
        assertEquals(1, requestsUnder("/fresh/path").size());
        assertEquals(requestsUnder("/fresh/path").get(0).created(), lease.token());
    }

    @Test
    void aTryThatTimesOutWhileTheAnswerIsLostLeavesNothing() throws Exception {
        Lease held = other.mutex("/m").acquire();
        var cut = proxy.cutAfter(RequestMatch.create(), 1);
        proxy.refuse();
        long start = System.nanoTime();
        Stopwatch watch = Stopwatch.start();
        // Long enough for the create to go out.
        assertEquals(Optional.empty(), faulty.mutex("/m").tryAcquire(Duration.ofSeconds(1)));
        long ran = watch.stop();
        long took = Duration.ofNanos(System.nanoTime() - start).toMillis();
        cut.await(SOON);
        assertTrue(took >= 1000 && ran < 1400, took + " ms, " + ran + " ms of them ran");
        proxy.accept();
        awaitNoRequestBut(held, "/m");
    }

    /** Nobody else would find the node: it is looked for until somebody may. */
    @Test
    void aNodeWhoseCreateWasLostIsLookedForUntilTheServerTells() throws Exception {
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

    @Test
    void aListWhoseAnswerIsLostIsReadAgain() throws Exception {
        var cut = proxy.cutAfter(RequestMatch.list(), 1);
        Lease lease = faulty.mutex("/m").acquire();
        cut.await(SOON);
        assertEquals(requestsUnder("/m").get(0).created(), lease.token());
    }

    @Test
    void aReleaseWhoseAnswerIsLostIsOverForItsOwnerAndIsDone() throws Exception {
        Lease lease = faulty.mutex("/m").acquire();
        var cut = proxy.cutAfter(RequestMatch.delete(), 1);
        assertEquals(ReleaseOutcome.PENDING, lease.release());
        cut.await(SOON);
        assertEquals(LeaseState.RELEASED, lease.state());
        other.mutex("/m").acquire().close();
        faulty.mutex("/m").acquire().close();
        assertFalse(lease.lost().isDone());
    }

    @Test
    void aReleaseThatNeverArrivedStaysOwedAndIsMadeUpFor() throws Exception {
        Lease lease = faulty.mutex("/m").acquire();
        CompletableFuture<Lease> next = other.mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        var cut = proxy.cutBefore(RequestMatch.delete(), 1);
        assertEquals(ReleaseOutcome.PENDING, lease.release());
        cut.await(SOON);
        next.get(10, TimeUnit.SECONDS).close();
        awaitQueue(other.mutex("/m"), 0);
    }

    @Test
    void aLostConnectionWhileWaitingKeepsThePlace() throws Exception {
        Lease held = other.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = faulty.mutex("/m").acquireAsync();
        awaitWatches(3);
        long node = requestsUnder("/m").get(1).created();
        proxy.cut();
        held.close();
        assertEquals(node, waiting.get(10, TimeUnit.SECONDS).token());
    }

    @Test
    void watchesWhoseSetUpIsLostAreSetAgain() throws Exception {
        Lease held = other.mutex("/m").acquire();
        var cut = proxy.cutBefore(RequestMatch.watching(), 1);
        CompletableFuture<Lease> waiting = faulty.mutex("/m").acquireAsync();
        cut.await(SOON);
        awaitWatches(3);
        held.close();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void aLeaseIsSuspectWhileTheConnectionIsAwayAndHeldAgainInTheSameSession() throws Exception {
        Lease lease = faulty.mutex("/m").acquire();
        proxy.refuse();
        proxy.cut();
        awaitUntil("suspicion", () -> lease.state() == LeaseState.SUSPECT);
        assertTrue(lease.isValid());
        proxy.accept();
        awaitUntil("trust", () -> lease.state() == LeaseState.HELD);
        assertFalse(lease.lost().isDone());
    }

    // ---- deadlines

    @Test
    void oneSecondMeansOneSecondWithTheServerDown() throws Exception {
        server().stop();
        long start = System.nanoTime();
        Stopwatch watch = Stopwatch.start();
        assertEquals(Optional.empty(), faulty.mutex("/m").tryAcquire(Duration.ofSeconds(1)));
        long ran = watch.stop();
        long took = Duration.ofNanos(System.nanoTime() - start).toMillis();
        assertTrue(took >= 1000 && ran < 1300, took + " ms, " + ran + " ms of them ran");
        server().restart();
        faulty.mutex("/m").acquire().close();
    }

    @Test
    void aTryWithTheServerDownSaysSo() {
        ZkLockClient hasty = behind(proxy()); // it gives up when a session would be over
        server().stop();
        LockUnavailableException told = assertThrows(
                LockUnavailableException.class, () -> hasty.mutex("/m").tryAcquire());
        assertEquals(LockException.Reason.NO_ANSWER, told.reason());
        server().restart();
    }

    @Test
    void aServerThatDoesNotAnswerDoesNotHoldUpACaller() throws Exception {
        proxy.blackHole();
        Stopwatch watch = Stopwatch.start();
        assertEquals(Optional.empty(), faulty.mutex("/m").tryAcquire(Duration.ofMillis(500)));
        long took = watch.stop();
        assertTrue(took < 800, took + " ms");
        proxy.heal(); // or its client would be long in closing
    }

    // ---- expiry

    @Test
    void expiryBetweenCreateAndListMakesANewRequest() throws Exception {
        Hold answers = proxy.holdAnswers(RequestMatch.create());
        CompletableFuture<Lease> acquiring = faulty.mutex("/m").acquireAsync();
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        long dead = requestsUnder("/m").get(0).session();
        proxy.refuse(); // or it may have asked anew by the look
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        assertEquals(List.of(), requestsUnder("/m"));
        proxy.cut(); // with it the held answer goes: nobody is told of a node that is no more
        answers.close();
        proxy.accept();
        Lease lease = acquiring.get(20, TimeUnit.SECONDS);
        assertEquals(requestsUnder("/m").get(0).created(), lease.token());
        assertNotEquals(dead, requestsUnder("/m").get(0).session());
        assertTrue(lease.isValid());
    }

    /** The server has answered the create and the list, and nobody can know on the way that the session has ended since. */
    @Test
    void aGrantThatWasOnItsWayWhenTheSessionEndedIsToldLost() throws Exception {
        Hold answers = proxy.holdAnswers(RequestMatch.list());
        CompletableFuture<Lease> acquiring = faulty.mutex("/m").acquireAsync();
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        long dead = requestsUnder("/m").get(0).created();
        proxy.refuse();
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        Lease successor = other.mutex("/m").acquire();
        answers.close();
        Lease lease = soon(acquiring);
        assertEquals(dead, lease.token());
        assertTrue(lease.isValid(), "nobody could tell it");
        assertTrue(successor.isValid());
        proxy.accept();
        assertEquals(LossCause.SESSION_EXPIRED, lease.lost().get(10, TimeUnit.SECONDS));
        assertFalse(lease.isValid());
        assertTrue(successor.isValid());
        assertTrue(successor.token() > dead);
    }

    @Test
    void expiryWhileHoldingIsToldAndTheNextAcquireIsANewRequest() throws Exception {
        Lease lease = faulty.mutex("/m").acquire();
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        Lease successor = other.mutex("/m").acquire();
        assertTrue(successor.token() > lease.token());
        assertEquals(LossCause.SESSION_EXPIRED, lease.lost().get(10, TimeUnit.SECONDS));
        assertEquals(LeaseState.LOST, lease.state());
        assertFalse(lease.isValid());
        assertThrows(LeaseLostException.class, lease::ensureValid);
        assertEquals(ReleaseOutcome.LOST, lease.release());
        CompletableFuture<Lease> again = faulty.mutex("/m").acquireAsync();
        awaitUntil("the new request", () -> requestsUnder("/m").size() == 2);
        assertTrue(successor.isValid(), "the lost lease's release touched nobody else");
        successor.close();
        assertTrue(again.get(10, TimeUnit.SECONDS).isValid());
    }

    @Test
    void expiryWhileWaitingQueuesAgain() throws Exception {
        Lease held = other.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = faulty.mutex("/m").acquireAsync();
        awaitWatches(3);
        long dead = requestsUnder("/m").get(1).session();
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        awaitUntil("a new request", () -> requestsUnder("/m").size() == 2);
        assertNotEquals(dead, requestsUnder("/m").get(1).session());
        held.close();
        Lease lease = waiting.get(10, TimeUnit.SECONDS);
        assertEquals(requestsUnder("/m").get(0).created(), lease.token());
    }

    @Test
    void timedTriesOutliveTheirSessionAndEndInTheirTime() throws Exception {
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
                "both queue anew",
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

    @Test
    void expiryThatTheClientBelievesFirstWaitsBehindItsOwnGhost() throws Exception {
        FaultProxy own = proxy();
        ZkLockClient brief = brief(own);
        Lease lease = brief.mutex("/m").acquire();
        own.expireAtClient().await(SOON);
        lease.lost().get(10, TimeUnit.SECONDS);
        Lease again = brief.mutex("/m").acquire();
        assertEquals(1, requestsUnder("/m").size(), "granted only when the ghost was gone");
        assertEquals(again.token(), requestsUnder("/m").get(0).created());
    }

    /** With expiry by time the loss is told before the next holder is granted: a margin before, a quarter of the session. */
    @Test
    void aPartitionedHolderKnowsBeforeTheNextIsGranted() throws Exception {
        FaultProxy own = proxy();
        Lease lease = brief(own).mutex("/m").acquire();
        CompletableFuture<Long> lostAt = lease.lost().thenApply(cause -> System.nanoTime());
        CompletableFuture<Long> grantedAt = other.mutex("/m").acquireAsync().thenApply(next -> System.nanoTime());
        awaitQueue(other.mutex("/m"), 2);
        own.blackHole();
        long gap = grantedAt.get(20, TimeUnit.SECONDS) - lostAt.get(20, TimeUnit.SECONDS);
        assertTrue(gap > 0, "told " + Duration.ofNanos(-gap) + " too late");
        assertEquals(LossCause.DEADLINE_PASSED, lease.lost().get());
        own.heal(); // or its client would be long in closing
    }

    /** Its write is on its way when its session ends, and comes to the server when the next has written. */
    @Test
    void aGuardedWriteOfAHolderThatIsCutOffChangesNothing() throws Exception {
        operator.create("/stock", new byte[] {0}, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        FaultProxy own = proxy();
        Lease stale = brief(own).mutex("/m").acquire();
        CompletableFuture<Lease> next = other.mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        own.blackHole();
        assertThrows(
                KeeperException.ConnectionLossException.class,
                () -> ZkLocks.guarded(stale, Op.setData("/stock", new byte[] {1}, -1)),
                "nobody knows whether it was carried out");
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

    @Test
    void aServerThatRestartsKeepsHoldersAndWaiters() throws Exception {
        Lease held = faulty.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = patient(proxy()).mutex("/m").acquireAsync();
        awaitQueue(faulty.mutex("/m"), 2);
        server().stop();
        awaitUntil("suspicion", () -> held.state() == LeaseState.SUSPECT);
        server().restart();
        awaitUntil("trust", () -> held.state() == LeaseState.HELD);
        assertTrue(held.isValid());
        assertFalse(waiting.isDone());
        held.close();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    // ---- interruption at every stage

    @Test
    void interruptionWhileTheCreateIsOnTheWire() throws Exception {
        interruptWhileHeld(proxy.holdAnswers(RequestMatch.create()));
    }

    @Test
    void interruptionWhileTheListIsOnTheWire() throws Exception {
        interruptWhileHeld(proxy.holdAnswers(RequestMatch.list()));
    }

    @Test
    void interruptionWhileTheWatchesAreOnTheWire() throws Exception {
        Lease held = other.mutex("/m").acquire();
        interruptWhileHeld(proxy.holdAnswers(RequestMatch.watching()));
        held.close();
    }

    @Test
    void interruptionWhileTheAnswerToTheCreateIsLost() throws Exception {
        var cut = proxy.cutAfter(RequestMatch.create(), 1);
        proxy.refuse();
        Thread caller = acquirer();
        cut.await(SOON);
        interrupt(caller);
        proxy.accept();
        nothingIsLeft();
    }

    @Test
    void interruptionDuringReleaseIsPendingAndKeepsTheFlag() throws Exception {
        Lease lease = faulty.mutex("/m").acquire();
        Hold answers = proxy.holdAnswers(RequestMatch.delete());
        Thread.currentThread().interrupt();
        assertEquals(ReleaseOutcome.PENDING, lease.release());
        assertTrue(Thread.interrupted());
        assertEquals(LeaseState.RELEASED, lease.state());
        answers.close();
        nothingIsLeft();
    }

    private void interruptWhileHeld(Hold answers) throws Exception {
        Thread caller = acquirer();
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        interrupt(caller);
        answers.close();
        awaitUntil("the request is gone", () -> requestsUnder("/m").stream()
                .noneMatch(node -> node.session() == proxy.session().orElseThrow()));
        awaitWatches(0);
    }

    private Thread acquirer() {
        Thread caller = new Thread(() -> {
            try {
                faulty.mutex("/m").acquire();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
        });
        caller.start();
        return caller;
    }

    private final CountDownLatch interrupted = new CountDownLatch(1);

    private void interrupt(Thread caller) throws InterruptedException {
        Stopwatch watch = Stopwatch.start();
        caller.interrupt();
        assertTrue(interrupted.await(10, TimeUnit.SECONDS));
        long took = watch.stop();
        assertTrue(took < 1000, took + " ms, not at once");
    }

    private void nothingIsLeft() throws InterruptedException {
        awaitUntil("no request is left", () -> requestsUnder("/m").isEmpty());
        awaitWatches(0);
    }

    // ---- strangers and operators

    @Test
    void foreignChildrenAreNotInTheWay() throws Exception {
        operator.create("/m/notes", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        operator.create("/m/write-short-0000000000", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        faulty.mutex("/m").acquire().close();
    }

    @Test
    void aDeletedHoldersNodeIsALoss() throws Exception {
        Lease lease = faulty.mutex("/m").acquire();
        deleteRequest(0);
        assertEquals(LossCause.NODE_DELETED, lease.lost().get(10, TimeUnit.SECONDS));
        assertEquals(ReleaseOutcome.LOST, lease.release());
    }

    /** The two behind would otherwise have one predecessor, and both would take its mark for their turn. */
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
        Hold answers = own.holdAnswers(RequestMatch.multi().butHeartbeats());
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

    @Test
    void aDeletedWaitersNodeNeverMakesTwoHolders() throws Exception {
        Lease held = other.mutex("/m").acquire();
        CompletableFuture<Lease> second = faulty.mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        CompletableFuture<Lease> third = client("third").mutex("/m").acquireAsync();
        awaitWatches(6);
        deleteRequest(1);
        awaitUntil("it queues again", () -> requestsUnder("/m").size() == 3);
        held.close();
        Lease granted = third.get(10, TimeUnit.SECONDS);
        assertFalse(second.isDone());
        assertTrue(granted.isValid());
        granted.close();
        second.get(10, TimeUnit.SECONDS).close();
    }

    @ParameterizedTest
    @EnumSource(Layout.class)
    void aNeighbourWhoseNodeWasDeletedLosesBeforeTheNextClientIsGranted(Layout layout) throws Exception {
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
        Hold answers = own.holdAnswers(RequestMatch.multi()); // no heartbeat tells of the deletion either
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
    void whoComesBehindANeighbourWhoseNodeWasDeletedIsNotGrantedBesideIt() throws Exception {
        FaultProxy own = proxy();
        Mutex mutex = withRareHeartbeats(own).mutex("/m");
        Lease held = mutex.acquire();
        CompletableFuture<Lease> neighbour = mutex.acquireAsync();
        settle(mutex);
        deleteRequest(1);
        CompletableFuture<Lease> third = mutex.acquireAsync();
        settle(mutex);
        Lease next;
        try (Hold answers = own.holdAnswers(RequestMatch.multi())) {
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
    void aNeighbourThatHoldsWithoutANodeLosesBeforeWhoeverComesBehindItIsGranted() throws Exception {
        FaultProxy own = proxy();
        Mutex mutex = withRareHeartbeats(own).mutex("/m");
        Lease held = mutex.acquire();
        CompletableFuture<Lease> neighbour = mutex.acquireAsync();
        settle(mutex);
        deleteRequest(1);
        Hold list = own.holdAnswers(RequestMatch.list());
        CompletableFuture<Lease> third = mutex.acquireAsync();
        list.firstCaught().get(10, TimeUnit.SECONDS);
        try (list;
                Hold answers = own.holdAnswers(RequestMatch.multi())) {
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

    /** One whose heartbeats tell of nothing in the time of a test, and whose leases outlive a machine that stands still. */
    private ZkLockClient withRareHeartbeats(FaultProxy own) throws InterruptedException {
        ZkLockClient client =
                client(builder -> builder.connectString(own.connectString()).sessionTimeout(Duration.ofSeconds(60)));
        client.mutex("/m").acquire().close();
        return client;
    }

    @Test
    void theCountersEndNeverMakesTwoHoldersAndHeals() throws Exception {
        Lease held = faulty.mutex("/m").acquire();
        server().setChildCounter("/m", Integer.MAX_VALUE - 2);
        List<CompletableFuture<Lease>> waiting = List.of(
                other.mutex("/m").acquireAsync(),
                faulty.mutex("/m").acquireAsync(),
                client("third").mutex("/m").acquireAsync(),
                client("fourth").mutex("/m").acquireAsync());
        awaitUntil("all stepped back", () -> requestsUnder("/m").size() == 1 && server().watchCount() > 0);
        assertTrue(waiting.stream().noneMatch(CompletableFuture::isDone));
        held.close();
        long last = held.token();
        for (int served = 0; served < waiting.size(); served++) {
            awaitUntil(
                    "one is served",
                    () -> waiting.stream()
                                    .filter(CompletableFuture::isDone)
                                    .map(CompletableFuture::join)
                                    .filter(Lease::isValid)
                                    .count()
                            == 1);
            Lease holder = waiting.stream()
                    .filter(CompletableFuture::isDone)
                    .map(CompletableFuture::join)
                    .filter(Lease::isValid)
                    .findFirst()
                    .orElseThrow();
            assertTrue(holder.token() > last);
            last = holder.token();
            holder.close();
        }
        assertTrue(other.mutex("/m").tryAcquire().isPresent());
    }

    /** The nodes under a path in the order in which they were made, in whatever layout. */
    private List<ServerNode> nodesInOrder(String path) {
        return server().nodesUnder(path).stream()
                .sorted(Comparator.comparingLong(ServerNode::created))
                .toList();
    }

    private void deleteRequest(int index) throws Exception {
        operator.delete(requestsUnder("/m").get(index).path(), -1);
    }
}
