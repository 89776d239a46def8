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
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.Fault;
import io.latchkey.testkit.FaultProxy;
import io.latchkey.testkit.Hold;
import io.latchkey.testkit.RequestMatch;
import io.latchkey.testkit.ServerNode;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.Stopwatch;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures one by one, each struck at a chosen request on the wire, for every lock that is more than a mutex. */
@Tag("once")
@Timeout(60)
class SharedFaultTest extends OnOneServer {
    private static final Duration SOON = Slowness.stretched(Duration.ofSeconds(10));

    private final FaultProxy proxy = fastProxy();
    /** Its session outlives a reconnect, so that a cut is only a cut. */
    private final ZkLockClient patient = patient(proxy);

    private final FaultProxy hurried = fastProxy();
    /** Whose session is ended at the server: it hears of it when it comes back, and that is soon. */
    private final ZkLockClient faulty = patient(hurried);

    private final ZkLockClient other = client("other");

    private void knowThePaths(Lockable lockable) throws Exception {
        for (ZkLockClient client : List.of(patient, faulty, other)) {
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

    /** Whoever comes next gets all there is: no permit and no turn was lost. */
    private void nothingIsLost(Lockable lockable) throws Exception {
        nothingIsLeft(lockable);
        for (ZkLockClient client : List.of(other, patient)) {
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
    void aCreateWhoseAnswerIsLostIsFoundAgain(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Fault cut = proxy.cutAfter(RequestMatch.create(), 1);
        Lease lease = lockable.of(patient).acquire();
        cut.await(SOON);
        assertNodesOf(lease, lockable);
        assertTrue(lease.isValid());
        lease.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void aCreateThatNeverArrivedIsSentAgain(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Fault cut = proxy.cutBefore(RequestMatch.create(), 1);
        Lease lease = lockable.of(patient).acquire();
        cut.await(SOON);
        assertNodesOf(lease, lockable);
        lease.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void aCreateOnMissingPathsWhoseAnswerIsLostIsFoundAgain(Lockable lockable) throws Exception {
        Fault cut = proxy.cutAfter(RequestMatch.create().path("of a request", path -> path.matches(".*/[a-z]+-.*")), 1);
        Lease lease = lockable.of(patient).acquire();
        cut.await(SOON);
        assertNodesOf(lease, lockable);
        lease.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void aTryThatTimesOutWhileTheAnswerIsLostLeavesNothing(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Fault cut = proxy.cutAfter(RequestMatch.create(), 1);
        proxy.refuse();
        long start = System.nanoTime();
        Stopwatch watch = Stopwatch.start();
        // Long enough for the create to go out.
        assertEquals(Optional.empty(), lockable.of(patient).tryAcquire(Duration.ofSeconds(1)));
        long ran = watch.stop();
        long took = Duration.ofNanos(System.nanoTime() - start).toMillis();
        cut.await(SOON);
        assertTrue(took >= 1000 && ran < 1400, took + " ms, " + ran + " ms of them ran");
        assertEquals(lockable.paths().size(), nodes(lockable).size(), "the server has made it");
        proxy.accept();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void aListWhoseAnswerIsLostIsReadAgain(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Fault cut = proxy.cutAfter(RequestMatch.list(), 1);
        Lease lease = lockable.of(patient).acquire();
        cut.await(SOON);
        assertNodesOf(lease, lockable);
        lease.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void aReleaseWhoseAnswerIsLostIsOverForItsOwnerAndIsDone(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease lease = lockable.of(patient).acquire();
        Fault cut = proxy.cutAfter(RequestMatch.delete(), 1);
        assertEquals(ReleaseOutcome.PENDING, lease.release());
        cut.await(SOON);
        assertEquals(LeaseState.RELEASED, lease.state());
        lockable.of(other).acquire().close();
        assertFalse(lease.lost().isDone());
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void aReleaseThatNeverArrivedStaysOwedAndIsMadeUpFor(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease lease = lockable.of(patient).acquire();
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
    void watchesWhoseSetUpIsLostAreSetAgain(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        Fault cut = proxy.cutBefore(RequestMatch.watching(), 1);
        CompletableFuture<Lease> waiting = lockable.of(patient).acquireAsync();
        cut.await(SOON);
        long session = proxy.session().orElseThrow();
        awaitUntil("watches", () -> server().watches().stream().anyMatch(watch -> watch.session() == session));
        held.close();
        soon(waiting).close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void aLostConnectionWhileWaitingKeepsThePlaceAndMissesNothing(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> waiting = lockable.of(patient).acquireAsync();
        awaitNodes(lockable, 2);
        settle(lockable.of(patient));
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
    void cancellingWhileTheConnectionIsAwayLeavesNothing(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> waiting = lockable.of(patient).acquireAsync();
        awaitNodes(lockable, 2);
        settle(lockable.of(patient));
        proxy.refuse();
        proxy.cut();
        assertTrue(waiting.cancel(true));
        proxy.accept();
        awaitNodes(lockable, 1);
        awaitWatches(0);
        held.close();
        nothingIsLost(lockable);
    }

    // ---- deadlines

    @ParameterizedTest
    @EnumSource
    void oneSecondMeansOneSecondWithTheServerDown(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        ZkLockClient hasty = behind(fastProxy()); // it gives up when a session would be over
        lockable.of(hasty).acquire().close();
        server().stop();
        long start = System.nanoTime();
        Stopwatch watch = Stopwatch.start();
        assertEquals(Optional.empty(), lockable.of(patient).tryAcquire(Duration.ofSeconds(1)));
        long ran = watch.stop();
        long took = Duration.ofNanos(System.nanoTime() - start).toMillis();
        assertTrue(took >= 1000 && ran < 1300, took + " ms, " + ran + " ms of them ran");
        assertThrows(LockUnavailableException.class, () -> lockable.of(hasty).tryAcquire());
        server().restart();
        nothingIsLost(lockable);
    }

    // ---- expiry

    @ParameterizedTest
    @EnumSource
    void expiryBetweenCreateAndListMakesANewRequest(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Hold answers = hurried.holdAnswers(RequestMatch.create());
        CompletableFuture<Lease> acquiring = lockable.of(faulty).acquireAsync();
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        hurried.refuse(); // or it may have asked anew by the look
        hurried.expireSession().get(5, TimeUnit.SECONDS);
        assertEquals(List.of(), nodes(lockable));
        hurried.cut(); // with it the held answer goes: nobody is told of a node that is no more
        answers.close();
        hurried.accept();
        Lease lease = acquiring.get(20, TimeUnit.SECONDS);
        assertNodesOf(lease, lockable);
        assertEquals(hurried.session().orElseThrow(), nodes(lockable).get(0).session());
        lease.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void expiryWhileHoldingIsToldAndTheNextGetsAll(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease lease = lockable.of(faulty).acquire();
        CompletableFuture<Lease> next = lockable.blocker(other).acquireAsync();
        awaitNodes(lockable, 2);
        hurried.expireSession().get(5, TimeUnit.SECONDS);
        Lease successor = soon(next);
        assertTrue(successor.token() > lease.token());
        assertEquals(LossCause.SESSION_EXPIRED, lease.lost().get(10, TimeUnit.SECONDS));
        assertEquals(LeaseState.LOST, lease.state());
        assertFalse(lease.isValid());
        assertThrows(LeaseLostException.class, lease::ensureValid);
        assertEquals(ReleaseOutcome.LOST, lease.release());
        assertTrue(successor.isValid(), "the lost lease's release touched nobody else");
        awaitNodes(lockable, 1);
        successor.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void expiryWhileWaitingQueuesAgain(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> waiting = lockable.of(faulty).acquireAsync();
        awaitNodes(lockable, 2);
        settle(lockable.of(faulty));
        long dead = hurried.session().orElseThrow();
        hurried.expireSession().get(5, TimeUnit.SECONDS);
        awaitNodes(lockable, 2);
        assertTrue(nodes(lockable).stream().noneMatch(node -> node.session() == dead));
        assertFalse(waiting.isDone());
        held.close();
        Lease lease = soon(waiting);
        assertNodesOf(lease, lockable);
        lease.close();
        nothingIsLost(lockable);
    }

    /** Somebody between a holder and those behind it crashes: they must not be left without a wake-up, nor let in early. */
    @ParameterizedTest
    @EnumSource
    void theExpiryOfAWaiterInFrontServesThoseBehind(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> crashing = lockable.of(faulty).acquireAsync();
        awaitNodes(lockable, 2);
        CompletableFuture<Lease> behind = lockable.blocker(patient).acquireAsync();
        awaitNodes(lockable, 3);
        settle(lockable.of(faulty), lockable.of(patient));
        long dead = hurried.session().orElseThrow();
        hurried.expireSession().get(5, TimeUnit.SECONDS);
        awaitUntil("the crash", () -> nodes(lockable).stream().noneMatch(node -> node.session() == dead));
        held.close();
        soon(behind).close();
        soon(crashing).close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void expiryThatTheClientBelievesFirstWaitsBehindItsOwnGhost(Lockable lockable) throws Exception {
        FaultProxy own = fastProxy();
        ZkLockClient brief = behind(own);
        Lease lease = lockable.of(brief).acquire();
        long ghost = own.session().orElseThrow();
        own.expireAtClient().await(SOON);
        lease.lost().get(10, TimeUnit.SECONDS);
        Lease again = lockable.blocker(brief).acquire();
        assertTrue(nodes(lockable).stream().noneMatch(node -> node.session() == ghost), "granted when it was gone");
        again.close();
    }

    /** With expiry by time the loss is told before the next holder is granted: a margin before, a quarter of the session. */
    @ParameterizedTest
    @EnumSource
    void aPartitionedHolderKnowsBeforeTheNextIsGranted(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        FaultProxy own = fastProxy();
        ZkLockClient brief = client(builder ->
                builder.connectString(own.connectString()).sessionTimeout(Slowness.stretched(Duration.ofSeconds(3))));
        Lease lease = lockable.of(brief).acquire();
        CompletableFuture<Long> lostAt = lease.lost().thenApply(cause -> System.nanoTime());
        CompletableFuture<Long> grantedAt =
                lockable.blocker(other).acquireAsync().thenApply(next -> System.nanoTime());
        awaitNodes(lockable, 2);
        own.blackHole();
        long gap = grantedAt.get(20, TimeUnit.SECONDS) - lostAt.get(20, TimeUnit.SECONDS);
        assertTrue(gap > 0, "told " + Duration.ofNanos(-gap) + " too late");
        assertEquals(LossCause.DEADLINE_PASSED, lease.lost().get());
        own.heal(); // or its client would be long in closing
    }

    // ---- interruption at every stage

    @ParameterizedTest
    @EnumSource
    void interruptionWhileTheCreateIsOnTheWire(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        interruptWhileHeld(lockable, RequestMatch.create());
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void interruptionWhileTheListIsOnTheWire(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        interruptWhileHeld(lockable, RequestMatch.list());
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void interruptionWhileTheWatchesAreOnTheWire(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease held = lockable.blocker(other).acquire();
        interruptWhileHeld(lockable, RequestMatch.watching());
        held.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void interruptionOnMissingPaths(Lockable lockable) throws Exception {
        interruptWhileHeld(lockable, RequestMatch.create());
        nothingIsLost(lockable);
    }

    private void interruptWhileHeld(Lockable lockable, RequestMatch match) throws Exception {
        Hold answers = proxy.holdAnswers(match);
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
    void interruptionWhileTheAnswerToTheCreateIsLost(Lockable lockable) throws Exception {
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
    void interruptionDuringReleaseIsPendingAndKeepsTheFlag(Lockable lockable) throws Exception {
        knowThePaths(lockable);
        Lease lease = lockable.of(patient).acquire();
        Hold answers = proxy.holdAnswers(RequestMatch.delete());
        Thread.currentThread().interrupt();
        assertEquals(ReleaseOutcome.PENDING, lease.release());
        assertTrue(Thread.interrupted());
        assertEquals(LeaseState.RELEASED, lease.state());
        answers.close();
        nothingIsLost(lockable);
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptedThreadSendsNothing(Lockable lockable) throws Exception {
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> lockable.of(patient).acquire());
        assertFalse(Thread.interrupted());
        assertTrue(patient.mutex("/fence").tryAcquire().isPresent());
        lockable.paths().forEach(this::assertNeverMade);
    }

    private final CountDownLatch interrupted = new CountDownLatch(1);

    private Thread acquirer(Lockable lockable) {
        Acquirable lock = lockable.of(patient);
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

    // ---- operators

    @ParameterizedTest
    @EnumSource
    void aDeletedHoldersNodeIsALoss(Lockable lockable) throws Exception {
        Lease lease = lockable.of(patient).acquire();
        deleteRequest(lockable.paths().get(lockable.paths().size() - 1), 0);
        assertEquals(LossCause.NODE_DELETED, lease.lost().get(10, TimeUnit.SECONDS));
        assertEquals(ReleaseOutcome.LOST, lease.release());
        nothingIsLost(lockable);
    }

    /** Those behind would otherwise have one predecessor, and all would take its going for their turn. */
    @ParameterizedTest
    @EnumSource
    void aDeletedWaitersNodeIsMadeAnewAndNeverMakesTwoHolders(Lockable lockable) throws Exception {
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> second = lockable.of(faulty).acquireAsync();
        awaitNodes(lockable, 2);
        CompletableFuture<Lease> third = lockable.blocker(patient).acquireAsync();
        awaitNodes(lockable, 3);
        settle(lockable.of(faulty), lockable.of(patient));
        long former = requestsUnder(lockable.paths().get(0)).get(1).created();
        deleteRequest(lockable.paths().get(0), 1);
        awaitUntil(
                "it queues again",
                () -> nodes(lockable).stream().noneMatch(node -> node.created() == former)
                        && nodes(lockable).size() == 3 * lockable.paths().size());
        held.close();
        Lease granted = soon(third);
        settle(lockable.of(faulty), lockable.of(patient));
        assertFalse(second.isDone());
        assertTrue(granted.isValid());
        granted.close();
        soon(second).close();
        nothingIsLost(lockable);
    }

    /** The same behind a waiter of the same client, which looks at its neighbour instead of watching it. */
    @ParameterizedTest
    @EnumSource
    void whoWaitsBehindANeighboursDeletedNodeIsServed(Lockable lockable) throws Exception {
        Lease held = lockable.blocker(other).acquire();
        CompletableFuture<Lease> deleted = lockable.of(patient).acquireAsync();
        awaitNodes(lockable, 2);
        CompletableFuture<Lease> last = lockable.blocker(patient).acquireAsync();
        awaitNodes(lockable, 3);
        settle(lockable.of(patient));
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

    // ---- permits, in particular

    /** Elsewhere a connection that drops in mid-acquire leaves a permit that nobody has. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noPermitIsLostWhenConnectionsDropInMidAcquire(boolean answerOnly) throws Exception {
        Semaphore semaphore = patient.semaphore("/s", 3);
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
    void aResizeWhileAWaiterIsCutOffReachesIt() throws Exception {
        Lease held = other.semaphore("/s", 2).permits(2).acquire();
        CompletableFuture<Lease> waiting = patient.semaphore("/s", 2).acquireAsync();
        awaitRequests("/s", 2);
        settle(patient.semaphore("/s", 2));
        proxy.refuse();
        proxy.cut();
        awaitUntil("its connection is gone", () -> server().watches().isEmpty());
        other.semaphore("/s", 2).resize(3);
        proxy.accept();
        soon(waiting).close();
        held.close();
    }

    @Test
    void aResizeWhoseAnswerIsLostIsHarmlessToRepeat() throws Exception {
        Semaphore semaphore = patient.semaphore("/s", 2);
        semaphore.acquire().close();
        Fault cut = proxy.cutAfter(RequestMatch.setData(), 1);
        assertThrows(LockUnavailableException.class, () -> semaphore.resize(4));
        cut.await(SOON);
        // An acquire waits for the next connection; what is asked before it is there may be lost with the former one.
        semaphore.acquire().close();
        semaphore.resize(4);
        assertEquals(4, other.semaphore("/s", 2).capacity());
        Lease four = other.semaphore("/s", 2).acquire();
        assertEquals(3, semaphore.availablePermits());
        four.close();
    }

    @Test
    void afterTheEndOfItsSessionASemaphoreIsAskedAndResizedInTheNext() throws Exception {
        Semaphore semaphore = faulty.semaphore("/s", 2);
        Lease lease = semaphore.acquire();
        hurried.expireSession().get(5, TimeUnit.SECONDS);
        assertEquals(LossCause.SESSION_EXPIRED, lease.lost().get(10, TimeUnit.SECONDS));
        // An acquire waits for the next session; what is asked before it is there may be lost with the former one.
        semaphore.acquire().close();
        assertEquals(2, semaphore.availablePermits());
        semaphore.resize(3);
        assertEquals(3, other.semaphore("/s", 2).capacity());
    }

    // ---- read-write, in particular

    /** A reader between two writers crashes or is deleted: the writer behind must not be let in beside the first. */
    @Test
    void aDeletedReaderBetweenTwoWritersLetsNobodyIn() throws Exception {
        Lease writing = other.readWriteLock("/rw").writeLock().acquire();
        CompletableFuture<Lease> reader = faulty.readWriteLock("/rw").readLock().acquireAsync();
        awaitRequests("/rw", 2);
        CompletableFuture<Lease> writer =
                patient.readWriteLock("/rw").writeLock().acquireAsync();
        awaitRequests("/rw", 3);
        settle(
                faulty.readWriteLock("/rw").readLock(),
                patient.readWriteLock("/rw").readLock());
        deleteRequest("/rw", 1);
        awaitUntil(
                "it queues again",
                () -> requestsUnder("/rw").size() == 3
                        && requestsUnder("/rw").get(2).name().startsWith("read-"));
        settle(patient.readWriteLock("/rw").readLock());
        assertFalse(writer.isDone());
        writing.close();
        Lease written = soon(writer);
        assertFalse(reader.isDone());
        written.close();
        soon(reader).close();
    }

    @Test
    void aDeletedReadHolderLetsTheWriterInOnlyWhenTheOthersAreGone() throws Exception {
        Lease first = other.readWriteLock("/rw").readLock().acquire();
        Lease second = faulty.readWriteLock("/rw").readLock().acquire();
        CompletableFuture<Lease> writer =
                patient.readWriteLock("/rw").writeLock().acquireAsync();
        awaitRequests("/rw", 3);
        deleteRequest("/rw", 1);
        assertEquals(LossCause.NODE_DELETED, second.lost().get(10, TimeUnit.SECONDS));
        settle(patient.readWriteLock("/rw").readLock());
        assertFalse(writer.isDone());
        first.close();
        soon(writer).close();
    }

    @Test
    void theCountersEndNeverMakesAWriterBesideReadersAndHeals() throws Exception {
        Lease reading = other.readWriteLock("/rw").readLock().acquire();
        server().setChildCounter("/rw", Integer.MAX_VALUE - 2);
        CompletableFuture<Lease> reader = faulty.readWriteLock("/rw").readLock().acquireAsync();
        CompletableFuture<Lease> writer =
                patient.readWriteLock("/rw").writeLock().acquireAsync();
        CompletableFuture<Lease> another =
                client("third").readWriteLock("/rw").readLock().acquireAsync();
        awaitUntil("all stepped back", () -> requestsUnder("/rw").size() == 1 && server().watchCount() > 0);
        assertTrue(reading.isValid());
        assertFalse(writer.isDone());
        reading.close();
        CompletableFuture<Void> all = CompletableFuture.allOf(
                reader.thenAccept(Lease::close), writer.thenAccept(Lease::close), another.thenAccept(Lease::close));
        all.get(10, TimeUnit.SECONDS);
        awaitRequests("/rw", 0);
        assertTrue(other.readWriteLock("/rw").writeLock().tryAcquire().isPresent());
    }

    @Test
    void theCountersEndOfASemaphoreHealsToTheDeclaredCapacity() throws Exception {
        Lease held = other.semaphore("/s", 2).acquire();
        server().setChildCounter("/s", Integer.MAX_VALUE - 2);
        CompletableFuture<Lease> first = faulty.semaphore("/s", 2).acquireAsync();
        CompletableFuture<Lease> second = patient.semaphore("/s", 2).permits(2).acquireAsync();
        CompletableFuture<Lease> third = client("third").semaphore("/s", 2).acquireAsync();
        awaitUntil("all stepped back", () -> requestsUnder("/s").size() == 1 && server().watchCount() > 0);
        held.close();
        CompletableFuture<Void> all = CompletableFuture.allOf(
                first.thenAccept(Lease::close), second.thenAccept(Lease::close), third.thenAccept(Lease::close));
        all.get(10, TimeUnit.SECONDS);
        awaitRequests("/s", 0);
        assertEquals(2, other.semaphore("/s", 2).availablePermits());
    }

    // ---- servers

    @ParameterizedTest
    @EnumSource
    void aServerThatRestartsKeepsHoldersAndWaiters(Lockable lockable) throws Exception {
        Lease held = lockable.of(patient).acquire();
        ZkLockClient second = patient(proxy());
        CompletableFuture<Lease> waiting = lockable.blocker(second).acquireAsync();
        awaitNodes(lockable, 2);
        server().stop();
        awaitUntil("suspicion", () -> held.state() == LeaseState.SUSPECT);
        server().restart();
        awaitUntil("trust", () -> held.state() == LeaseState.HELD);
        assertThrows(TimeoutException.class, () -> waiting.get(10, TimeUnit.MILLISECONDS));
        held.close();
        soon(waiting).close();
    }
}
