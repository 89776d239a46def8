// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.State;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** From writer to reader without a release in between, beyond what the contracts ask of every implementation. */
@Timeout(60)
class DowngradeTest extends OnOneServer {
    private static final String PATH = "/rw";
    /** The downgrade's transaction: the one that makes a node and deletes one. */
    private static final RequestMatch DOWNGRADE = RequestMatch.of(
            "downgrade",
            request -> request.parts().stream().anyMatch(part -> part.op().creates())
                    && RequestMatch.delete().matches(request));

    private final FaultProxy proxy = proxy();
    private final ZkLockClient one = patient(proxy);
    private final ZkLockClient two = client("two");
    private final ReadWriteLock lock = one.readWriteLock(PATH);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    DowngradeTest() throws InterruptedException {}

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    private static CompletableFuture<Lease> reader(ZkLockClient client) {
        return client.readWriteLock(PATH).readLock().acquireAsync();
    }

    private static CompletableFuture<Lease> writer(ZkLockClient client) {
        return client.readWriteLock(PATH).writeLock().acquireAsync();
    }

    // ---- what it does

    /** The server may have applied the transaction that it answers so. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("slow")
    void nodesDecide_whenAServersErrorLeavesADowngradeOpen(boolean applied) throws Exception {
        Lease write = lock.writeLock().acquire();
        RequestMatch transaction = RequestMatch.multi().butHeartbeats();
        Fault strange = applied
                ? proxy.answerWith(transaction, 1, KeeperException.Code.SYSTEMERROR)
                : proxy.refuseRequest(transaction, 1, KeeperException.Code.SYSTEMERROR);
        CompletableFuture<Lease> downgrading = lock.downgradeAsync(write);
        var unused = strange.await(LONG_SESSION);
        Lease held = applied ? soon(downgrading) : write;
        if (!applied) {
            refusal(LockException.class, downgrading);
        }
        assertTrue(held.isValid());
        assertEquals(1, requestsUnder(PATH).size());
        held.close();
        awaitNothingLeft(PATH);
    }

    /** The first look gets an error as well, and the connection breaks at the second. */
    @ParameterizedTest
    @Tag("slow")
    @ValueSource(booleans = {true, false})
    void nodesDecide_whenLooksAtThemFailToo(boolean applied) throws Exception {
        FaultProxy own = fastProxy();
        ReadWriteLock mine = client(
                        builder -> builder.connectString(own.connectString()).sessionTimeout(SESSION.multipliedBy(4)))
                .readWriteLock(PATH);
        Lease write = mine.writeLock().acquire();
        RequestMatch look = RequestMatch.getData().path("of the reader", path -> path.startsWith(PATH + "/read-"));
        List<Fault> faults = List.of(
                applied
                        ? own.answerWith(DOWNGRADE, 1, KeeperException.Code.SYSTEMERROR)
                        : own.refuseRequest(DOWNGRADE, 1, KeeperException.Code.SYSTEMERROR),
                own.refuseRequest(look, 1, KeeperException.Code.SYSTEMERROR),
                own.cutBefore(look, 2));
        CompletableFuture<Lease> downgrading = mine.downgradeAsync(write);
        for (Fault each : faults) {
            var unused = each.await(LONG_SESSION);
        }
        Lease held = applied ? soon(downgrading) : write;
        if (!applied) {
            refusal(LockException.class, downgrading);
        }
        assertTrue(held.isValid());
        held.close();
        awaitNothingLeft(PATH);
    }

    @Test
    void guardedWriteSaysThatTheLeaseIsBeingDowngraded_whenThatIsOpen() throws Exception {
        Lease write = lock.writeLock().acquire();
        Fault strange = proxy.answerWith(DOWNGRADE, 1, KeeperException.Code.SYSTEMERROR);
        CompletableFuture<Lease> downgrading = lock.downgradeAsync(write);
        var unused = strange.await(LONG_SESSION);
        IllegalStateException open = assertThrows(
                IllegalStateException.class, () -> ZkLocks.guarded(write, Op.setData("/", new byte[0], -1)));
        assertTrue(open.getMessage().contains("Nothing was written"), open.getMessage());
        Lease read = soon(downgrading);
        assertTrue(read.isValid());
        assertFalse(ZkLocks.guarded(read, Op.check("/", -1)).isEmpty());
    }

    /** The last deletion found nothing, so that the next one looks which of its nodes are missing. */
    @Test
    void releaseIsNoLoss_whenADowngradeOfWhichItWasOpenHasReplacedTheNode() throws Exception {
        Lease write = lock.writeLock().acquire();
        CompletableFuture<Lease> waits = reader(one);
        awaitRequests(PATH, 2);
        HeldFrames events = proxy.holdEvents();
        Fault withdrawn =
                proxy.answered(RequestMatch.delete().or(RequestMatch.multi().butHeartbeats()));
        handle().delete(requestsUnder(PATH).get(1).path(), -1);
        assertTrue(waits.cancel(false));
        var unused = withdrawn.await(LONG_SESSION);
        Fault strange = proxy.answerWith(RequestMatch.multi().butHeartbeats(), 1, KeeperException.Code.SYSTEMERROR);
        CompletableFuture<Lease> downgrading = lock.downgradeAsync(write);
        var unused2 = strange.await(LONG_SESSION);
        assertEquals(ReleaseOutcome.RELEASED, write.release());
        refusal(IllegalStateException.class, downgrading);
        events.release();
        awaitNothingLeft(PATH);
    }

    @Test
    void downgradeCostsOneTransaction() throws Exception {
        Lease write = lock.writeLock().acquire();
        Wire.Mark before = proxy.mark();
        lock.downgrade(write);
        Wire wire = proxy.since(before);
        assertEquals(1, wire.requestsButHeartbeats(), wire::toString);
        assertEquals(1, wire.count(DOWNGRADE), wire::toString);
        assertEquals(1, wire.roundTrips(), wire::toString);
    }

    @Test
    void nextReaderIsGrantedWithoutARequest_whenAWriterDowngrades() throws Exception {
        Lease write = two.readWriteLock(PATH).writeLock().acquire();
        CompletableFuture<Lease> behind = reader(one);
        awaitRequests(PATH, 2);
        awaitWatches(2);
        Wire.Mark before = proxy.mark();
        two.readWriteLock(PATH).downgrade(write);
        soon(behind);
        Wire wire = proxy.since(before);
        assertEquals(0, wire.requestsButHeartbeats() - wire.count(DOWNGRADE), wire::toString);
    }

    @Test
    void queueShowsAReaderWithItsToken_afterADowngrade() throws Exception {
        Lease read = lock.downgrade(lock.writeLock().acquire());
        List<Contender> queue = lock.readLock().queue();
        assertEquals(1, queue.size());
        assertEquals(State.HOLDING, queue.get(0).state());
        assertEquals(Contender.Access.SHARED, queue.get(0).access());
        assertEquals(read.token(), queue.get(0).token(), "the token of the lease that the request has");
        assertNotEquals("", queue.get(0).owner().host(), "it says of its owner what every request says");
    }

    /** An administrator may have seen the request before. */
    @ParameterizedTest
    @EnumSource
    void readerIsKnownAndEvictedByItsFormerName(Layout layout) throws Exception {
        ReadWriteLock mine = client(builder -> builder.layout(layout)).readWriteLock(PATH);
        ReadWriteLock admins = client(builder -> builder.layout(layout)).readWriteLock(PATH);
        Lease write = mine.writeLock().acquire();
        Contender own = mine.readLock().queue().get(0);
        Contender seen = admins.readLock().queue().get(0);
        Lease read = mine.downgrade(write);
        assertTrue(own.isOf(read));
        CompletableFuture<LossCause> lost = read.lost().toCompletableFuture();
        assertEquals(Contender.Eviction.EVICTED, seen.evict());
        assertEquals(LossCause.NODE_DELETED, soon(lost));
        assertEquals(Contender.Eviction.GONE, seen.evict());
    }

    @Test
    @Tag("slow")
    void newNodeIsCheckedByHeartbeats_afterADowngrade() throws Exception {
        Lease read = lock.downgrade(lock.writeLock().acquire());
        CompletableFuture<LossCause> lost = read.lost().toCompletableFuture();
        settle(lock.readLock()); // the last heartbeat that was for the old node has passed
        assertKeptAlive(proxy, read, requestsUnder(PATH));
        deleteRequest(PATH, 0);
        assertEquals(LossCause.NODE_DELETED, lost.get(10, TimeUnit.SECONDS));
        assertEquals(ReleaseOutcome.LOST, read.release());
    }

    @Test
    void guardedWriteChecksTheNewNode_afterADowngrade() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/doc", new byte[] {1});
        Lease write = lock.writeLock().acquire();
        Lease read = lock.downgrade(write);
        ZkLocks.guarded(read, Op.setData("/doc", new byte[] {2}, -1));
        assertEquals(2, operator.getData("/doc", false, null)[0]);
        assertThrows(IllegalStateException.class, () -> ZkLocks.guarded(write, Op.setData("/doc", new byte[] {3}, -1)));
        deleteRequest(PATH, 0);
        assertThrows(LeaseLostException.class, () -> ZkLocks.guarded(read, Op.setData("/doc", new byte[] {3}, -1)));
        assertEquals(2, operator.getData("/doc", false, null)[0]);
    }

    // ---- what it refuses

    /** The watch on the node, given up for the node that was to replace it, is set again. */
    @Test
    void deniedDowngrade_leavesTheWatchOfTheWriter() throws Exception {
        Lease write = lock.writeLock().acquire();
        CompletableFuture<LossCause> lost = write.lost().toCompletableFuture();
        ServerNode node = requestsUnder(PATH).get(0);
        awaitWatches(1);
        ZooKeeper operator = handle();
        operator.setACL(PATH, Arrays.asList(new ACL(Perms.ALL & ~Perms.CREATE, ZooDefs.Ids.ANYONE_ID_UNSAFE)), -1);
        assertThrows(AccessDeniedException.class, () -> lock.downgrade(write));
        assertTrue(write.isValid());
        operator.delete(node.path(), -1);
        assertEquals(LossCause.NODE_DELETED, lost.get(LONG_SESSION.toMillis() / 12, TimeUnit.MILLISECONDS));
    }

    /** The client does not know yet. The transaction must not make a read node out of nothing. */
    @Test
    void downgradeReportsTheLoss_whenTheNodeWasDeleted() throws Exception {
        Lease write = lock.writeLock().acquire();
        deleteRequest(PATH, 0);
        LeaseLostException told = assertThrows(LeaseLostException.class, () -> lock.downgrade(write));
        assertEquals(LossCause.NODE_DELETED, told.lossCause());
        assertEquals(LeaseState.LOST, write.state());
        awaitNothingLeft(PATH);
    }

    // ---- failures in the middle

    /** The writer's node was deleted before, which only the answer shows: until then no other request here may hold. */
    @Test
    @Tag("slow")
    void nextOfThisClientIsGranted_onlyAfterTheAnswer_whenTheNodeWasDeleted() throws Exception {
        Lease write = lock.writeLock().acquire();
        CompletableFuture<Lease> others = writer(two);
        awaitUntil("another client's", () -> requestsUnder(PATH).size() == 2);
        CompletableFuture<Boolean> bothValid = writer(one).thenApply(next -> write.isValid() && next.isValid());
        awaitUntil("one of this client", () -> requestsUnder(PATH).size() == 3);
        settle(lock.writeLock(), two.readWriteLock(PATH).writeLock());

        proxy.delay(Direction.TO_SERVER, Duration.ofMillis(500));
        Future<Lease> downgrading = threads.submit(() -> lock.downgrade(write));
        deleteRequest(PATH, 0);
        soon(others).close();

        assertFalse(soon(bothValid));
        refusal(LeaseLostException.class, downgrading);
    }

    @Test
    void downgradeWaitsUninterruptibly_whenTheServerIsAway() throws Exception {
        Lease write = lock.writeLock().acquire();
        proxy.refuse();
        proxy.cut();
        awaitUntil("suspicion", () -> write.state() == LeaseState.SUSPECT);
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        CompletableFuture<Lease> read = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                read.complete(lock.downgrade(write));
            } catch (RuntimeException unexpected) {
                read.completeExceptionally(unexpected);
            }
            flag.complete(Thread.currentThread().isInterrupted());
        });
        caller.start();
        awaitUntil(
                "the caller waits",
                () -> caller.getState() == Thread.State.WAITING || caller.getState() == Thread.State.TIMED_WAITING);
        caller.interrupt();
        assertThrows(TimeoutException.class, () -> read.get(200, TimeUnit.MILLISECONDS));
        proxy.accept();
        assertTrue(soon(read).isValid());
        assertTrue(flag.get(5, TimeUnit.SECONDS), "the interrupt status stays set");
    }

    @Test
    @Tag("slow")
    void leaseIsLost_whenTheSessionEndsDuringTheDowngrade() throws Exception {
        Lease write = lock.writeLock().acquire();
        HeldFrames answers = proxy.holdAnswers(DOWNGRADE);
        Future<Lease> downgrading = threads.submit(() -> lock.downgrade(write));
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        Lease next = soon(writer(two));
        proxy.cut(); // the held answer is lost
        answers.close();
        refusal(LeaseLostException.class, downgrading);
        assertEquals(LeaseState.LOST, write.state());
        assertTrue(next.isValid());
        assertEquals(1, requestsUnder(PATH).size(), "nothing of the old session's");
    }

    @Test
    @Tag("slow")
    void leaseIsLost_whenItsDeadlinePassesDuringTheDowngrade() throws Exception {
        FaultProxy away = proxy();
        ReadWriteLock mine = behind(away).readWriteLock(PATH);
        Lease write = mine.writeLock().acquire();
        away.blackHole();
        Future<Lease> downgrading = threads.submit(() -> mine.downgrade(write));
        refusal(LeaseLostException.class, downgrading);
        assertEquals(LeaseState.LOST, write.state());
        assertFalse(write.isValid());
        lock.writeLock().tryAcquire(Duration.ofSeconds(10)).orElseThrow().close();
    }

    /** One of its two names is missing, whether the server has downgraded or not. */
    @Test
    void releaseSucceeds_whileTheDowngradeHasNoAnswer() throws Exception {
        Lease write = lock.writeLock().acquire();
        HeldFrames answers = proxy.holdAnswers(DOWNGRADE);
        Future<Lease> downgrading = threads.submit(() -> lock.downgrade(write));
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        CompletableFuture<ReleaseOutcome> released = write.releaseAsync().toCompletableFuture();
        answers.close();
        assertEquals(ReleaseOutcome.RELEASED, released.get(10, TimeUnit.SECONDS));
        refusal(IllegalStateException.class, downgrading);
        awaitNothingLeft(PATH);
    }

    @Test
    void downgradeEnds_whenTheClientIsClosed() throws Exception {
        Lease write = lock.writeLock().acquire();
        HeldFrames answers = proxy.holdAnswers(DOWNGRADE);
        Future<Lease> downgrading = threads.submit(() -> lock.downgrade(write));
        answers.firstCaught().get(5, TimeUnit.SECONDS);
        Future<?> closing = threads.submit(() -> one.close());
        refusal(LockException.class, downgrading);
        answers.close();
        closing.get(10, TimeUnit.SECONDS);
        awaitNothingLeft(PATH);
    }

    @Test
    void oneReadLeaseIsReturned_whenTwoThreadsDowngrade() throws Exception {
        for (int round = 0; round < 50; round++) {
            Lease write = lock.writeLock().acquire();
            Future<Lease> first = threads.submit(() -> lock.downgrade(write));
            Future<Lease> second = threads.submit(() -> lock.downgrade(write));
            int got = 0;
            for (Future<Lease> each : List.of(first, second)) {
                try {
                    each.get(10, TimeUnit.SECONDS).close();
                    got++;
                } catch (ExecutionException refused) {
                    assertInstanceOf(IllegalStateException.class, refused.getCause());
                }
            }
            assertEquals(1, got, "round " + round);
            assertEquals(List.of(), requestsUnder(PATH));
        }
    }
}
