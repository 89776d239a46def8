// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.zk.internal.locks.EngineOf;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waiters of one client that take turns with one place in the server's queue. */
@Timeout(60)
class LocalTurnsTest extends OnOneServer {
    private static final int TURNS = 5;

    private final FaultProxy proxy = fastProxy();
    private final ZkLockClient turning = turning(TURNS);

    LocalTurnsTest() throws InterruptedException {}

    private ZkLockClient turning(int most) throws InterruptedException {
        return client(builder -> builder.connectString(proxy.connectString())
                .sessionTimeout(LONG_SESSION)
                .localTurns(most, Duration.ofMinutes(1)));
    }

    /** A lock of which only one request holds at a time. */
    enum ExclusiveLock {
        MUTEX,
        WRITE_LOCK {
            @Override
            Acquirable of(LockClient client) {
                return client.readWriteLock("/m").writeLock();
            }
        },
        ONLY_PERMIT {
            @Override
            Acquirable of(LockClient client) {
                return client.semaphore("/m", 1);
            }
        };

        Acquirable of(LockClient client) {
            return client.mutex("/m");
        }

        CompletableFuture<Lease> turn(LockClient client) {
            return of(client).acquireAsync();
        }
    }

    @ParameterizedTest
    @EnumSource
    void turnsCostNoRequests(ExclusiveLock lock) throws Exception {
        int turns = 200;
        ZkLockClient client = client(builder -> builder.connectString(proxy.connectString())
                .sessionTimeout(LONG_SESSION)
                .localTurns(turns + 1, Duration.ofMinutes(1)));
        Wire.Mark before = proxy.mark();
        Lease first = lock.of(client).acquire();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        for (int i = 0; i < turns; i++) {
            served.add(lock.turn(client).thenAccept(Lease::close));
        }
        first.close();
        CompletableFuture.allOf(served.toArray(CompletableFuture<?>[]::new)).get(10, TimeUnit.SECONDS);
        awaitNothingLeft("/m");
        // One acquires, one waits behind it and gives up; each takes and leaves a place.
        long requests = proxy.since(before).requestsButHeartbeats();
        assertTrue(requests <= 12, () -> requests + " requests for " + turns + " turns");
    }

    @ParameterizedTest
    @EnumSource
    void callerThatIsOutOfTimeBehindItsClient_knowsThatOthersWereAhead(ExclusiveLock lock) throws Exception {
        ZkLockClient client = client(builder -> builder.connectString(proxy.connectString())
                .sessionTimeout(LONG_SESSION)
                .localTurns(TURNS, Duration.ofMinutes(1)));
        Lease held = lock.of(client).acquire();
        CompletableFuture<Lease> next = lock.turn(client);
        awaitRequests("/m", 2);
        settle(lock.of(client));
        Wire.Mark before = proxy.mark();
        LockTimeoutException late =
                assertThrows(LockTimeoutException.class, () -> lock.of(client).acquire(Duration.ofMillis(50)));
        assertEquals(LockException.Reason.HELD_BY_OTHERS, late.reason());
        assertEquals(0, proxy.since(before).requestsButHeartbeats());
        held.close();
        soon(next).close();
    }

    @ParameterizedTest
    @EnumSource
    void nextClientIsServed_whenTheLocalTurnsAreUsedUp(ExclusiveLock lock) throws Exception {
        Lease first = soon(lock.turn(turning));
        List<CompletableFuture<Lease>> own = new ArrayList<>();
        own.add(lock.turn(turning));
        awaitRequests("/m", 2);
        CompletableFuture<Lease> other = lock.turn(client("other"));
        awaitRequests("/m", 3);
        for (int i = 2; i < 3 * TURNS; i++) {
            own.add(lock.turn(turning));
        }
        // The first place has five turns. The second stands before the other client, the third behind it.
        Lease now = first;
        for (int i = 1; i < 2 * TURNS; i++) {
            now.close();
            assertFalse(other.isDone());
            now = soon(own.get(i - 1));
            assertEquals(i < TURNS, now.token() == first.token(), "turn " + i);
        }
        awaitRequests("/m", 3);
        now.close();
        Lease others = soon(other);
        assertTrue(others.token() > now.token());
        CompletableFuture<Lease> after = own.get(2 * TURNS - 1);
        settle(lock.of(turning));
        assertFalse(after.isDone());
        others.close();
        Lease last = soon(after);
        assertTrue(last.token() > others.token());
        for (int i = 2 * TURNS; i < own.size(); i++) {
            last.close();
            last = soon(own.get(i));
        }
        last.close();
        awaitNothingLeft("/m");
    }

    @ParameterizedTest
    @EnumSource
    void nextRequestIsMade_whenTheFirstIsGranted(ExclusiveLock lock) throws Exception {
        Lease others = soon(lock.turn(client("other")));
        CompletableFuture<Lease> first = lock.turn(turning);
        CompletableFuture<Lease> second = lock.turn(turning);
        settle(lock.of(turning));
        awaitRequests("/m", 2);
        others.close();
        Lease held = soon(first);
        awaitRequests("/m", 2);
        held.close();
        soon(second).close();
        awaitNothingLeft("/m");
    }

    @ParameterizedTest
    @EnumSource
    void noTurnBegins_afterItsTimeout(ExclusiveLock lock) throws Exception {
        ZkLockClient brief = client(builder -> builder.localTurns(1000, Duration.ofNanos(1)));
        Lease first = lock.of(brief).acquire();
        CompletableFuture<Lease> second = lock.turn(brief);
        first.close();
        assertTrue(soon(second).token() > first.token());
    }

    @ParameterizedTest
    @EnumSource
    void holderThatIsAskedToRelease_passesNoTurnOn(ExclusiveLock lock) throws Exception {
        Lease held = soon(lock.turn(turning));
        var asked = held.releaseRequested();
        CompletableFuture<Lease> next = lock.turn(turning);
        awaitRequests("/m", 2);
        askFirstHolder(lock::of, asked.toCompletableFuture());
        held.close();
        assertTrue(soon(next).token() > held.token());
    }

    /** Once it listens, another client asks it. */
    private void askFirstHolder(Function<LockClient, Acquirable> lock, CompletableFuture<ReleaseRequest> asked)
            throws Exception {
        Acquirable ofOperator = lock.apply(client("operator"));
        awaitUntil(
                "a listening holder", () -> ofOperator.queue().get(0).requestRelease() == ReleaseRequestResult.STORED);
        assertEquals("operator", soon(asked).by().label());
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void turnIsNotPassedOn_afterTheDeadline(ExclusiveLock lock) throws Exception {
        ZkLockClient brief = client(builder -> builder.sessionTimeout(SESSION).localTurns(TURNS, LONG_SESSION));
        ZkLease held = (ZkLease) lock.of(brief).acquire();
        CompletableFuture<Boolean> valid = lock.turn(brief).thenApply(Lease::isValid);
        awaitRequests("/m", 2);
        var unused = beforeTheDeadline(brief, held, held::releaseAsync);
        assertTrue(soon(valid));
    }

    /** The engine is busy when the call is made, so it carries the call out after the session's deadline. */
    private static <T> T beforeTheDeadline(ZkLockClient client, ZkLease held, Supplier<T> call) throws Exception {
        Lease clock = client.mutex("/clock").acquire();
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread engine = new Thread(() -> held.context().execute(() -> {
            busy.countDown();
            Uninterruptibles.awaitUninterruptibly(goOn);
        }));
        engine.start();
        busy.await();
        T made = call.get();
        awaitUntil("the deadline", () -> !clock.isValid());
        goOn.countDown();
        engine.join();
        return made;
    }

    /** The limit of one turn may be over while its body still runs, with the token that the next turn would have. */
    @ParameterizedTest
    @EnumSource
    void nextTurnHasANodeOfItsOwn_afterALimitHasPassed(ExclusiveLock lock) throws Exception {
        Lease held = lock.of(turning).heldAtMost(Duration.ofMillis(200)).acquire();
        CompletableFuture<Lease> next = lock.turn(turning);
        assertEquals(LossCause.HELD_TOO_LONG, soon(held.lost()));
        assertTrue(soon(next).token() > held.token());
    }

    /** The write may still be carried out as long as the node exists. */
    @ParameterizedTest
    @EnumSource
    void nextTurnHasANodeOfItsOwn_whileAGuardedWriteIsOpen(ExclusiveLock lock) throws Exception {
        ZkLease held = (ZkLease) lock.of(turning).acquire();
        CompletableFuture<Lease> next = lock.turn(turning);
        held.beginWrite();
        held.close();
        assertTrue(soon(next).token() > held.token());
    }

    /** ZooKeeper's client refuses the write before it sends anything. */
    @Test
    void turnIsPassedOn_afterAGuardedWriteWithAMalformedPath() throws Exception {
        Lease held = turning.mutex("/m").acquire();
        CompletableFuture<Lease> next = turning.mutex("/m").acquireAsync();
        assertThrows(IllegalArgumentException.class, () -> ZkLocks.guarded(held, Op.delete("no slash", -1)));
        held.close();
        assertEquals(held.token(), soon(next).token());
    }

    /** The body that held by the deleted node may still run with its token. */
    @ParameterizedTest
    @EnumSource
    void nextTurnHasANodeOfItsOwn_afterAnEviction(ExclusiveLock lock) throws Exception {
        Lease held = soon(lock.turn(turning));
        CompletableFuture<Lease> next = lock.turn(turning);
        awaitRequests("/m", 2);
        deleteRequest("/m", 0);
        assertEquals(LossCause.NODE_DELETED, soon(held.lost()));
        assertTrue(soon(next).token() > held.token());
    }

    @ParameterizedTest
    @EnumSource
    void tryWithoutAWait_writesNothing_whereItsClientKnowsHolders(ExclusiveLock lock) throws Exception {
        Lease held = soon(lock.turn(turning));
        CompletableFuture<Lease> next = lock.turn(turning);
        awaitRequests("/m", 2);
        assertTrue(lock.of(turning).tryAcquire().isEmpty());
        Wire.Mark before = proxy.mark();
        assertTrue(lock.of(turning).tryAcquire().isEmpty());
        assertEquals(0, proxy.since(before).count(RequestMatch.create()));
        assertTrue(proxy.since(before).count(RequestMatch.list()) > 0, "the server's answer decides");
        held.close();
        assertEquals(held.token(), soon(next).token());
    }

    @Test
    void downgradedLease_isNotPassedOn() throws Exception {
        Lease write = lock.writeLock().acquire();
        CompletableFuture<Lease> next = lock.writeLock().acquireAsync();
        awaitRequests("/rw", 2);
        Lease read = lock.downgrade(write);
        settle(lock.writeLock());
        assertFalse(next.isDone());
        read.close();
        assertTrue(soon(next).token() > write.token());
    }

    /** The request that was made for the second writer would be in the way of readers once that writer reads. */
    @Test
    void requestWithoutAWaiter_isNotInTheWay_whenTheHolderDowngrades() throws Exception {
        Lease first = lock.writeLock().acquire();
        CompletableFuture<Lease> second = lock.writeLock().acquireAsync();
        awaitRequests("/rw", 2);
        first.close();
        Lease write = soon(second);
        CompletableFuture<Lease> reader =
                client("reader").readWriteLock("/rw").readLock().acquireAsync();
        Lease read = lock.downgrade(write);
        soon(reader).close();
        read.close();
        awaitNothingLeft("/rw");
    }

    @ParameterizedTest
    @EnumSource
    void requestIsWithdrawn_whenItsCallerGivesUp(ExclusiveLock lock) throws Exception {
        Lease held = lock.of(turning).acquire();
        CompletableFuture<Lease> next = lock.turn(turning);
        awaitRequests("/m", 2);
        assertTrue(next.cancel(false));
        awaitRequests("/m", 1);
        assertTrue(held.isValid());
        held.close();
    }

    @ParameterizedTest
    @EnumSource
    void requestIsWithdrawn_whenItsCallerWasServedAndNoOtherComes(ExclusiveLock lock) throws Exception {
        Lease held = lock.of(turning).acquire();
        CompletableFuture<Lease> next = lock.turn(turning);
        awaitRequests("/m", 2);
        held.close();
        Lease last = soon(next);
        assertEquals(held.token(), last.token());
        awaitRequests("/m", 1);
        assertTrue(last.isValid());
        last.close();
        awaitNothingLeft("/m");
    }

    /** Two permits of many that are declared: as many places wait as could hold. */
    @Test
    void placesFollowTheCapacity_whenItIsSmallerThanDeclared() throws Exception {
        client("operator").semaphore("/s", 100).resize(2);
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            all.add(turning.semaphore("/s", 100).acquireAsync());
        }
        soon(all.get(0));
        soon(all.get(1));
        awaitRequests("/s", 4);
        CompletableFuture<Lease> other = client("other").semaphore("/s", 100).acquireAsync();
        awaitRequests("/s", 5);
        List<Long> tokens = new ArrayList<>();
        for (CompletableFuture<Lease> each : all) {
            try (Lease lease = soon(each)) {
                tokens.add(lease.token());
            }
        }
        // In the order of the queue: the other client may be slow to notice its grant.
        try (Lease lease = soon(other)) {
            long turns = tokens.stream().filter(token -> token < lease.token()).count();
            assertTrue(turns <= 4 * TURNS, turns + " turns before the other client's");
        }
    }

    /** A semaphore's is not: its data may have changed the capacity. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ONLY_PERMIT")
    void firstNodeIsPassedOn_whereThePathWasAPlainOne(ExclusiveLock lock) throws Exception {
        operator().create("/m", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        Lease held = lock.of(turning).acquire();
        CompletableFuture<Lease> next = lock.turn(turning);
        held.close();
        assertEquals(held.token(), soon(next).token());
    }

    @Test
    void readerHoldsBesideADowngradedHolder_whenAWriterWaitsBehindIt() throws Exception {
        Lease write = lock.writeLock().acquire();
        CompletableFuture<Lease> reader = lock.readLock().acquireAsync();
        CompletableFuture<Lease> writer = lock.writeLock().acquireAsync();
        awaitUntil("the next node is a writer's", () -> nodesOfWriters("/rw") == 2);
        Lease read = lock.downgrade(write);
        soon(reader).close();
        assertFalse(writer.isDone());
        read.close();
        soon(writer).close();
    }

    // ---- permits

    @Test
    void permitIsPassedOn_onlyToARequestForAsMany() throws Exception {
        Semaphore semaphore = turning.semaphore("/s", 3);
        Lease two = semaphore.permits(2).acquire();
        Lease one = semaphore.acquire();
        CompletableFuture<Lease> next = semaphore.acquireAsync();
        CompletableFuture<Lease> nextTwo = semaphore.permits(2).acquireAsync();
        awaitRequests("/s", 4);
        two.close();
        assertEquals(two.token(), soon(nextTwo).token());
        assertFalse(next.isDone());
        one.close();
        assertEquals(one.token(), soon(next).token());
    }

    @Test
    void permitIsNotPassedOn_afterAShrink() throws Exception {
        Semaphore semaphore = turning.semaphore("/s", 2);
        Lease one = semaphore.acquire();
        Lease other = semaphore.acquire();
        CompletableFuture<Lease> next = semaphore.acquireAsync();
        awaitRequests("/s", 3);
        client("operator").semaphore("/s", 2).resize(1);
        awaitUntil("the client knows", () -> EngineOf.lock(semaphore)
                .context()
                .knownCapacity(new LockPath("/s"))
                .equals(Optional.of(1)));
        one.close();
        settle(semaphore);
        assertFalse(next.isDone());
        other.close();
        assertTrue(soon(next).token() > other.token());
    }

    @Test
    void permitIsNotPassedOn_afterAnEviction() throws Exception {
        Semaphore semaphore = turning.semaphore("/s", 3);
        List<Lease> held = List.of(semaphore.acquire(), semaphore.acquire(), semaphore.acquire());
        CompletableFuture<Lease> next = semaphore.acquireAsync();
        awaitRequests("/s", 4);
        deleteRequest("/s", 0);
        assertEquals(LossCause.NODE_DELETED, soon(held.get(0).lost()));
        assertTrue(soon(next).token() > held.get(2).token());
        assertTrue(held.get(1).isValid());
    }

    @Test
    void permitIsNotPassedOn_whenItsHolderIsAskedToRelease() throws Exception {
        Semaphore semaphore = turning.semaphore("/s", 3);
        List<Lease> held = List.of(semaphore.acquire(), semaphore.acquire(), semaphore.acquire());
        var asked = held.get(0).releaseRequested();
        CompletableFuture<Lease> next = semaphore.acquireAsync();
        awaitRequests("/s", 4);
        askFirstHolder(client -> client.semaphore("/s", 3), asked.toCompletableFuture());
        held.get(0).close();
        assertTrue(soon(next).token() > held.get(2).token());
    }

    @Test
    void allPermitsAreHeldAtATime_whenMoreAskForThem() throws Exception {
        Semaphore semaphore = turning.semaphore("/s", 3);
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            all.add(semaphore.acquireAsync());
        }
        for (int i = 0; i < 9; i += 3) {
            List<Lease> held = List.of(soon(all.get(i)), soon(all.get(i + 1)), soon(all.get(i + 2)));
            held.forEach(Lease::close);
        }
        awaitNothingLeft("/s");
    }

    // ---- readers

    private final ReadWriteLock lock = turning.readWriteLock("/rw");

    private Lease read() throws Exception {
        return soon(lock.readLock().acquireAsync());
    }

    @Test
    void readersShareANodeUntilTheLastOneReleases() throws Exception {
        Lease first = read();
        Lease second = read();
        assertEquals(first.token(), second.token());
        awaitRequests("/rw", 1);
        CompletableFuture<Lease> writer =
                client("other").readWriteLock("/rw").writeLock().acquireAsync();
        awaitRequests("/rw", 2);
        assertEquals(ReleaseOutcome.RELEASED, first.release());
        assertFalse(first.isValid());
        assertTrue(second.isValid());
        Lease third = read();
        assertEquals(second.token(), third.token());
        second.close();
        settle(lock.readLock());
        assertFalse(writer.isDone());
        third.close();
        soon(writer).close();
        awaitNothingLeft("/rw");
    }

    @Test
    void sharedNodeCostsNoRequests() throws Exception {
        Acquirable reads = turning(2 * TURNS).readWriteLock("/rw").readLock();
        try (Lease first = reads.acquire()) {
            Wire.Mark before = proxy.mark();
            for (int i = 2; i <= TURNS; i++) {
                assertEquals(first.token(), reads.acquire().token());
            }
            assertEquals(0, proxy.since(before).requestsButHeartbeats());
        }
    }

    /** Both calls are made before the client carries out the first. */
    @Test
    void readerJoinsTheNodeThatTheLastOneReleases() throws Exception {
        Lease last = read();
        Wire.Mark before = proxy.mark();
        CompletableFuture<ReleaseOutcome> released = new CompletableFuture<>();
        CompletableFuture<Lease> next = new CompletableFuture<>();
        ((ZkLease) last).context().execute(() -> {
            var unused = last.releaseAsync().thenAccept(released::complete);
            var unused2 = lock.readLock().acquireAsync().thenAccept(next::complete);
        });
        assertEquals(ReleaseOutcome.RELEASED, soon(released));
        Lease joined = soon(next);
        assertEquals(last.token(), joined.token());
        assertEquals(0, proxy.since(before).requestsButHeartbeats());
        joined.close();
        awaitNothingLeft("/rw");
    }

    /** The release is carried out between the reader's end and its leaving the queue. */
    @Test
    void nodeIsReleased_whenItsOnlyReaderGivesUpAtTheSameTime() throws Exception {
        Lease write = lock.writeLock().acquire();
        CompletableFuture<Lease> reader = lock.readLock().acquireAsync();
        awaitRequests("/rw", 2);
        ((ZkLease) write).context().execute(() -> {
            var unused = write.releaseAsync();
            reader.cancel(false);
        });
        awaitNothingLeft("/rw");
    }

    /** The readers never all release at once, so without a bound the writer would wait forever. */
    @Test
    void writerOfAnotherClientIsServed_whileReadersComeAndGo() throws Exception {
        Lease reader = read();
        CompletableFuture<Lease> writer =
                client("other").readWriteLock("/rw").writeLock().acquireAsync();
        awaitRequests("/rw", 2);
        for (int i = 1; i < TURNS; i++) {
            Lease next = read();
            assertEquals(reader.token(), next.token());
            reader.close();
            reader = next;
        }
        CompletableFuture<Lease> late = lock.readLock().acquireAsync();
        awaitRequests("/rw", 3);
        reader.close();
        Lease write = soon(writer);
        assertFalse(late.isDone());
        write.close();
        assertTrue(soon(late).token() > write.token());
    }

    @Test
    void readerWaits_behindAWriterOfItsClient() throws Exception {
        Lease first = read();
        CompletableFuture<Lease> writer = lock.writeLock().acquireAsync();
        CompletableFuture<Lease> second = lock.readLock().acquireAsync();
        awaitRequests("/rw", 2);
        assertFalse(second.isDone());
        first.close();
        Lease write = soon(writer);
        assertFalse(second.isDone());
        write.close();
        assertEquals(write.token(), soon(second).token());
    }

    /** Between nodes of two kinds would lie a round trip. */
    @Test
    void nextNodeServesReadersAndWriters_behindAWritersNode() throws Exception {
        ReadWriteLock pairs = turning(2).readWriteLock("/rw");
        Lease write = pairs.writeLock().acquire();
        List<CompletableFuture<Lease>> readers =
                List.of(pairs.readLock().acquireAsync(), pairs.readLock().acquireAsync());
        CompletableFuture<Lease> writer = pairs.writeLock().acquireAsync();
        awaitUntil("the next node is a writer's", () -> nodesOfWriters("/rw") == 2);
        write.close();
        assertEquals(write.token(), soon(readers.get(0)).token());
        readers.get(0).join().close();
        assertTrue(soon(readers.get(1)).token() > write.token());
        readers.get(1).join().close();
        assertEquals(readers.get(1).join().token(), soon(writer).token());
        writer.join().close();
        awaitNothingLeft("/rw");
    }

    private long nodesOfWriters(String path) {
        return server().nodesUnder(path).stream()
                .filter(node -> node.path().contains("/write-"))
                .count();
    }

    /** Of eight turns, so that the next node is there. */
    private List<Lease> sevenReaders(Acquirable reads) throws InterruptedException {
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            held.add(reads.acquire());
        }
        awaitRequests("/rw", 2);
        settle(reads);
        return held;
    }

    @Test
    void readersHaveTheNextNodeWithoutARequest_whenTurnsRunOut() throws Exception {
        Acquirable reads = turning(8).readWriteLock("/rw").readLock();
        List<Lease> held = sevenReaders(reads);
        Wire.Mark before = proxy.mark();
        held.add(reads.acquire());
        held.add(reads.acquire());
        assertEquals(0, proxy.since(before).requestsButHeartbeats());
        assertEquals(held.get(0).token(), held.get(7).token());
        assertTrue(held.get(8).token() > held.get(7).token());
        held.forEach(Lease::close);
        awaitNothingLeft("/rw");
    }

    @Test
    void nextNodeIsGivenUp_whenNoReaderNeedsIt() throws Exception {
        Acquirable reads = turning(8).readWriteLock("/rw").readLock();
        List<Lease> held = sevenReaders(reads);
        held.forEach(Lease::close);
        awaitNothingLeft("/rw");
    }

    @Test
    void readerIsGranted_whenTheWriterBeforeItGivesUp() throws Exception {
        Lease elsewhere = client("other").readWriteLock("/rw").readLock().acquire();
        CompletableFuture<Lease> writer = lock.writeLock().acquireAsync();
        CompletableFuture<Lease> reader = lock.readLock().acquireAsync();
        awaitRequests("/rw", 2);
        assertTrue(writer.cancel(false));
        assertTrue(soon(reader).isValid());
        assertTrue(elsewhere.isValid());
    }

    @Test
    void readersByAWritersNode_excludeReadersOfOtherClientsAndCannotDowngrade() throws Exception {
        Lease write = lock.writeLock().acquire();
        CompletableFuture<Lease> one = lock.readLock().acquireAsync();
        CompletableFuture<Lease> two = lock.readLock().acquireAsync();
        awaitRequests("/rw", 2);
        write.close();
        assertEquals(write.token(), soon(one).token());
        assertEquals(write.token(), soon(two).token());
        CompletableFuture<Lease> elsewhere =
                client("other").readWriteLock("/rw").readLock().acquireAsync();
        settle(lock.readLock());
        assertThrows(IllegalArgumentException.class, () -> lock.downgrade(soon(one)));
        assertFalse(elsewhere.isDone());
        soon(one).close();
        soon(two).close();
        soon(elsewhere).close();
    }

    @Test
    void limitEndsOneReadersLease_andNoOtherReaderJoins() throws Exception {
        Lease first = read();
        Lease limited = lock.readLock().heldAtMost(Duration.ofMillis(200)).acquire();
        assertEquals(LossCause.HELD_TOO_LONG, soon(limited.lost()));
        assertTrue(read().token() > first.token());
        assertTrue(first.isValid());
        first.close();
        awaitRequests("/rw", 1);
    }

    /** The callback runs, and asks, before the call that found the loss goes on. */
    @Test
    void noReaderJoins_whenItAsksInTheCallbackOfTheLoss() throws Exception {
        ZkLockClient direct =
                client(builder -> builder.callbackExecutor(Runnable::run).localTurns(TURNS, LONG_SESSION));
        Acquirable reads = direct.readWriteLock("/direct").readLock();
        Lease first = reads.acquire();
        Lease limited = reads.heldAtMost(Duration.ofMillis(200)).acquire();
        Lease next = soon(limited.lost().thenCompose(cause -> reads.acquireAsync()));
        assertTrue(next.token() > first.token(), next::toString);
        next.close();
        first.close();
    }

    @Test
    void evictionEndsTheLeasesOfAllReaders() throws Exception {
        Lease first = read();
        Lease second = read();
        CompletableFuture<LossCause> lost = first.lost().toCompletableFuture();
        deleteRequest("/rw", 0);
        assertEquals(LossCause.NODE_DELETED, soon(lost));
        assertEquals(LossCause.NODE_DELETED, soon(second.lost()));
        assertTrue(read().token() > first.token());
    }

    @Test
    void readerDoesNotJoin_afterTheDeadline() throws Exception {
        ZkLockClient brief = client(builder -> builder.sessionTimeout(SESSION).localTurns(TURNS, LONG_SESSION));
        Acquirable reads = brief.readWriteLock("/rw").readLock();
        ZkLease held = (ZkLease) reads.acquire();
        CompletableFuture<Boolean> valid =
                beforeTheDeadline(brief, held, () -> reads.acquireAsync().thenApply(Lease::isValid));
        assertTrue(soon(valid));
    }

    @Test
    void readerDoesNotJoinAHolder_thatIsAskedToRelease() throws Exception {
        Lease first = read();
        Lease second = read();
        var asked = second.releaseRequested();
        askFirstHolder(client -> client.readWriteLock("/rw").readLock(), asked.toCompletableFuture());
        assertTrue(read().token() > first.token());
    }

    @Test
    void readerDoesNotJoin_whileAGuardedWriteOfAFormerHolderIsOpen() throws Exception {
        Lease first = read();
        ZkLease second = (ZkLease) read();
        second.beginWrite();
        assertEquals(first.token(), read().token());
        second.close();
        assertTrue(read().token() > first.token());
    }
}
