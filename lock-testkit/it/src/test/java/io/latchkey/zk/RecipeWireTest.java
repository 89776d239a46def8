// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.FlightAssertions;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every kind of lock costs on the wire, counted by a proxy (docs/protocol.md, "Wire budgets").
 */
@Timeout(60)
class RecipeWireTest extends OnOneServer {
    private static final int CAPACITY = 20;
    private static final List<String> PATHS = List.of("/k/1", "/k/2", "/k/3", "/k/4", "/k/5");

    private final FaultProxy proxy = proxy();
    private final ZkLockClient counted = patient(proxy);
    private final ZkLockClient other = client("other");

    RecipeWireTest() throws InterruptedException {}

    /** A lock of one request, by its name, and what shuts it out. */
    private record SingleLock(
            String name, Function<LockClient, Acquirable> of, Function<LockClient, Acquirable> blocker, String path) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<SingleLock> singles() {
        return Stream.of(
                new SingleLock("mutex", client -> client.mutex("/m"), client -> client.mutex("/m"), "/m"),
                new SingleLock("read", RecipeWireTest::read, RecipeWireTest::write, "/rw"),
                new SingleLock("write", RecipeWireTest::write, RecipeWireTest::read, "/rw"),
                ofPermits("one permit", 1),
                ofPermits("five permits", 5),
                ofPermits("all permits", CAPACITY));
    }

    private static SingleLock ofPermits(String name, int permits) {
        return new SingleLock(
                name,
                client -> client.semaphore("/s", CAPACITY).permits(permits),
                client -> client.semaphore("/s", CAPACITY).permits(CAPACITY),
                "/s");
    }

    private static Acquirable multi(LockClient client) {
        return client.multiLock(PATHS.stream().map(client::mutex).toArray(Acquirable[]::new));
    }

    private static Acquirable read(LockClient client) {
        return client.readWriteLock("/rw").readLock();
    }

    private static Acquirable write(LockClient client) {
        return client.readWriteLock("/rw").writeLock();
    }

    private static Acquirable permits(LockClient client, int n) {
        return client.semaphore("/two", 2).permits(n);
    }

    @BeforeEach
    void knowThePaths() throws Exception {
        for (ZkLockClient client : List.of(counted, other)) {
            client.mutex("/m").acquire().close();
            read(client).acquire().close();
            client.semaphore("/s", CAPACITY).acquire().close();
            permits(client, 1).acquire().close();
            multi(client).acquire().close();
        }
    }

    @Test
    void questionOfAnInterruptedThreadSendsNothing() throws Exception {
        Lease held = other.mutex("/m").acquire();
        Contender holder = counted.mutex("/m").queue().get(0);
        assertNothingIsSentIfInterrupted(
                counted.mutex("/m")::queue,
                holder::requestRelease,
                holder::evict,
                () -> counted.listLocks("/m"),
                () -> counted.listLocksAt("/m"));
        held.close();
    }

    @Test
    void callOfAnInterruptedThreadSendsNothing() {
        Acquirable lock = counted.mutex("/m");
        assertNothingIsSentIfInterrupted(
                lock::acquire,
                () -> lock.acquire(Duration.ofSeconds(10)),
                lock::tryAcquire,
                () -> lock.tryAcquire(Duration.ofSeconds(10)),
                () -> lock.call(lease -> "never"),
                () -> lock.run(lease -> {}));
    }

    private void assertNothingIsSentIfInterrupted(Executable... calls) {
        Wire.Mark before = proxy.mark();
        for (Executable call : calls) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, call);
            assertFalse(Thread.interrupted());
        }
        assertCost(before, 0, 0);
    }

    private void assertCost(Wire.Mark from, int requests, int roundTrips) {
        Wire wire = proxy.since(from);
        assertEquals(requests, wire.requestsButHeartbeats(), wire::toString);
        assertEquals(roundTrips, wire.roundTrips(), wire::toString);
    }

    /** A try that looks first, and asks for nothing more. */
    private void assertLook(Wire.Mark from, int requests) {
        assertCost(from, requests, 1);
        Wire wire = proxy.since(from);
        assertEquals(
                0, wire.count(RequestMatch.create().or(RequestMatch.delete()).or(RequestMatch.multi())));
    }

    // ---- free locks

    @ParameterizedTest
    @MethodSource("singles")
    void acquireCostsTwoRequestsInOneFlight_whenFree(SingleLock lock) throws Exception {
        for (int round = 0; round < 3; round++) {
            Wire.Mark before = proxy.mark();
            Lease lease = FlightAssertions.of(2, proxy, lock.of().apply(counted)::acquireAsync);
            assertCost(before, 2, 1);
            before = proxy.mark();
            assertEquals(ReleaseOutcome.RELEASED, lease.release());
            assertCost(before, 1, 1);
        }
    }

    @ParameterizedTest
    @MethodSource("singles")
    void firstContactAddsOneRequest_toTheSameFlight(SingleLock lock) throws Exception {
        FaultProxy fresh = proxy();
        ZkLockClient newcomer = patient(fresh);
        Wire.Mark before = fresh.mark();
        Lease unused = FlightAssertions.of(3, fresh, lock.of().apply(newcomer)::acquireAsync);
        Wire wire = fresh.since(before);
        assertEquals(3, wire.requestsButHeartbeats(), wire::toString);
        assertEquals(1, wire.roundTrips(), wire::toString);
    }

    @Test
    void limitsAndLabelsCostNoRequest_andAnInterruptedBodyOne() throws Exception {
        Mutex mutex = counted.mutex("/m");
        mutex.acquire().close();
        long plain = requests(() -> mutex.acquire().close());
        Mutex limited = mutex.labelled("invoice 7").heldAtMost(Duration.ofHours(1));
        assertEquals(plain, requests(() -> limited.acquire().close()));
        assertEquals(0, requests(() -> assertTrue(counted.session().isConnected())));
        assertEquals(0, requests(() -> assertTrue(mutex.leaseOfView().isEmpty())));
        assertEquals(plain + 1, requests(() -> mutex.run(OnLoss.INTERRUPT, lease -> {})));
    }

    private long requests(Executable calls) throws Exception {
        Wire.Mark before = proxy.mark();
        assertDoesNotThrow(calls);
        return proxy.since(before).requestsButHeartbeats();
    }

    @ParameterizedTest
    @MethodSource("singles")
    void failedTryCostsOneDeletion(SingleLock lock) throws Exception {
        Lease held = lock.blocker().apply(other).acquire();
        Wire.Mark before = proxy.mark();
        assertTrue(FlightAssertions.of(2, proxy, () -> lock.of().apply(counted).tryAcquireAsync(Duration.ZERO))
                .isEmpty());
        assertCost(before, 3, 2);
        assertEquals(1, proxy.since(before).count(RequestMatch.delete()));
        assertEquals(0, server().watchCount());
        held.close();
    }

    /** It looks first, as the last try found the lock busy, and asks as usual once its way seems free. */
    @ParameterizedTest
    @MethodSource("singles")
    void repeatedTryOfABusyLockWritesNothing(SingleLock lock) throws Exception {
        Lease held = lock.blocker().apply(other).acquire();
        assertTrue(lock.of().apply(counted).tryAcquire().isEmpty());
        for (int again = 0; again < 3; again++) {
            Wire.Mark before = proxy.mark();
            assertTrue(
                    FlightAssertions.of(2, proxy, () -> lock.of().apply(counted).tryAcquireAsync(Duration.ZERO))
                            .isEmpty());
            assertLook(before, 2);
        }
        held.close();
        assertEquals(2 + 2, requests(lock));
        assertEquals(2, requests(lock), "the last try found it free");
    }

    /** Returns the requests of a try that is granted. */
    private long requests(SingleLock lock) throws Exception {
        Wire.Mark before = proxy.mark();
        Lease lease = lock.of().apply(counted).tryAcquire().orElseThrow();
        long requests = proxy.since(before).requestsButHeartbeats();
        lease.close();
        return requests;
    }

    /** What this client holds itself is a reason to look, also for its first try. */
    @Test
    void tryOfAMutexThatItsClientHoldsWritesNothing() throws Exception {
        Lease held = counted.mutex("/own").acquire();
        Wire.Mark before = proxy.mark();
        assertTrue(FlightAssertions.of(2, proxy, () -> counted.mutex("/own").tryAcquireAsync(Duration.ZERO))
                .isEmpty());
        assertLook(before, 2);
        held.close();
        before = proxy.mark();
        assertTrue(counted.mutex("/own").tryAcquire().isPresent());
        assertEquals(2, proxy.since(before).requestsButHeartbeats(), "its client holds it no more");
    }

    @Test
    void repeatedTryOfABusyMultiLockWritesNothing() throws Exception {
        Lease held = other.mutex("/k/3").acquire();
        assertTrue(multi(counted).tryAcquire().isEmpty());
        for (int again = 0; again < 3; again++) {
            Wire.Mark before = proxy.mark();
            assertTrue(FlightAssertions.of(2, proxy, () -> multi(counted).tryAcquireAsync(Duration.ZERO))
                    .isEmpty());
            assertLook(before, 2);
        }
        held.close();
        multi(counted).tryAcquire().orElseThrow().close();
    }

    @Test
    void acquireCostsOneMoreRequest_onceAfterAResize() throws Exception {
        other.semaphore("/s", CAPACITY).resize(CAPACITY + 5);
        for (int more : List.of(1, 0)) { // the data, once the list has told that it was written
            Wire.Mark before = proxy.mark();
            Lease lease = FlightAssertions.of(2, proxy, counted.semaphore("/s", CAPACITY)::acquireAsync);
            assertCost(before, 2 + more, 1 + more);
            lease.close();
        }
    }

    /**
     * The holder has announced its grant and does not fit the smaller capacity. The waiter behind it leads the chain; it
     * once listed again for the announcement, and watched the holder again, for as long as that held.
     */
    @Test
    void waiterListsOnce_afterAShrinkBelowAHolderThatAnnouncedItself() throws Exception {
        Lease first = other.semaphore("/s", CAPACITY).permits(CAPACITY).acquire();
        CompletableFuture<Lease> second =
                other.semaphore("/s", CAPACITY).permits(CAPACITY).acquireAsync();
        awaitRequests("/s", 2);
        CompletableFuture<Lease> waiting =
                counted.semaphore("/s", CAPACITY).permits(CAPACITY - 1).acquireAsync();
        awaitRequests("/s", 3);
        settle(counted.semaphore("/s", CAPACITY), other.semaphore("/s", CAPACITY));
        first.close();
        Lease held = soon(second);
        settle(other.semaphore("/s", CAPACITY), counted.semaphore("/s", CAPACITY));

        Wire.Mark before = proxy.mark();
        other.semaphore("/s", CAPACITY).resize(CAPACITY - 1);
        awaitUntil("the waiter lists", () -> proxy.since(before).count(RequestMatch.list()) > 0);
        LockSupport.parkNanos(Duration.ofMillis(300).toNanos());
        assertEquals(1, proxy.since(before).count(RequestMatch.list()));
        held.close();
        soon(waiting).close();
    }

    @Test
    void sharedHoldersCostTheSame_besideOtherHolders() throws Exception {
        read(other).acquire();
        other.semaphore("/s", CAPACITY).permits(3).acquire();
        for (Acquirable lock :
                List.of(read(counted), counted.semaphore("/s", CAPACITY).permits(5))) {
            Wire.Mark before = proxy.mark();
            Lease lease = FlightAssertions.of(2, proxy, lock::acquireAsync);
            assertCost(before, 2, 1);
            lease.close();
        }
    }

    // ---- multi-locks

    /** Each missing path cost a round trip of its own, and each of these two requests for each path. */
    @ParameterizedTest
    @CsvSource({"/new/%d, 3, 3, 2", "/news%2$d/%d/m, 10, 7, 1"})
    void roundTripsOfAMultiLockDoNotGrowWithItsMissingPaths(String pattern, int roundTrips, int perPath, int more)
            throws Exception {
        counted.mutex("/new/known").acquire().close();
        for (int paths : List.of(10, 40)) {
            Acquirable[] members = IntStream.range(0, paths)
                    .mapToObj(i -> counted.mutex(pattern.formatted(100 * paths + i, paths)))
                    .toArray(Acquirable[]::new);
            // Long beside a pause of the client between two requests of one flight.
            proxy.delay(Direction.TO_CLIENT, Slowness.stretched(Duration.ofMillis(100)));
            Wire.Mark before = proxy.mark();
            Lease lease = counted.multiLock(members).acquire();
            Wire wire = proxy.since(before);
            proxy.delay(Direction.TO_CLIENT, Duration.ZERO);
            assertTrue(wire.roundTrips() <= roundTrips, wire::toString);
            assertEquals(perPath * paths + more, wire.requestsButHeartbeats(), wire::toString);
            lease.close();
        }
    }

    @Test
    void multiLockCostsOneTransactionAndOneReadInOneFlight_whenFree() throws Exception {
        for (int round = 0; round < 3; round++) {
            Wire.Mark before = proxy.mark();
            Lease lease = FlightAssertions.of(2, proxy, multi(counted)::acquireAsync);
            assertCost(before, 2, 1);
            Wire wire = proxy.since(before);
            assertEquals(1L, wire.requestsByOp().get(WireRecord.Op.MULTI), wire::toString);
            assertEquals(1L, wire.requestsByOp().get(WireRecord.Op.MULTI_READ), wire::toString);
            assertEquals(1, wire.count(RequestMatch.list()), wire::toString);
            before = proxy.mark();
            assertEquals(ReleaseOutcome.RELEASED, lease.release());
            assertCost(before, 1, 1);
        }
    }

    @Test
    void multiLockCostsTheSame_withMixedMembers() throws Exception {
        Acquirable mixed = counted.multiLock(
                counted.mutex("/k/1"),
                counted.readWriteLock("/rw").readLock(),
                counted.semaphore("/s", CAPACITY).permits(7));
        Wire.Mark before = proxy.mark();
        Lease lease = FlightAssertions.of(2, proxy, mixed::acquireAsync);
        assertCost(before, 2, 1);
        before = proxy.mark();
        lease.close();
        assertCost(before, 1, 1);
    }

    @Test
    void failedTryOfAMultiLockCostsOneMoreTransaction() throws Exception {
        other.mutex("/k/3").acquire();
        Wire.Mark before = proxy.mark();
        assertTrue(FlightAssertions.of(2, proxy, () -> multi(counted).tryAcquireAsync(Duration.ZERO))
                .isEmpty());
        assertCost(before, 2 + 1, 2);
        assertEquals(0, server().watchCount());
    }

    /** Together they might not fit a packet. */
    @Test
    void multiLockReadsListsSeparately_whenOneWasLong() throws Exception {
        Lease held = other.mutex("/k/3").acquire();
        for (char name = 'a'; name < 'f'; name++) {
            String foreign = "/k/3/" + String.valueOf(name).repeat(60_000);
            makeNode(foreign);
        }
        Wire.Mark before = proxy.mark();
        assertTrue(FlightAssertions.of(2, proxy, () -> multi(counted).tryAcquireAsync(Duration.ZERO))
                .isEmpty());
        assertCost(before, 2 + 1, 2);
        int apart = 1 + PATHS.size();
        before = proxy.mark();
        assertTrue(FlightAssertions.of(apart, proxy, () -> multi(counted).tryAcquireAsync(Duration.ZERO))
                .isEmpty());
        assertLook(before, apart);
        held.close();
    }

    @Test
    void waitingMultiLockWatchesBlockedMembersAndItsOwnNodesOnly() throws Exception {
        Lease held = other.mutex("/k/3").acquire();
        Wire.Mark before = proxy.mark();
        CompletableFuture<Lease> waiting = multi(counted).acquireAsync();
        awaitRequests("/k/3", 2);
        settle(counted.mutex("/nothing/there"));
        Wire wire = proxy.since(before);
        long others = server().watches().stream()
                .filter(watch -> !requestsUnder("/k/3").get(1).path().equals(watch.path()))
                .map(watch -> watch.path())
                .filter(path -> path.equals(requestsUnder("/k/3").get(0).path()))
                .count();
        assertEquals(1, others, () -> "one watch on what blocks it: " + server().watches());
        int watching = wire.count(RequestMatch.watching());
        assertTrue(watching <= 1 + PATHS.size(), "one for the blocked member, one at most for each own node: " + wire);
        before = proxy.mark();
        held.close();
        soon(waiting);
        Wire granted = proxy.since(before);
        assertEquals(0, granted.count(RequestMatch.list()), "a mutex hands over without a read: " + granted);
    }

    // ---- waiting and handing over

    /** A writer may become a reader in its place, so a writer behind it has a watch more. */
    @ParameterizedTest
    @CsvSource({"MUTEX, MUTEX, 2", "WRITE, READ, 2", "READ, WRITE, 2", "WRITE, WRITE, 3"})
    void waitBehindOneRequestAddsItsWatches_andTheHandOverNone(Lockable ahead, Lockable behind, int watches)
            throws Exception {
        Lease held = ahead.of(other).acquire();
        Wire.Mark before = proxy.mark();
        CompletableFuture<Lease> waiting = behind.of(counted).acquireAsync();
        awaitWatches(watches);
        Wire setUp = proxy.since(before);
        assertEquals(2 + watches, setUp.requestsButHeartbeats(), setUp::toString);

        before = proxy.mark();
        held.close();
        soon(waiting);
        Wire handedOver = proxy.since(before);
        assertEquals(0, handedOver.requestsButHeartbeats(), handedOver::toString);
        assertEquals(watches - 1, handedOver.watchEvents(), handedOver::toString);
    }

    @Test
    void writerBehindTwoReadersCostsOneListAndTwoWatches_perLastReader() throws Exception {
        Lease oldest = read(other).acquire();
        Lease newest = read(client("newest")).acquire();
        Wire.Mark atFirst = proxy.mark();
        CompletableFuture<Lease> writing = write(counted).acquireAsync();
        awaitRequests("/rw", 3);
        settle(write(counted));
        assertEquals(1, proxy.since(atFirst).count(RequestMatch.watching()), "the newest reader, not its own node");
        Wire.Mark before = proxy.mark();
        newest.close();
        awaitWatchers(requestsUnder("/rw").get(0), 1);
        awaitUntil("the set-up", () -> proxy.since(before).count(RequestMatch.watching()) >= 1);
        settleAside();
        Wire wire = proxy.since(before);
        assertTrue(wire.requestsButHeartbeats() - aside() <= 1 + 2, wire::toString);
        oldest.close();
        soon(writing);
    }

    /** Waits until the counted client has processed its events, and counts the requests for that separately. */
    private void settleAside() throws InterruptedException {
        settleAside(counted);
    }

    private static void settleAside(ZkLockClient client) throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            assertTrue(client.mutex("/aside").queue().isEmpty());
        }
    }

    private static void settleAside(List<ZkLockClient> clients) throws InterruptedException {
        for (ZkLockClient client : clients) {
            settleAside(client);
        }
    }

    /** What {@link #settleAside} sent on the wire: its look at a path that is not there. */
    private int aside() {
        return aside(proxy.wire());
    }

    private static int aside(Wire wire) {
        return wire.count(RequestMatch.any().under("/aside"));
    }

    @Test
    void handOverOfASemaphoreCostsOneList() throws Exception {
        Lease all = permits(other, 2).acquire();
        CompletableFuture<Lease> waiting = permits(counted, 2).acquireAsync();
        awaitRequests("/two", 2);
        settle(permits(counted, 1));
        Wire.Mark before = proxy.mark();
        all.close();
        soon(waiting);
        Wire wire = proxy.since(before);
        assertEquals(1, wire.count(RequestMatch.list()), wire::toString);
        // A granted request removes its watch asynchronously; that request may be on the wire by now or not.
        int takenBack = wire.count(RequestMatch.op(WireRecord.Op.REMOVE_WATCHES));
        assertTrue(takenBack <= 1, wire::toString);
        assertEquals(1, wire.requestsButHeartbeats() - takenBack, wire::toString);
        assertTrue(wire.roundTrips() <= 1 + takenBack, wire::toString);
    }

    /** Two holders and a waiter for one permit: whichever leaves, one list settles it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void semaphoreWaiterListsOnce_forOnePermit(boolean newestFirst) throws Exception {
        Lease oldest = permits(other, 1).acquire();
        Lease newest = permits(client("newest"), 1).acquire();
        CompletableFuture<Lease> waiting = permits(counted, 1).acquireAsync();
        awaitRequests("/two", 3);
        settle(permits(counted, 1));
        Wire.Mark before = proxy.mark();
        (newestFirst ? newest : oldest).close();
        soon(waiting);
        Wire wire = proxy.since(before);
        assertEquals(1, wire.count(RequestMatch.list()), wire::toString);
        assertTrue(
                wire.requestsButHeartbeats() <= 1 + 2, "at most the other's watch and the path's taken back: " + wire);
    }

    /**
     * The table of decision 0006, for so many waiting sessions: {@code -Dlatchkey.waiters=64} for the longest line.
     */
    @ParameterizedTest
    @CsvSource({"4, 9, 8", "8, 13, 12", "9, 9, 6", "64, 9, 6"})
    void localQueueCostsTheSame_forEveryCapacity(int capacity, int mostToWait, int mostToBeGranted) throws Exception {
        int waiters = Integer.getInteger("latchkey.waiters", 12);
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < capacity; i++) {
            held.add(other.semaphore("/line", capacity).acquire());
        }
        List<FaultProxy> proxies = new ArrayList<>();
        List<ZkLockClient> clients = new ArrayList<>();
        List<Wire.Mark> marks = new ArrayList<>();
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            FaultProxy own = proxy();
            ZkLockClient client = patient(own);
            proxies.add(own);
            clients.add(client);
            marks.add(own.mark());
            all.add(client.semaphore("/line", capacity).acquireAsync());
            awaitRequests("/line", capacity + i + 1);
            awaitUntil("it watches", () -> server().watches().stream()
                    .anyMatch(watch -> watch.session() == own.session().orElse(0)));
        }
        settleAside(clients);
        double toWait = requests(proxies, marks) / (double) waiters;
        assertTrue(toWait <= mostToWait, toWait + " requests to set up a wait");

        marks.clear();
        proxies.forEach(own -> marks.add(own.mark()));
        held.forEach(Lease::close);
        for (CompletableFuture<Lease> next : all) {
            soon(next).close();
        }
        settleAside(clients);
        double toBeGranted = requests(proxies, marks) / (double) waiters;
        assertTrue(toBeGranted <= mostToBeGranted, toBeGranted + " requests for a grant and its release");
    }

    private static int requests(List<FaultProxy> proxies, List<Wire.Mark> marks) {
        int sum = 0;
        for (int i = 0; i < proxies.size(); i++) {
            Wire wire = proxies.get(i).since(marks.get(i));
            sum += wire.requestsButHeartbeats() - aside(wire);
        }
        return sum;
    }

    // ---- leaving

    @ParameterizedTest
    @MethodSource("singles")
    void cancelRemovesWatchesAndCostsOneDeletion(SingleLock lock) throws Exception {
        Lease held = lock.blocker().apply(other).acquire();
        CompletableFuture<Lease> waiting = lock.of().apply(counted).acquireAsync();
        awaitUntil("the set-up", () -> server().watchCount() > 0);
        settle(lock.of().apply(counted));
        Wire.Mark before = proxy.mark();
        assertTrue(waiting.cancel(false));
        awaitWatches(0);
        awaitNoRequestBut(held, lock.path());
        Wire wire = proxy.since(before);
        assertEquals(1, wire.count(RequestMatch.delete()), wire::toString);
        assertEquals(0, wire.count(RequestMatch.list()), wire::toString);
        int watched = 3; // the one before it, its own node, and for a semaphore the path
        assertTrue(wire.requestsButHeartbeats() <= 1 + watched, wire::toString);
    }

    @Test
    @Tag("slow")
    void idleHolderSendsOneHeartbeat_ofEveryKind() throws Exception {
        read(counted).acquire();
        counted.semaphore("/s", CAPACITY).permits(3).acquire();
        multi(counted).acquire();
        counted.readWriteLock("/down")
                .downgrade(counted.readWriteLock("/down").writeLock().acquire());
        Wire.Mark before = proxy.mark();
        awaitUntil("three beats", () -> proxy.since(before).heartbeats() >= 3);
        Wire wire = proxy.since(before);
        assertEquals(wire.heartbeats(), wire.requests(), wire::toString);
        int beats = wire.heartbeats();
        assertTrue(beats <= 4, wire::toString);
    }

    @Test
    void localReadersAndWritersCostAtMostThreeRequestsEach() throws Exception {
        int all = 40;
        Lease held = write(other).acquire();
        Wire.Mark before = proxy.mark();
        List<CompletableFuture<Void>> done = IntStream.range(0, all)
                .mapToObj(i -> (i % 3 == 0 ? write(counted) : read(counted))
                        .acquireAsync()
                        .thenAccept(Lease::close))
                .toList();
        awaitRequests("/rw", all + 1);
        held.close();
        for (CompletableFuture<Void> each : done) {
            each.get(10, TimeUnit.SECONDS);
        }
        awaitRequests("/rw", 0);
        Wire wire = proxy.since(before);
        assertTrue(wire.requestsButHeartbeats() <= 3 * all, wire.requestsByOp() + " in all: " + wire);
    }
}
