// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.hash.Hashing;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.StripedMutex;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.Layout;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.turns.TurnQueue;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class SimulatedLocksTest {
    private static final Duration SESSION = Duration.ofSeconds(10);

    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start(SESSION);

    private static <T> T soon(CompletionStage<T> due) throws Exception {
        return due.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private static <E extends Throwable> E failure(Class<E> type, CompletionStage<?> failing) {
        ExecutionException told = assertThrows(ExecutionException.class, () -> soon(failing));
        return assertInstanceOf(type, told.getCause());
    }

    private LockClient besideCurator() {
        return locks.builder().layout(Layout.CURATOR).build();
    }

    /** A client that waited for itself would never be served. */
    @Test
    void freeLocksAreGrantedAtOnce_besideCurator() throws Exception {
        LockClient client = besideCurator();
        soon(client.mutex("/m").acquireAsync()).close();
        List<CompletableFuture<Lease>> asked = List.of(
                client.mutex("/m").acquireAsync(),
                client.readWriteLock("/rw").readLock().acquireAsync());
        locks.advance(Duration.ZERO);
        for (CompletableFuture<Lease> each : asked) {
            assertTrue(each.isDone());
            each.get().close();
        }
    }

    @Test
    void whatKazooDoesNotHave_isRefused() throws Exception {
        LockClient client = locks.builder().layout(Layout.KAZOO).build();
        assertThrows(UnsupportedOperationException.class, () -> client.semaphore("/s", 2));
        assertThrows(
                UnsupportedOperationException.class, () -> client.multiLock(client.mutex("/a"), client.mutex("/b")));
        Lease held = client.mutex("/m").acquire();
        assertThrows(UnsupportedOperationException.class, held::releaseRequested);
        assertEquals(
                Contender.ReleaseRequestResult.NOT_LISTENING,
                client.mutex("/m").queue().get(0).requestRelease());
        held.close();
    }

    @Test
    void lineOfManyPermits_hasOneWaiterThatWatchesThePathAfterAResizeUpAndDown() throws Exception {
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
            assertEquals(1, watchersOfChildren("/pool"));
            held.remove(held.size() - 1).close();
            held.add(0, soon(next));
        }
        held.forEach(Lease::close);
        before.close();
        assertEquals(List.of(), locks.watches());
    }

    private long watchersOfChildren(String path) {
        return locks.watches().stream()
                .filter(watch -> watch.path().equals(path) && watch.kind() == ServerNode.Watch.Kind.CHILDREN)
                .count();
    }

    /** Holders of before a shrink tell nothing more: the waiter behind one of them looks at the whole queue. */
    @Test
    void waiterBehindAHolderFromBeforeAShrink_isGrantedByAnotherRelease() throws Exception {
        LockClient mine = locks.client();
        for (LockClient waits : List.of(mine, locks.client())) {
            Semaphore pool = mine.semaphore("/pool", 20);
            Lease large = pool.permits(12).acquire();
            Lease last = pool.permits(8).acquire();
            pool.resize(10);
            CompletableFuture<Lease> waiting = waits.semaphore("/pool", 20).acquireAsync();
            large.close();
            soon(waiting).close();
            last.close();
            pool.resize(20);
        }
    }

    /** By the former capacity both holders are in its way, and by the new one the last of them is enough. */
    @Test
    void waiterForPermitsWatchesNothingElse_whenLessIsInItsWayAfterAShrink() throws Exception {
        Semaphore pool = locks.client().semaphore("/s", 3);
        List<Lease> held = List.of(pool.acquire(), pool.acquire());
        CompletableFuture<Lease> waiting =
                locks.client().semaphore("/s", 3).permits(2).acquireAsync();
        assertEquals(3, locks.watches().size(), "on both and on the path");
        pool.resize(2);
        locks.advance(Duration.ZERO);
        assertEquals(2, locks.watches().size(), () -> locks.watches().toString());
        held.forEach(Lease::close);
        soon(waiting).close();
    }

    /** Only a request from before a shrink holds by a former capacity, and only within the largest one. */
    @Test
    void holdersAndWaitersAreShown_afterAShrink() throws Exception {
        LockClient mine = locks.client();
        Semaphore full = mine.semaphore("/full", 2);
        Semaphore older = mine.semaphore("/older", 3);
        Semaphore younger = mine.semaphore("/younger", 3);
        List<Lease> held = List.of(
                full.acquire(),
                full.acquire(),
                older.permits(2).acquire(),
                younger.permits(2).acquire());
        CompletableFuture<Lease> before = older.permits(2).acquireAsync();
        full.resize(1);
        older.resize(2);
        younger.resize(2);
        CompletableFuture<Lease> after = younger.acquireAsync();
        assertEquals(List.of(Contender.State.HOLDING, Contender.State.HOLDING), states(full.queue()));
        assertEquals(List.of(Contender.State.HOLDING, Contender.State.WAITING), states(older.queue()));
        assertEquals(List.of(Contender.State.HOLDING, Contender.State.WAITING), states(younger.queue()));
        held.forEach(Lease::close);
        soon(before).close();
        soon(after).close();
    }

    private static List<Contender.State> states(List<Contender> queue) {
        return queue.stream().map(Contender::state).toList();
    }

    /** A request leaves between the list and the reads of the nodes; a resize comes between the data and the list. */
    @Test
    void queueIsShown_whenItChangesDuringTheRead() throws Exception {
        Semaphore pool = locks.client().semaphore("/s", 2);
        LockClient looking = locks.client();
        Lease leaving = pool.acquire();
        Lease held = pool.acquire();
        HeldFrames list = locks.holdAnswers(looking, RequestMatch.list());
        CompletableFuture<List<Contender>> first = looking.semaphore("/s", 2).queueAsync();
        assertTrue(list.firstCaught().isDone());
        leaving.close();
        list.release();
        assertEquals(
                List.of(held.token()),
                soon(first).stream().map(Contender::token).toList());

        CompletableFuture<Lease> large = pool.permits(2).acquireAsync();
        HeldFrames data = locks.holdAnswers(looking, RequestMatch.getData());
        CompletableFuture<List<Contender>> second = looking.semaphore("/s", 2).queueAsync();
        assertTrue(data.firstCaught().isDone());
        pool.resize(3);
        Lease granted = soon(large);
        data.release();
        assertEquals(List.of(Contender.State.HOLDING, Contender.State.HOLDING), states(soon(second)));
        granted.close();
        held.close();
    }

    /**
     * Another client creates the path during the first resize. During the second it is removed with its parent, behind
     * the list of it, and during the third alone, before that.
     */
    @Test
    void semaphoreIsResized_whenItsPathIsCreatedOrRemovedDuringIt() throws Exception {
        LockClient mine = locks.client();
        Semaphore other = locks.client().semaphore("/pools/s", 2);
        assertResized(mine, RequestMatch.getData(), 5, () -> other.acquireAsync()
                .join()
                .close());
        assertResized(mine, RequestMatch.list(), 7, () -> {
            locks.delete("/pools/s");
            locks.delete("/pools");
        });
        assertResized(mine, RequestMatch.getData(), 9, () -> locks.delete("/pools/s"));
    }

    private void assertResized(LockClient by, RequestMatch read, int capacity, Runnable behindIt) throws Exception {
        HeldFrames answers = locks.holdAnswers(by, read);
        CompletableFuture<Void> resized = by.semaphore("/pools/s", 2).resizeAsync(capacity);
        assertTrue(answers.firstCaught().isDone());
        behindIt.run();
        answers.release();
        soon(resized);
        assertEquals(capacity, locks.client().semaphore("/pools/s", 2).capacity());
    }

    /** The second list of its requests is on its own, as the first one may have broken the connection by its length. */
    @Test
    void semaphoreIsResizedByAHolder_whenTheFirstListWasLost() throws Exception {
        LockClient mine = locks.client();
        Semaphore asked = mine.semaphore("/s", 3);
        Lease held = asked.acquire();
        Fault cut = locks.cutAfter(mine, RequestMatch.list(), 1);
        assertThrows(ExecutionException.class, () -> soon(asked.resizeAsync(2)));
        assertTrue(cut.struck().isDone());
        CompletableFuture<Void> again = asked.resizeAsync(2);
        locks.advance(SESSION);
        soon(again);
        assertEquals(2, asked.capacity());
        held.close();
    }

    @Test
    void resizeNamesTheRefusal_whenTheLevelsAboveMayNotBeCreated() {
        LockClient mine = locks.client();
        var unused = locks.refuseRequest(mine, RequestMatch.create(), 2, KeeperException.Code.NOAUTH);
        failure(AccessDeniedException.class, mine.semaphore("/pools/east/s", 2).resizeAsync(3));
    }

    @Test
    void resizeKeepsAConcurrentResize() throws Exception {
        Semaphore other = locks.client().semaphore("/s", 3);
        other.acquire().close();
        LockClient slow = locks.client();
        HeldFrames data = locks.holdAnswers(slow, RequestMatch.getData());
        CompletableFuture<Void> resizing = slow.semaphore("/s", 3).resizeAsync(2);
        assertTrue(data.firstCaught().isDone());
        other.resize(8);
        data.release();
        soon(resizing);
        assertTrue(locks.nodesUnder("/").stream()
                .anyMatch(node -> node.path().equals("/s") && node.text().equals("latchkey/3 semaphore 3 2 8")));
    }

    @Test
    void observer_getsTheEventsOfItsClientInSimulatedTime() throws Exception {
        CompletableFuture<Duration> heldUntilLost = new CompletableFuture<>();
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
        Lease held = soon(waiting);
        locks.advance(Duration.ofSeconds(7));
        assertTrue(held.isValid());
        locks.expire(observed);
        assertEquals(Duration.ofSeconds(7), soon(heldUntilLost));
    }

    /** An attempt to connect again that fails is no change. */
    /** As docs/queues.md has it: clients of all versions pick the same, also by a hash below zero. */
    @Test
    void stripeOfAKeyIsItsHashModuloTheirNumber() throws Exception {
        StripedMutex striped = locks.client().stripedMutex("/striped", 7);
        for (int i = 0; i < 50; i++) {
            int hash = Hashing.murmur3_32_fixed()
                    .hashString("key-" + i, StandardCharsets.UTF_8)
                    .asInt();
            try (Lease held = striped.forKey("key-" + i).acquire()) {
                assertEquals("/striped/" + Math.floorMod(hash, 7), held.path());
            }
        }
    }

    @Test
    void sessionIsShownSinceItsLastChange() {
        LockClient mine = locks.client();
        Instant start = mine.session().since();
        locks.advance(Duration.ofSeconds(1));
        assertEquals(start, mine.session().since());
        locks.disconnect(mine);
        locks.advance(Duration.ofSeconds(3));
        assertEquals(start.plusSeconds(1), mine.session().since());
        assertFalse(mine.session().isConnected());
        locks.heal(mine);
        assertEquals(start.plusSeconds(4), mine.session().since());
        assertTrue(mine.session().isConnected());
    }

    @ParameterizedTest
    @EnumSource
    void expiryEndsWithANewSession(ExpiryOrder order) throws Exception {
        LockClient mine = locks.client();
        Lease held = mine.mutex("/m").acquire();
        long session = locks.session(mine);
        locks.expire(mine, order);
        assertEquals(
                order == ExpiryOrder.PARTITION ? LossCause.DEADLINE_PASSED : LossCause.SESSION_EXPIRED,
                held.lost().toCompletableFuture().get());
        assertEquals(order == ExpiryOrder.CLIENT_FIRST, locks.sessions().contains(session));
        locks.advance(SESSION.multipliedBy(2));
        assertEquals(List.of(locks.session(mine)), locks.sessions());
        assertTrue(mine.mutex("/m").tryAcquire().isPresent());
    }

    /**
     * A quarter of the timeout is the margin: the heartbeat that makes a pair with the barrier comes then, just in
     * time.
     */
    @Test
    void clientThatWasDisconnectedForSevenTenthsOfItsTimeout_keepsItsLease() throws Exception {
        LockClient mine = locks.client();
        Lease held = mine.mutex("/m").acquire();
        locks.disconnect(mine);
        locks.advance(Duration.ofSeconds(7));
        assertTrue(held.isValid());
        locks.heal(mine);
        locks.advance(SESSION);
        assertTrue(held.isValid());
    }

    /** What was not sent leaves nothing to look for and nothing to remember. */
    @Test
    void triesSendNothing_whileTheirClientIsDisconnected() throws Exception {
        LockClient mine = locks.client();
        mine.mutex("/m").acquire().close();
        locks.disconnect(mine);
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Optional<Lease>> tried = mine.mutex("/m").tryAcquireAsync(Duration.ofMillis(20));
            locks.advance(Duration.ofMillis(20));
            assertEquals(Optional.empty(), soon(tried));
        }
        CompletableFuture<Lease> waits = mine.mutex("/m").acquireAsync();
        locks.heal(mine);
        soon(waits).close();
        ServerNode path = locks.nodesUnder("/").stream()
                .filter(node -> node.path().equals("/m"))
                .findFirst()
                .orElseThrow();
        assertEquals(2, path.childCounter(), "requests that were ever made");
    }

    @Test
    void tryWithoutAnAnswerNamesItsPathAndTheTime() {
        LockClient mine = locks.client();
        locks.disconnect(mine);
        List<CompletableFuture<Optional<Lease>>> tried = List.of(
                mine.mutex("/m").tryAcquireAsync(Duration.ZERO),
                mine.multiLock(mine.mutex("/m"), mine.mutex("/other")).tryAcquireAsync(Duration.ZERO));
        locks.advance(SESSION);
        for (CompletableFuture<Optional<Lease>> each : tried) {
            String told = failure(LockServiceUnavailableException.class, each).getMessage();
            assertTrue(
                    told.startsWith("No answer from the ZooKeeper servers within 10000 ms while acquiring /m."), told);
        }
    }

    /** No event tells when a server that has refused it would not refuse it any more. */
    @Test
    void refusedFirstWritesOfAConnection_areRepeated() throws Exception {
        LockClient mine = locks.client();
        Lease held = mine.mutex("/m").acquire();
        locks.disconnect(mine);
        locks.refuseWrites(mine, 10);
        locks.heal(mine);
        locks.advance(SESSION.multipliedBy(2));
        assertTrue(held.isValid());
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
        locks.advance(Duration.ZERO);
        assertEquals(ReleaseOutcome.RELEASED, released.getNow(null));
    }

    /** A server refuses them by itself, also one that has no leader any more: that proves nothing of the session. */
    @Test
    void leaseIsLost_whenTheServerRefusesEveryWrite() throws Exception {
        LockClient mine = locks.client();
        Lease held = mine.mutex("/m").acquire();
        locks.refuseWrites(mine, 1_000);
        locks.advance(SESSION);
        assertFalse(held.isValid());
        assertEquals(LossCause.DEADLINE_PASSED, soon(held.lost()));
        locks.refuseWrites(mine, 0);
        locks.advance(SESSION);
        assertEquals(0, locks.nodesUnder("/m").size());
    }

    /** In a line of many permits the holder ahead tells the next waiter that it holds. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nextWaiterIsGranted_whenItsNoticeIsRefusedOrLost(boolean refused) throws Exception {
        LockClient leading = locks.client();
        Lease all = locks.client().semaphore("/s", 20).permits(18).acquire();
        CompletableFuture<Lease> first = leading.semaphore("/s", 20).permits(5).acquireAsync();
        CompletableFuture<Lease> behind = locks.client().semaphore("/s", 20).acquireAsync();
        locks.advance(Duration.ZERO);
        if (refused) {
            locks.refuseWrites(leading, 1);
        } else {
            locks.refuse(leading);
            locks.cutBefore(leading, RequestMatch.multi().butHeartbeats(), 1);
        }
        all.close();
        Lease held = soon(first);
        assertFalse(behind.isDone(), "it has no notice");
        locks.heal(leading);
        locks.advance(SESSION);
        soon(behind).close();
        assertTrue(held.isValid());
    }

    /** As an operator's {@code deleteall} leaves it, or the server's removal of an empty container. */
    @Test
    void holderLosesBeforeTheNextOfItsClientIsGranted_whenThePathWasDeleted() throws Exception {
        Mutex mutex = locks.client().mutex("/m");
        Lease held = mutex.acquire();
        locks.delete(locks.nodesUnder("/m").get(0).path());
        locks.delete("/m");
        Lease next = mutex.acquire();
        assertFalse(held.isValid());
        assertEquals(LossCause.NODE_DELETED, held.lost().toCompletableFuture().get());
        assertEquals(ReleaseOutcome.LOST, held.release());
        assertTrue(next.isValid());
    }

    /** The client learns of the deletion only after it has asked for the release. */
    @Test
    void releaseOfAPermitTellsTheLoss_whenItsNodeIsGone() throws Exception {
        LockClient mine = locks.client();
        Lease held = mine.semaphore("/s", 2).acquire();
        HeldFrames events = locks.holdEvents(mine);
        locks.delete(locks.nodesUnder("/s").get(0).path());
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
        events.release();
        assertEquals(ReleaseOutcome.LOST, soon(released));
    }

    /** Its loss is no loss of the lease. */
    @Test
    void releaseSucceeds_whenTheRevocationNodeIsGone() throws Exception {
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
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
        events.release();
        assertEquals(ReleaseOutcome.RELEASED, soon(released));
    }

    /** Its stage has failed, so a release request must not be answered as stored. */
    @Test
    void holderThatMayNotListen_isNotAskedLaterEither() throws Exception {
        LockClient mine = locks.client();
        Lease held = mine.mutex("/m").acquire();
        RequestMatch listens = RequestMatch.create().path("of the revocation node", path -> path.contains("/revoke-"));
        Fault denied = locks.refuseRequest(mine, listens, 1, KeeperException.Code.NOAUTH);
        for (int call = 0; call < 2; call++) {
            CompletableFuture<ReleaseRequest> asked = held.releaseRequested().toCompletableFuture();
            assertTrue(denied.struck().isDone());
            ExecutionException told = assertThrows(ExecutionException.class, () -> soon(asked));
            assertInstanceOf(AccessDeniedException.class, told.getCause());
            Contender holder = locks.client("admin").mutex("/m").queue().get(0);
            assertEquals(ReleaseRequestResult.NOT_LISTENING, holder.requestRelease());
        }
        assertTrue(held.isValid());
        held.close();
    }

    /** The request was delivered to the write lease; the read lease is another object. */
    @Test
    void downgradedHolderIsNotified_whenItsWriteLeaseWasAskedToRelease() throws Exception {
        ReadWriteLock lock = locks.client().readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        CompletableFuture<ReleaseRequest> ofTheWriter = write.releaseRequested().toCompletableFuture();
        ReadWriteLock ofAnother = locks.client("admin").readWriteLock("/rw");
        Contender holder = ofAnother.readLock().queue().get(0);
        assertEquals(ReleaseRequestResult.STORED, holder.requestRelease());
        assertEquals("admin", soon(ofTheWriter).by().label());
        Lease read = lock.downgrade(write);
        CompletableFuture<ReleaseRequest> ofTheReader = read.releaseRequested().toCompletableFuture();
        assertEquals("admin", soon(ofTheReader).by().label());
        assertTrue(read.isValid());
        read.close();
        assertEquals(List.of(), locks.nodesUnder("/rw"));
    }

    /** The creation of its revocation node arrives behind the downgrade, which has taken the writer's node away. */
    @Test
    void downgradedHolderIsNotified_whenItBeganToListenDuringTheDowngrade() throws Exception {
        LockClient mine = locks.client();
        ReadWriteLock lock = mine.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        HeldFrames answers = locks.holdAnswers(mine, RequestMatch.create().under("/rw"));
        CompletableFuture<Lease> downgraded = lock.downgradeAsync(write);
        var unused = write.releaseRequested();
        answers.release();
        Lease read = soon(downgraded);
        CompletableFuture<ReleaseRequest> asked = read.releaseRequested().toCompletableFuture();
        locks.advance(SESSION);
        Contender holder =
                locks.client("admin").readWriteLock("/rw").readLock().queue().get(0);
        assertEquals(ReleaseRequestResult.STORED, holder.requestRelease());
        assertEquals("admin", soon(asked).by().label());
        read.close();
        assertEquals(List.of(), locks.nodesUnder("/rw"));
    }

    /** The answer to the creation of its revocation node is lost, or that to the request for a watch on it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void releaseRequestArrivesAtTheReconnect_whenTheHolderHadJustBegunToListen(int number) throws Exception {
        LockClient mine = locks.client();
        Lease held = mine.mutex("/m").acquire();
        locks.refuse(mine);
        RequestMatch listens = RequestMatch.any().path("of the revocation node", path -> path.contains("/revoke-"));
        Fault lost = locks.cutAfter(mine, listens, number);
        CompletableFuture<ReleaseRequest> asked = held.releaseRequested().toCompletableFuture();
        assertTrue(lost.struck().isDone());
        Contender holder = locks.client("admin").mutex("/m").queue().get(0);
        assertEquals(ReleaseRequestResult.STORED, holder.requestRelease());
        assertFalse(asked.isDone());
        locks.heal(mine);
        assertEquals("admin", soon(asked).by().label());
        assertTrue(held.isValid());
    }

    /** Both hold by one node; the first of them asks for the node that the server refuses. */
    @Test
    void everyHolderLearnsThatItCannotBeAsked_whenTheServerDoesNotLetItListen() throws Exception {
        LockClient mine = locks.builder().localTurns(9, SESSION).build();
        Acquirable reads = mine.readWriteLock("/rw").readLock();
        List<Lease> held = List.of(reads.acquire(), reads.acquire());
        assertEquals(1, locks.nodesUnder("/rw").size());
        var unused = locks.refuseRequest(mine, RequestMatch.multi(), 1, KeeperException.Code.NOAUTH);
        List<CompletionStage<ReleaseRequest>> asked =
                held.stream().map(Lease::releaseRequested).toList();
        for (CompletionStage<ReleaseRequest> each : asked) {
            failure(LockException.class, each);
        }
        assertTrue(held.stream().allMatch(Lease::isValid));
        CompletableFuture<ReleaseRequest> later =
                reads.acquire().releaseRequested().toCompletableFuture();
        Acquirable other = locks.client().readWriteLock("/rw").readLock();
        assertEquals(ReleaseRequestResult.STORED, other.queue().get(0).requestRelease());
        soon(later);
    }

    @Test
    void noWatchIsLeft_whenAMultiLockThatWaitsForBothMembersIsCancelled() throws Exception {
        LockClient other = locks.client();
        List<Lease> held =
                List.of(other.mutex("/a").acquire(), other.mutex("/b").acquire());
        LockClient mine = locks.client();
        CompletableFuture<Lease> both =
                mine.multiLock(mine.mutex("/a"), mine.mutex("/b")).acquireAsync();
        assertEquals(4, locks.watches().size(), "on the two ahead and its own two");
        both.cancel(false);
        locks.advance(Duration.ZERO);
        assertEquals(List.of(), locks.watches());
        held.forEach(Lease::close);
    }

    /** Otherwise the nodes of its other members would stay when the read lease is released. */
    @Test
    void leaseOfAMultiLockIsNotDowngraded_whenItsFirstMemberIsTheWriteLock() throws Exception {
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

    /** The list of a third request that waits is not sent until one of the two has moved. */
    @Test
    void tryIsAnsweredAtOnce_whenTwoRequestsOfItsClientWaitAhead() throws Exception {
        Lease held = locks.client().mutex("/m").acquire();
        Mutex mutex = locks.client().mutex("/m");
        List<CompletableFuture<Lease>> waiting = List.of(mutex.acquireAsync(), mutex.acquireAsync());
        CompletableFuture<Optional<Lease>> tried = mutex.tryAcquireAsync(Duration.ZERO);
        assertEquals(Optional.empty(), soon(tried));
        assertEquals(3, locks.nodesUnder("/m").size(), "those of the holder and of the two that wait");
        held.close();
        for (CompletableFuture<Lease> next : waiting) {
            soon(next).close();
        }
    }

    /** It has left the queue by the time of its answer, unless the connection is lost before. */
    @Test
    void tryIsAnsweredEmptyInItsTime_whenTheAnswerToItsDeletionIsLate() throws Exception {
        Lease held = locks.client().mutex("/m").acquire();
        LockClient mine = locks.client();
        HeldFrames answers = locks.holdAnswers(mine, RequestMatch.delete());
        CompletableFuture<Optional<Lease>> tried = mine.mutex("/m").tryAcquireAsync(Duration.ZERO);
        assertTrue(answers.firstCaught().isDone());
        locks.cutOff(mine);
        locks.advance(SESSION.dividedBy(3));
        assertFalse(tried.isDone(), "its deletion has no answer");
        locks.advance(SESSION.dividedBy(3).multipliedBy(2));
        assertEquals(Optional.empty(), tried.getNow(null));
        answers.release();
        assertEquals(1, locks.nodesUnder("/m").size(), "the holder's");
        held.close();
    }

    /** The client carries out the call of the second reader only after that one has given up. */
    @Test
    void sharedNodeIsReleased_whenAReaderGaveUpAsItJoined() throws Exception {
        LockClient turning = locks.builder().localTurns(5, SESSION).build();
        Acquirable reads = turning.readWriteLock("/rw").readLock();
        Lease held = reads.acquire();
        ((ZkLease) held).context().execute(() -> {
            CompletableFuture<Lease> givenUp = reads.acquireAsync();
            givenUp.cancel(false);
        });
        assertEquals(ReleaseOutcome.RELEASED, held.release());
        assertEquals(List.of(), locks.nodesUnder("/rw"));
    }

    /** It is given up without readers. Two readers by one lease would both end with the first of them. */
    @Test
    void nextNodeOfReadersStays_whenReadersHoldByItAndThoseOfTheNodeBeforeHaveReleased() throws Exception {
        LockClient turning = locks.builder().localTurns(8, SESSION).build();
        Acquirable reads = turning.readWriteLock("/rw").readLock();
        List<Lease> before = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            before.add(reads.acquire());
        }
        Lease first = reads.acquire();
        Lease second = reads.acquire();
        assertTrue(first.token() > before.get(7).token());
        assertEquals(first.token(), second.token());
        before.forEach(Lease::close);
        assertTrue(first.isValid() && second.isValid());
        assertEquals(1, locks.nodesUnder("/rw").size());
        assertEquals(ReleaseOutcome.RELEASED, first.release());
        assertTrue(second.isValid());
        second.close();
        assertEquals(List.of(), locks.nodesUnder("/rw"));
    }

    @Test
    void readerDoesNotJoinAWriter_whoseNodeServedAReaderBefore() throws Exception {
        ReadWriteLock lock = locks.builder().localTurns(5, SESSION).build().readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        CompletableFuture<Lease> reader = lock.readLock().acquireAsync();
        CompletableFuture<Lease> writer = lock.writeLock().acquireAsync();
        write.close();
        Lease read = soon(reader);
        read.close();
        Lease nextWrite = soon(writer);
        assertEquals(write.token(), read.token());
        assertEquals(write.token(), nextWrite.token());
        CompletableFuture<Lease> late = lock.readLock().acquireAsync();
        locks.advance(Duration.ZERO); // until callbacks have run
        assertFalse(late.isDone(), "it holds beside the writer");
        nextWrite.close();
        soon(late).close();
    }

    /** A local turn that comes soon costs less than a request, and so does a caller that comes back soon. */
    @Test
    void requestForAPermitIsWithdrawn_whenItsWaiterHasTakenATurn() throws Exception {
        Semaphore pool = locks.builder().localTurns(5, SESSION).build().semaphore("/s", 2);
        List<Lease> held = List.of(pool.acquire(), pool.acquire());
        CompletableFuture<Lease> next = pool.acquireAsync();
        assertEquals(2, locks.nodesUnder("/s").size());
        locks.advance(TurnQueue.PATIENCE);
        assertEquals(3, locks.nodesUnder("/s").size());
        held.get(0).close();
        Lease passedOn = soon(next);
        assertEquals(held.get(0).token(), passedOn.token());
        locks.advance(TurnQueue.PATIENCE);
        assertEquals(2, locks.nodesUnder("/s").size());
        passedOn.close();
        held.get(1).close();
    }

    /** No number of its nodes would fit, but one request is to say so. */
    @Test
    void localWaiterIsRefused_whenItAsksForMorePermitsThanThereAre() throws Exception {
        Semaphore pool = locks.builder().localTurns(5, SESSION).build().semaphore("/s", 2);
        CompletableFuture<Lease> asked = pool.permits(3).acquireAsync();
        locks.advance(Duration.ZERO); // until callbacks have run
        assertTrue(asked.isDone(), "it waits for ever");
        failure(LockMismatchException.class, asked);
    }

    /** One request of the client waits at the server for all of them. */
    @Test
    void everyLocalWaiterIsRefused_whenItsPathIsOfAnotherKind() throws Exception {
        Lease write = locks.client().readWriteLock("/rw").writeLock().acquire();
        LockClient turning = locks.builder().localTurns(5, SESSION).build();
        Mutex mutex = turning.mutex("/rw");
        HeldFrames answers = locks.holdAnswers(turning, RequestMatch.create());
        List<CompletableFuture<Lease>> all = List.of(mutex.acquireAsync(), mutex.acquireAsync(), mutex.acquireAsync());
        answers.release();
        for (CompletableFuture<Lease> asked : all) {
            failure(LockMismatchException.class, asked);
        }
        assertTrue(write.isValid());
    }

    /** More would be in the way of other clients. */
    @Test
    void localWaitersHaveAsManyRequests_asCouldHoldAtATime() throws Exception {
        Lease all = locks.client().semaphore("/s", 4).permits(4).acquire();
        Acquirable two = locks.builder()
                .localTurns(5, SESSION)
                .build()
                .semaphore("/s", 4)
                .permits(2);
        List<CompletableFuture<Lease>> asked =
                List.of(two.acquireAsync(), two.acquireAsync(), two.acquireAsync(), two.acquireAsync());
        assertEquals(1 + 2, locks.nodesUnder("/s").size());
        all.close();
        for (CompletableFuture<Lease> next : asked) {
            soon(next).close();
        }
    }

    /** It was requested for the readers that came next, behind a writer of another client, and none came. */
    @Test
    void nextNodeOfReadersIsReleasedAtOnce_whenItIsGrantedAndNoReaderWaits() throws Exception {
        LockClient turning = locks.builder().localTurns(8, SESSION).build();
        Acquirable reads = turning.readWriteLock("/rw").readLock();
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            held.add(reads.acquire());
        }
        CompletableFuture<Lease> writer =
                locks.client().readWriteLock("/rw").writeLock().acquireAsync();
        held.add(reads.acquire());
        locks.advance(Duration.ZERO);
        assertEquals(3, locks.nodesUnder("/rw").size());
        held.forEach(Lease::close);
        soon(writer).close();
        locks.advance(Duration.ZERO);
        assertEquals(List.of(), locks.nodesUnder("/rw"));
    }

    @Test
    void turnsAreTaken_alsoByLocksWithALabelOrALimit() throws Exception {
        LockClient turning = locks.builder().localTurns(5, SESSION).build();
        Mutex mutex = turning.mutex("/m");
        ReadWriteLock pair = turning.readWriteLock("/rw");
        Semaphore pool = turning.semaphore("/s", 2);
        Duration limit = Duration.ofHours(1);
        for (Acquirable lock : List.of(
                mutex.labelled("invoice 7"),
                mutex.heldAtMost(limit),
                pair.labelled("invoice 7").writeLock(),
                pair.heldAtMost(limit).writeLock(),
                pair.writeLock().labelled("invoice 7"),
                pair.writeLock().heldAtMost(limit),
                pool.labelled("invoice 7").permits(2),
                pool.heldAtMost(limit).permits(2),
                pool.permits(2).labelled("invoice 7"),
                pool.permits(2).heldAtMost(limit),
                turning.stripedMutex("/striped", 1).forKey("key"))) {
            Lease first = lock.acquire();
            CompletableFuture<Lease> next = lock.acquireAsync();
            first.close();
            Lease second = soon(next);
            assertEquals(first.token(), second.token(), lock::toString);
            second.close();
        }
    }

    @Test
    void diagnosisNamesItsGap_onPathsSharedWithCurator() throws Exception {
        LockClient client = besideCurator();
        Lease held = client.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
        assertEquals(
                "the paths are shared with Curator or kazoo, whose nodes do not show the kind of lock",
                client.diagnose().incompleteBecause().orElse(""));
        held.close();
        waiting.get().close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void requestIsCarriedOut_ifTheConnectionIsCutAfterItAndNotBefore(boolean after) throws Exception {
        LockClient mine = locks.client();
        Lease other = mine.mutex("/other").acquire();
        mine.mutex("/m").acquire().close();
        RequestMatch create = RequestMatch.create().under("/m");
        Fault second = after ? locks.cutAfter(mine, create, 2) : locks.cutBefore(mine, create, 2);
        mine.mutex("/m").acquire().close();
        assertFalse(second.struck().isDone());
        locks.refuse(mine);
        CompletableFuture<Lease> asked = mine.mutex("/m").acquireAsync();
        assertEquals(WireRecord.Op.CREATE2, second.await(Duration.ZERO).op());
        assertEquals(LeaseState.SUSPECT, other.state());
        assertEquals(after ? 1 : 0, locks.nodesUnder("/m").size(), "what the server has carried out");
        locks.heal(mine);
        asked.get().close();
        assertEquals(LeaseState.HELD, other.state());
        assertEquals(0, locks.nodesUnder("/m").size());
    }

    @Test
    void sessionLivesOn_whileAnswersAreHeld() throws Exception {
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

    @Test
    void requestsGetToTheServer_whileAnswersAreHeld() throws Exception {
        LockClient mine = locks.client();
        mine.mutex("/second").acquire().close(); // the path is there
        HeldFrames hold = locks.holdAnswers(mine, RequestMatch.create().under("/first"));
        CompletableFuture<Lease> first = mine.mutex("/first").acquireAsync();
        soon(hold.firstCaught());
        CompletableFuture<Lease> second = mine.mutex("/second").acquireAsync();
        assertFalse(second.isDone());
        assertFalse(locks.nodesUnder("/second").isEmpty());
        hold.release();
        soon(first).close();
        soon(second).close();
    }

    @Test
    void closedClientIsRefused() throws Exception {
        LockClient mine = locks.client();
        mine.mutex("/m").acquire();
        mine.close();
        assertEquals(List.of(), locks.sessions());
        assertEquals(1, locks.nodesUnder("/").size(), "the path alone");
        assertThrows(IllegalArgumentException.class, () -> locks.expire(mine));
    }

    @Test
    void refusedRequestIsNotCarriedOut() {
        LockClient mine = locks.client();
        Fault denied = locks.refuseRequest(mine, RequestMatch.create(), 1, KeeperException.Code.NOAUTH);
        CompletableFuture<Lease> asked = mine.mutex("/m").acquireAsync();
        failure(AccessDeniedException.class, asked);
        assertTrue(denied.struck().isDone());
        assertEquals(List.of(), locks.nodesUnder("/m"));
    }

    @Test
    void faultIsRefusedOrTakenBack_whenItCannotStrike() {
        LockClient mine = locks.client();
        RequestMatch any = RequestMatch.any();
        assertThrows(
                IllegalArgumentException.class, () -> locks.refuseRequest(mine, any, 1, KeeperException.Code.NONODE));
        assertThrows(
                IllegalArgumentException.class, () -> locks.refuseRequest(mine, any, 0, KeeperException.Code.NOAUTH));
        assertThrows(IllegalArgumentException.class, () -> locks.cutAfter(mine, any, 0));
        Fault never = locks.cutBefore(mine, RequestMatch.create(), 1);
        locks.heal(mine);
        assertTrue(never.struck().isCancelled());
    }

    @Test
    void faultFails_whenItsPredicateThrows() throws Exception {
        LockClient mine = locks.client();
        RequestMatch broken = RequestMatch.of("broken", request -> {
            throw new AssertionError("a fault of the test");
        });
        Fault cut = locks.cutBefore(mine, broken, 1);
        HeldFrames hold = locks.holdAnswers(mine, broken);
        soon(mine.mutex("/m").acquireAsync()).close();
        failure(AssertionError.class, cut.struck());
        failure(AssertionError.class, hold.firstCaught());
    }

    /** As by a server; else requests would be left without a path. */
    @Test
    void onlyNodesWithoutChildrenAreDeleted() throws Exception {
        Lease held = locks.client().mutex("/orders/42").acquire();
        for (String path : List.of("/orders", "/orders/42", "/", "/none")) {
            assertThrows(IllegalArgumentException.class, () -> locks.delete(path));
        }
        soon(held.releaseAsync());
        locks.delete("/orders/42");
        locks.delete("/orders");
        assertEquals(List.of(), locks.nodesUnder("/"));
        assertThrows(IllegalArgumentException.class, () -> locks.delete("/"));
    }

    @Test
    void requestCountsForEveryFault_whenAnotherStrikesIt() throws Exception {
        LockClient mine = locks.client();
        RequestMatch creates = RequestMatch.create();
        Fault first = locks.cutBefore(mine, creates, 1);
        Fault sameRequest = locks.refuseRequest(mine, creates, 1, KeeperException.Code.NOAUTH);
        Fault second = locks.cutBefore(mine, creates, 2);
        soon(mine.mutex("/m").acquireAsync()).close();
        int number = soon(first.struck()).xid();
        failure(IllegalStateException.class, sameRequest.struck());
        assertTrue(soon(second.struck()).xid() > number);
    }

    /** One that waited for its own callback would take seconds, each. */
    @Test
    void callsOfACallbackReturnAtOnce() throws Exception {
        LockClient mine = locks.client();
        CompletionStage<Void> called = mine.mutex("/m").acquire().lost().thenRun(() -> {
            for (int i = 0; i < 10; i++) {
                locks.advance(Duration.ofMillis(1));
            }
        });
        locks.expire(mine);
        soon(called);
    }

    /** Else a client whose paths are named by its work would keep all that it ever used. */
    @Test
    @Tag("once")
    void pathsWithoutTurnsAreForgotten() throws Exception {
        String queue = "io.latchkey.zk.internal.client.LocalHandOff$LocalQueue";
        LockClient turning =
                locks.builder().localTurns(3, Duration.ofSeconds(1)).build();
        long before = LiveObjects.count(queue::equals).getOrDefault(queue, 0L);
        for (int i = 0; i < 100; i++) {
            soon(turning.mutex("/used/" + i).acquireAsync()).close();
        }
        long known = LiveObjects.count(queue::equals).getOrDefault(queue, 0L) - before;
        assertTrue(known < 50, () -> known + " paths");
        turning.close();
    }
}
