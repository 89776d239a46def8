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
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.Eviction;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Release requests to holders, and evictions, beyond what the contracts ask of every implementation. The rights that
 * these take are in {@link AccessTest}.
 */
@Timeout(60)
class AdministrationTest extends OnOneServer {
    /** Of a holder that is not to learn by its heartbeat: that comes after a sixth of it, ten seconds. */
    private static final Duration RARELY_BEATING = Duration.ofMinutes(1);

    private static final long AT_ONCE_MILLIS = 1000;

    private final FaultProxy proxy = fastProxy();
    private final FaultProxy throttling = fastProxy();
    private final ZkLockClient holder =
            client(builder -> builder.connectString(proxy.connectString()).ownerLabel("holder"));
    private final ZkLockClient admin = client("admin");

    AdministrationTest() throws InterruptedException {}

    private static Contender first(Acquirable lock) throws InterruptedException {
        return lock.queue().get(0);
    }

    private void assertNothingLeft(String... paths) throws InterruptedException {
        awaitNothingLeft(paths);
        for (String path : paths) {
            assertEquals(0, listenersUnder(path).size());
        }
    }

    @Test
    void requestAndClientHaveTheSessionThatTheServerKnows() throws Exception {
        Lease held = holder.mutex("/m").acquire();
        long session = requestsUnder("/m").get(0).session();
        assertEquals(session, first(admin.mutex("/m")).session());
        assertEquals(session, holder.session().id());
        held.close();
    }

    // ---- asking

    @ParameterizedTest
    @EnumSource(Lockable.class)
    void everyKindOfLeaseCanBeAsked(Lockable kind) throws Exception {
        Lease held = kind.of(holder).acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, kind.paths().toArray(String[]::new));
        CompletableFuture<Lease> next = kind.blocker(admin).acquireAsync();
        var unused = wish.thenAccept(asker -> held.close());

        List<Contender> queue = kind.of(admin).queue();
        assertEquals(
                ReleaseRequestResult.STORED, queue.get(queue.size() - 2).requestRelease(), "its last member's request");

        assertEquals("admin", soon(wish).by().label());
        soon(next).close();
        assertEquals(LeaseState.RELEASED, held.state());
        assertNothingLeft(kind.paths().toArray(String[]::new));
    }

    /** A request arrives, and its holder's release leaves nothing. */
    private void assertIsAsked(Lease held, CompletableFuture<ReleaseRequest> wish) throws Exception {
        assertEquals(ReleaseRequestResult.STORED, first(admin.mutex("/m")).requestRelease());
        assertEquals("admin", soon(wish).by().label());
        held.close();
        assertNothingLeft("/m");
    }

    @Test
    void holderInTheSameSession_canBeAskedToRelease() throws Exception {
        Lease held = admin.mutex("/m").acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, "/m");
        assertIsAsked(held, wish);
    }

    @Test
    void releaseRequestArrives_afterAReconnect() throws Exception {
        Lease held = holder.mutex("/m").acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, "/m");
        awaitWatches(2);
        proxy.refuse();
        proxy.cut();
        awaitUntil("suspicion", () -> held.state() == LeaseState.SUSPECT);
        assertEquals(ReleaseRequestResult.STORED, first(admin.mutex("/m")).requestRelease());
        assertFalse(wish.isDone());
        proxy.accept();
        assertEquals("admin", wish.get(10, TimeUnit.SECONDS).by().label());
        awaitUntil("trust", () -> held.state() == LeaseState.HELD);
        held.close();
        assertNothingLeft("/m");
    }

    @Test
    void lostCreationOfARevocationNode_isRepeated() throws Exception {
        for (boolean done : new boolean[] {false, true}) {
            Lease held = holder.mutex("/m").acquire();
            RequestMatch creation = RequestMatch.multi().butHeartbeats();
            var cut = done ? proxy.cutAfter(creation, 1) : proxy.cutBefore(creation, 1);
            CompletableFuture<ReleaseRequest> wish = held.releaseRequested().toCompletableFuture();
            cut.await(Duration.ofSeconds(10));
            awaitUntil("an revocation", () -> listenersUnder("/m").size() == 1);
            assertIsAsked(held, wish);
        }
    }

    @Test
    @Tag("slow")
    void deletedRevocationNode_isCreatedAgain() throws Exception {
        Lease held = holder.mutex("/m").acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, "/m");
        awaitWatches(2);
        handle().delete(listenersUnder("/m").get(0).path(), -1);
        awaitUntil("an revocation again", () -> listenersUnder("/m").size() == 1);
        assertIsAsked(held, wish);
    }

    /** Every client that may create under a path knows the name of the holder's revocation. */
    @Test
    void releaseSucceeds_whenAForeignNodeHasTheNameOfTheRevocationNode() throws Exception {
        Lease held = holder.mutex("/m").acquire();
        String name = requestsUnder("/m").get(0).name();
        String revocation = "/m/revoke-" + name.substring("write-".length(), name.lastIndexOf('-'));
        makeNode(revocation);
        makeNode(revocation + "/child");
        var unused = held.releaseRequested();
        awaitUntil("the holder listens", () -> server().watches().stream()
                .anyMatch(watch -> watch.path().equals(revocation)));
        assertEquals(ReleaseOutcome.RELEASED, held.release());
        assertEquals(List.of(), requestsUnder("/m"));
    }

    @Test
    void revocationNodeIsDeleted_whenABorrowingClientCloses() throws Exception {
        ZkLockClient borrowing = borrowing(handle());
        Lease held = borrowing.mutex("/m").acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, "/m");
        borrowing.close();
        assertEquals(0, requestsUnder("/m").size());
        assertEquals(0, listenersUnder("/m").size());
        assertFalse(wish.isDone());
    }

    @Test
    void releaseRequestThrows_withoutAConnection() throws Exception {
        FaultProxy away = fastProxy();
        ZkLockClient asker = client(builder -> builder.connectString(away.connectString()));
        Lease held = holder.mutex("/m").acquire();
        Contender seen = first(asker.mutex("/m"));
        away.refuse();
        away.cut();
        for (Executable action : List.<Executable>of(seen::requestRelease, seen::evict, () -> asker.semaphore("/s", 1)
                .resize(2))) {
            String why =
                    assertThrows(LockServiceUnavailableException.class, action).getMessage();
            assertTrue(why.contains("It may have been done"), why);
        }
        String unread = assertThrows(LockServiceUnavailableException.class, asker.mutex("/m")::queue)
                .getMessage();
        assertTrue(unread.endsWith(". Try again."), unread);
        assertTrue(held.isValid());
    }

    @Test
    void downgradedHolder_getsReleaseRequestsForItsFormerName() throws Exception {
        ReadWriteLock lock = holder.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        CompletableFuture<ReleaseRequest> ofTheWriter = listening(write, "/rw");
        Contender writer = first(admin.readWriteLock("/rw").readLock());
        Lease read = lock.downgrade(write);
        CompletableFuture<ReleaseRequest> wish = read.releaseRequested().toCompletableFuture();
        assertEquals(ReleaseRequestResult.STORED, writer.requestRelease());
        assertEquals("admin", wish.get(10, TimeUnit.SECONDS).by().label());
        assertFalse(ofTheWriter.isDone());

        assertEquals(Eviction.EVICTED, writer.evict());
        assertEquals(LossCause.NODE_DELETED, read.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
        assertNothingLeft("/rw");
    }

    @ParameterizedTest
    @EnumSource
    void requestThatHasLeftIsGone(Layout layout) throws Exception {
        List<Lockable> shared = List.of(Lockable.MUTEX, Lockable.READ, Lockable.WRITE);
        ZkLockClient one = client(builder -> builder.layout(layout));
        ZkLockClient two = client(builder -> builder.layout(layout));
        for (Lockable kind : layout == Layout.LATCHKEY ? List.of(Lockable.values()) : shared) {
            Lease held = kind.of(one).acquire();
            List<Contender> seen = kind.of(two).queue();
            held.close();
            for (Contender each : seen) {
                assertEquals(Eviction.GONE, each.evict(), kind::toString);
                assertEquals(ReleaseRequestResult.GONE, each.requestRelease(), kind::toString);
            }
        }
    }

    @Test
    void revocationNodesDisturbNeitherTheQueueNorTheReaper() throws Exception {
        Lease one = holder.semaphore("/s", 20).acquire();
        Lease two = admin.semaphore("/s", 20).acquire();
        var unused = listening(one, "/s");
        var unused2 = two.releaseRequested();
        awaitUntil("two ears", () -> listenersUnder("/s").size() == 2);
        assertEquals(2, admin.semaphore("/s", 20).queue().size());
        assertEquals(18, admin.semaphore("/s", 20).availablePermits());
        CompletableFuture<Lease> most = admin.semaphore("/s", 20).permits(19).acquireAsync();
        awaitQueue(admin.semaphore("/s", 20), 3);
        assertFalse(most.isDone());
        one.close();
        soon(most).close();
        two.close();
        assertNothingLeft("/s");
        assertTrue(reapAll().contains("/s"));
    }

    @Test
    void listeningCostsThreeRequests_andNotListeningNone() throws Exception {
        holder.mutex("/m").acquire().close();
        Wire.Mark before = proxy.mark();
        Lease plain = holder.mutex("/m").acquire();
        plain.close();
        assertEquals(3, proxy.since(before).requestsButHeartbeats());

        Lease held = holder.mutex("/m").acquire();
        Wire.Mark listens = proxy.mark();
        CompletableFuture<ReleaseRequest> wish = listening(held, "/m");
        awaitWatches(2);
        // Creation and watch of the revocation node, and the watch of the lease's node.
        assertEquals(3, proxy.since(listens).requestsButHeartbeats());
        Wire.Mark releases = proxy.mark();
        held.close();
        assertEquals(1, proxy.since(releases).requestsButHeartbeats());
        assertFalse(wish.isDone());
        assertNothingLeft("/m");
    }

    // ---- evicting

    @ParameterizedTest
    @EnumSource(Lockable.class)
    void everyKindOfLeaseCanBeEvicted(Lockable kind) throws Exception {
        Lease held = kind.of(client(builder -> builder.sessionTimeout(RARELY_BEATING)))
                .acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, kind.paths().toArray(String[]::new));
        awaitWatches(2 * kind.paths().size());
        CompletableFuture<Lease> next = kind.blocker(admin).acquireAsync();
        List<Contender> queue = kind.of(admin).queue();
        Stopwatch watch = Stopwatch.start();
        assertEquals(Eviction.EVICTED, queue.get(queue.size() - 2).evict(), "its last member's request");
        assertEquals(LossCause.NODE_DELETED, held.lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
        long took = watch.stop();
        assertTrue(took < AT_ONCE_MILLIS, took + " ms");
        assertEquals(LeaseState.LOST, held.state());
        LeaseLostException lost = assertThrows(LeaseLostException.class, held::ensureValid);
        assertTrue(lost.getMessage().contains("an operator deleted its node, as 'evict' does"), lost.getMessage());
        assertEquals(ReleaseOutcome.LOST, held.release());
        soon(next).close();
        assertFalse(wish.isDone());
        assertNothingLeft(kind.paths().toArray(String[]::new));
    }

    // ---- a server that throttles

    /** A question of an administrator about locks that are held, and a request of it. */
    enum Question {
        QUEUE,
        LIST_OF_THE_QUEUE,
        REQUESTS,
        LOCKS,
        LIST_OF_LOCKS,
        CAPACITY,
        RESIZE,
        RELEASE_REQUEST,
        EVICTION;

        RequestMatch request() {
            return switch (this) {
                case QUEUE, LOCKS -> RequestMatch.getData().path("of the lock", "/m"::equals);
                case LIST_OF_THE_QUEUE, LIST_OF_LOCKS -> RequestMatch.list().path("of the lock", "/m"::equals);
                case REQUESTS -> RequestMatch.getData().path("of its request", path -> path.startsWith("/m/write-"));
                case CAPACITY -> RequestMatch.getData().path("of the semaphore", "/s"::equals);
                case RESIZE -> RequestMatch.setData().or(RequestMatch.multi().butHeartbeats());
                case RELEASE_REQUEST, EVICTION ->
                    RequestMatch.multi().butHeartbeats().or(RequestMatch.delete());
            };
        }

        Object askedBy(ZkLockClient client, Contender seen) throws InterruptedException {
            return switch (this) {
                case QUEUE, LIST_OF_THE_QUEUE, REQUESTS ->
                    client.mutex("/m").queue().size();
                case LOCKS, LIST_OF_LOCKS -> client.listLocks("/m").locks().size();
                case CAPACITY -> client.semaphore("/s", 5).capacity();
                case RESIZE -> {
                    client.semaphore("/s", 5).resize(6);
                    yield client.semaphore("/s", 5).capacity();
                }
                case RELEASE_REQUEST -> seen.requestRelease();
                case EVICTION -> seen.evict();
            };
        }

        Object answer() {
            return switch (this) {
                case QUEUE, LIST_OF_THE_QUEUE, REQUESTS, LOCKS, LIST_OF_LOCKS -> 1;
                case CAPACITY -> 5;
                case RESIZE -> 6;
                case RELEASE_REQUEST -> ReleaseRequestResult.STORED;
                case EVICTION -> Eviction.EVICTED;
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void questionIsAskedAgain_whenTheServerThrottlesIt(Question question) throws Exception {
        Lease held = listeningHolder();
        ZkLockClient asker = patient(throttling);
        Contender seen = first(asker.mutex("/m"));
        throttle(question.request(), 2);
        Wire.Mark before = throttling.mark();
        assertEquals(question.answer(), question.askedBy(asker, seen));
        assertTrue(throttling.since(before).count(question.request()) >= 3);
        held.close();
    }

    /** A later question, which is throttled for longer, is answered when the pauses of the first one are over. */
    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void questionIsNotAskedAgain_whenItsCallerHasGone(Question question) throws Exception {
        Lease held = listeningHolder();
        ZkLockClient asker = patient(throttling);
        Contender seen = first(asker.mutex("/m"));
        Thread caller = Thread.currentThread();
        var unused = throttle(question.request(), 100).struck().thenRun(caller::interrupt);
        assertInterrupted(() -> question.askedBy(asker, seen));
        Wire.Mark gone = throttling.mark();
        var unused2 = throttle(RequestMatch.getData().path("of another lock", "/other"::equals), 5);
        assertEquals(List.of(), asker.mutex("/other").queue());
        int sent = throttling.since(gone).count(question.request());
        assertTrue(sent <= 1, sent + " requests behind the one that may have been on its way");
        assertTrue(held.isValid());
        assertFalse(held.releaseRequested().toCompletableFuture().isDone());
    }

    private Lease listeningHolder() throws Exception {
        holder.semaphore("/s", 5).acquire().close();
        Lease held = holder.mutex("/m").acquire();
        var unused = listening(held, "/m");
        return held;
    }

    /** Refuses the next requests, and returns the first refusal. */
    private Fault throttle(RequestMatch requests, int times) {
        Fault first = throttling.refuseRequest(requests, 1, KeeperException.Code.THROTTLEDOP);
        for (int number = 2; number <= times; number++) {
            var unused = throttling.refuseRequest(requests, number, KeeperException.Code.THROTTLEDOP);
        }
        return first;
    }
}
