// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Leadership;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.LiveObjects;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.server.UnrecordedProxy;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * All locks under load without a pause, while sessions are ended, nodes deleted, the server restarted, connections cut,
 * answers delayed, and clients cut off for shorter and longer than a session, or closed and replaced. After that there
 * is no node, no watch, no thread and no object more than there was when it had just begun, and every timed try has
 * ended in its time.
 */
@Tag("once")
@Tag("soak")
class NothingLeaksTest {
    private static final int CLIENTS = 6;
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(4));
    private static final Duration LENGTH = Soak.length(Duration.ofSeconds(12));
    private static final Duration SOON = Duration.ofSeconds(60);
    /** Memory of ZooKeeper's server, its client and the JVM, such as buffers, which grows to a bound. */
    private static final double ROOM = 1.1;

    private static final long ROOM_BYTES = 2 << 20;

    private final SplittableRandom random = new SplittableRandom(Long.getLong("latchkey.seed", System.nanoTime()));
    private static final String SESSION_CLASS = "io.latchkey.zk.internal.session.Session";

    /** Of earlier tests of this process. */
    private final Map<String, Long> atFirst = counted();

    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicInteger losses = new AtomicInteger();
    private final AtomicInteger wishes = new AtomicInteger();
    private final AtomicInteger interrupts = new AtomicInteger();
    private final AtomicInteger terms = new AtomicInteger();
    private final Map<FaultKind, Integer> struck = new EnumMap<>(FaultKind.class);
    private final List<Way> ways = new ArrayList<>();
    private final List<Future<?>> closings = new ArrayList<>();
    /** Threads of earlier tests of this process; they may end during the test. */
    private final Set<Thread> others = Thread.getAllStackTraces().keySet();

    private enum FaultKind {
        RESTART,
        DELETION,
        DECREE,
        CUT,
        SLOWNESS,
        SHORT_HOLE,
        LONG_HOLE,
        CLOSE
    }

    /** What is struck after one of each: while clients are without a connection, most paths wait for them. */
    private static final List<FaultKind> DECK = Stream.of(
                    List.of(FaultKind.values()),
                    Collections.nCopies(5, FaultKind.DELETION),
                    Collections.nCopies(5, FaultKind.DECREE),
                    Collections.nCopies(3, FaultKind.CLOSE))
            .flatMap(List::stream)
            .toList();

    /** A client, its connection to the server, and when that is to be mended if it is struck. */
    private static final class Way {
        final UnrecordedProxy proxy;
        final boolean takesTurns;
        boolean isStruck;
        long mendAt;
        volatile ZkLockClient client;

        Way(UnrecordedProxy proxy, boolean takesTurns) throws InterruptedException {
            this.proxy = proxy;
            this.takesTurns = takesTurns;
            this.client = open();
        }

        private ZkLockClient open() throws InterruptedException {
            ZkLockClient.Builder builder =
                    ZkLockClient.builder().connectString(proxy.connectString()).sessionTimeout(SESSION);
            return (takesTurns ? builder.localTurns(5, SESSION) : builder).build();
        }

        /** Closes the client, with a grace or at once, and has a new one before the former is closed. */
        CompletableFuture<Void> replace(Duration grace) throws InterruptedException {
            ZkLockClient former = client;
            client = open();
            return CompletableFuture.runAsync(() -> former.close(grace));
        }

        void struck(Duration length) {
            isStruck = true;
            mendAt = System.nanoTime() + length.toNanos();
        }

        void mend() {
            isStruck = false;
            proxy.heal();
        }
    }

    @Test
    @Tag("long")
    @Timeout(900)
    void nothingIsKept_afterLoadAndFaults() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            for (int i = 0; i < CLIENTS; i++) {
                ways.add(new Way(UnrecordedProxy.to(server), i < 2));
            }
            CountDownLatch connected = new CountDownLatch(1);
            ZooKeeper operator = new ZooKeeper(server.connectString(), 60_000, event -> connected.countDown());
            try {
                // Before it has a session it cannot be left out of those that are struck.
                assertTrue(connected.await(SOON.toSeconds(), TimeUnit.SECONDS));
                load(server, operator, LENGTH.dividedBy(4));
                awaitQuiet(server);
                long bytes = LiveObjects.bytes();

                int before = granted.get();
                struck.clear();
                load(server, operator, LENGTH);
                awaitQuiet(server);
                long bytesNow = LiveObjects.bytes();
                Map<String, Long> objects = newObjects();
                System.out.println(
                        "load of " + LENGTH.toSeconds() + " s, " + (granted.get() - before) + " grants, " + losses
                                + " losses told, " + wishes + " wishes told, " + interrupts + " interrupts, " + terms
                                + " terms, faults " + struck + ": " + bytes
                                + " bytes before, "
                                + bytesNow + " after; " + objects);
                assertTrue(granted.get() - before > 100, "only " + granted.get() + " grants");
                assertEquals(Set.of(FaultKind.values()), struck.keySet());
                assertTrue(losses.get() > 0, "no loss was reported");
                assertTrue(wishes.get() > 0, "no release request was reported");
                assertTrue(interrupts.get() > 0, "no body was interrupted");
                assertTrue(terms.get() > 0, "no candidate led");
                // Those of earlier tests of this process may have ended since, so there may be fewer.
                Long sessions = objects.remove(SESSION_CLASS);
                assertTrue(sessions == null || sessions <= CLIENTS, "sessions: " + sessions);
                assertEquals(Map.of(), objects);
                assertTrue(bytesNow < bytes * ROOM + ROOM_BYTES, bytes + " bytes before, " + bytesNow + " after");
            } finally {
                ways.forEach(way -> way.client.close());
                operator.close();
                ways.forEach(way -> way.proxy.close());
            }
        }
        awaitThreads(Map.of());
    }

    /** A leader polls so. */
    @Test
    @Timeout(120)
    void nothingIsKept_whenAHolderLooksForLossAgainAndAgain() throws Exception {
        int looks = 100_000;
        Predicate<String> future = name -> name.startsWith("java.util.concurrent.CompletableFuture");
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZkLockClient locks = ZkLockClient.connect(server.connectString());
                Lease lease = locks.mutex("/m").acquire()) {
            for (int i = 0; i < looks; i++) {
                assertSame(lease.lost(), lease.lost());
                assertSame(lease.releaseRequested(), lease.releaseRequested());
                assertTrue(lease.lossCause().isEmpty());
            }
            long kept = LiveObjects.count(future).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            assertTrue(kept < looks / 10, kept + " futures are kept after " + looks + " looks");
            assertTrue(lease.isValid());
        }
    }

    /** A class that is renamed would no longer be counted. */
    @Test
    void countedClassesExist() throws Exception {
        for (String counted : LiveObjects.OF_REQUESTS) {
            assertEquals(counted, Class.forName(counted).getName());
        }
    }

    /** Two holders of one session that listen: their caller keeps the first lease and forgets the second. */
    @Test
    @Timeout(120)
    void lostLeaseThatIsKept_keepsNoOtherLease() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient client = locks.client();
            Lease kept = listening(client.mutex("/leaks/kept"));
            WeakReference<Lease> forgotten = forgotten(client.mutex("/leaks/forgotten"));
            locks.expire(client, ExpiryOrder.CLIENT_FIRST);
            assertFalse(kept.isValid());
            // A thread that ran a callback keeps the last one until it ends, within a second.
            Eventually.holds("only the kept lease is left", Duration.ofSeconds(10), () -> {
                LiveObjects.bytes(); // collects
                return forgotten.refersTo(null);
            });
            assertFalse(kept.isValid());
        }
    }

    private static WeakReference<Lease> forgotten(Mutex mutex) {
        Lease lease = listening(mutex);
        assertTrue(lease.isValid());
        assertEquals("io.latchkey.zk.internal.request.ZkLease", lease.getClass().getName());
        return new WeakReference<>(lease);
    }

    private static Lease listening(Mutex mutex) {
        Lease lease = mutex.acquireAsync().join();
        assertFalse(lease.releaseRequested().toCompletableFuture().isDone());
        return lease;
    }

    /** Each wish uses up the watch that told of it; the next one must have one listener, not one more. */
    @Test
    @Timeout(120)
    void holderListensOnce_whenItIsAskedRepeatedly() throws Exception {
        String listener = "io.latchkey.zk.internal.request.RevocationNode$Listener";
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZkLockClient other = client(server);
                ZkLockClient client = client(server)) {
            long before = LiveObjects.count(listener::equals).getOrDefault(listener, 0L);
            Lease held = client.mutex("/leaks/m").acquire();
            CompletableFuture<?> wish = held.releaseRequested().toCompletableFuture();
            for (int i = 0; i < 8; i++) {
                Eventually.holds(
                        "a listening holder is asked",
                        SOON,
                        () -> other.mutex("/leaks/m").queue().get(0).requestRelease()
                                == Contender.ReleaseRequestResult.STORED);
            }
            wish.get(SOON.toSeconds(), TimeUnit.SECONDS);
            // Those of earlier tests may go meanwhile, with the threads that ran their callbacks.
            Eventually.holds("one listener", Duration.ofSeconds(10), () -> {
                long now = LiveObjects.count(listener::equals).getOrDefault(listener, 0L);
                return now > 0 && now <= before + 1;
            });
            held.close();
        }
    }

    private static ZkLockClient client(EmbeddedZooKeeper server) throws InterruptedException {
        return ZkLockClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(SESSION)
                .build();
    }

    private void load(EmbeddedZooKeeper server, ZooKeeper operator, Duration length) throws Exception {
        over.set(false);
        ExecutorService threads = Executors.newFixedThreadPool(2 * CLIENTS);
        try {
            List<Future<?>> work = new ArrayList<>();
            for (int i = 0; i < 2 * CLIENTS; i++) {
                SplittableRandom own = random.split();
                Way way = ways.get(i % CLIENTS);
                work.add(threads.submit(() -> work(way, own)));
            }
            long start = System.nanoTime();
            List<FaultKind> deck = shuffled(List.of(FaultKind.values()));
            while (System.nanoTime() - start < length.toNanos()) {
                LockSupport.parkNanos(
                        Duration.ofMillis(random.nextInt(200, 600)).toNanos());
                ways.stream()
                        .filter(way -> way.isStruck && System.nanoTime() - way.mendAt > 0)
                        .forEach(Way::mend);
                if (deck.isEmpty()) {
                    deck = shuffled(DECK);
                }
                FaultKind next = deck.remove(0);
                kind(next, server, operator);
                struck.merge(next, 1, Integer::sum);
            }
            ways.forEach(Way::mend);
            over.set(true);
            for (Future<?> each : work) {
                each.get(SOON.toSeconds(), TimeUnit.SECONDS);
            }
            for (Future<?> each : closings) {
                each.get(SOON.toSeconds(), TimeUnit.SECONDS);
            }
            closings.clear();
        } finally {
            over.set(true);
            threads.shutdownNow();
            assertTrue(threads.awaitTermination(SOON.toSeconds(), TimeUnit.SECONDS));
        }
    }

    private void kind(FaultKind what, EmbeddedZooKeeper server, ZooKeeper operator) throws Exception {
        switch (what) {
            case RESTART -> {
                server.stop();
                server.restart();
            }
            // Whether it still is there or not.
            case DELETION ->
                one(requests(server))
                        .ifPresent(request -> operator.delete(request.path(), -1, (rc, path, context) -> {}, null));
            case DECREE -> {
                List<Long> sessions = new ArrayList<>(server.sessions());
                sessions.remove(operator.getSessionId());
                Optional<Long> session = one(sessions);
                if (session.isPresent()) {
                    server.expireSession(session.get());
                }
            }
            case CUT -> one(ways).ifPresent(way -> way.proxy.cut());
            case SLOWNESS ->
                strikeWay(way -> {
                    way.proxy.delay(Duration.ofMillis(random.nextInt(20, 200)));
                    return Duration.ofMillis(1500);
                });
            case SHORT_HOLE ->
                strikeWay(way -> {
                    way.proxy.blackHole();
                    return Duration.ofMillis(random.nextInt(200, 3000));
                });
            case LONG_HOLE ->
                strikeWay(way -> {
                    way.proxy.blackHole();
                    return SESSION.plusSeconds(1);
                });
            // A client whose connection is struck could not be opened.
            case CLOSE -> {
                Optional<Way> way =
                        one(ways.stream().filter(each -> !each.isStruck).toList());
                if (way.isPresent()) {
                    closings.add(way.get().replace(Duration.ofMillis(random.nextInt(2) * 200L)));
                }
            }
        }
    }

    private List<FaultKind> shuffled(List<FaultKind> cards) {
        List<FaultKind> deck = new ArrayList<>(cards);
        Collections.shuffle(deck, new java.util.Random(random.nextLong()));
        return deck;
    }

    private <T> Optional<T> one(List<T> of) {
        return of.isEmpty() ? Optional.empty() : Optional.of(of.get(random.nextInt(of.size())));
    }

    /** One that is not struck already: of the clients there are more than may be struck at a time. */
    private void strikeWay(Function<Way, Duration> kind) {
        Way way = one(ways.stream().filter(each -> !each.isStruck).toList()).orElseThrow();
        way.struck(kind.apply(way));
    }

    private Void work(Way way, SplittableRandom own) throws Exception {
        while (!over.get()) {
            try {
                work(way.client, own);
            } catch (ClientClosedException closed) {
                // The next client is there.
            }
        }
        return null;
    }

    private void work(ZkLockClient client, SplittableRandom own) throws Exception {
        switch (own.nextInt(18)) {
            case 0, 1, 2, 3 -> changeMind(lock(client, own), own);
            case 4 -> downgrade(client.readWriteLock("/leaks/r" + own.nextInt(2)), own);
            case 5, 6, 7 -> administrate(client, own);
            case 8, 9 -> runBody(lock(client, own), own);
            case 10 -> lead(client, own);
            default -> {
                Acquirable lock = lock(client, own);
                Optional<Lease> lease = own.nextBoolean()
                        ? TimedAcquires.tryAcquire(lock, Duration.ofMillis(own.nextInt(1, 300)))
                        : Optional.of(lock.acquire());
                if (lease.isPresent()) {
                    hold(lock, lease.get(), own);
                }
            }
        }
    }

    /** A body that is interrupted by a loss, often by that of a limit. */
    private void runBody(Acquirable lock, SplittableRandom own) throws InterruptedException {
        Acquirable limited = own.nextBoolean() ? lock.heldAtMost(Duration.ofMillis(own.nextInt(1, 10))) : lock;
        try {
            limited.run(OnLoss.INTERRUPT, lease -> {
                granted.incrementAndGet();
                try {
                    Thread.sleep(own.nextInt(10));
                } catch (InterruptedException stopped) {
                    interrupts.incrementAndGet();
                }
            });
        } catch (LeaseLostException lost) {
            // as it may be
        }
    }

    /** A candidate for a while, which may lead in it. */
    private void lead(ZkLockClient client, SplittableRandom own) throws InterruptedException, ExecutionException {
        Leadership candidate = Leadership.start(client.mutex("/leaks/leader"), lease -> {
            terms.incrementAndGet();
            new CountDownLatch(1).await();
            return Leadership.Next.END;
        });
        LockSupport.parkNanos(Duration.ofMillis(own.nextInt(50)).toNanos());
        if (own.nextBoolean()) {
            candidate.stepDown();
        }
        candidate.close();
        try {
            candidate.ended().toCompletableFuture().get();
        } catch (ExecutionException failed) {
            if (!(failed.getCause() instanceof ClientClosedException)) {
                throw failed;
            }
        }
    }

    /** A caller that gives up. */
    private static void changeMind(Acquirable lock, SplittableRandom own) {
        List<CompletableFuture<Lease>> asked = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            asked.add(lock.acquireAsync());
        }
        LockSupport.parkNanos(Duration.ofMillis(own.nextInt(5)).toNanos());
        asked.forEach(each -> each.cancel(false));
        asked.stream()
                .filter(each -> each.isDone() && !each.isCompletedExceptionally())
                .forEach(each -> each.join().close());
    }

    private void downgrade(ReadWriteLock lock, SplittableRandom own) throws InterruptedException, ExecutionException {
        Lease write = lock.writeLock().acquire();
        try {
            hold(lock.readLock(), lock.downgrade(write), own);
        } catch (LeaseLostException lost) {
            // as it may be
        }
    }

    private static void askAll(Acquirable lock) throws InterruptedException {
        for (Contender each : lock.queue()) {
            each.requestRelease();
        }
    }

    /** What goes to the server ends with an error if that is away for long. */
    private static void administrate(ZkLockClient client, SplittableRandom own) throws InterruptedException {
        try {
            switch (own.nextInt(3)) {
                // Room for the largest request there is.
                case 0 -> client.semaphore("/leaks/l" + own.nextInt(2), 20).resize(own.nextInt(12, 21));
                case 1 -> askAll(lock(client, own));
                default -> {
                    List<Contender> queue = lock(client, own).queue();
                    if (!queue.isEmpty()) {
                        queue.get(0).evict();
                    }
                }
            }
        } catch (LockServiceUnavailableException away) {
            // as it may be
        }
    }

    private void hold(Acquirable lock, Lease lease, SplittableRandom own)
            throws InterruptedException, ExecutionException {
        granted.incrementAndGet();
        if (own.nextInt(8) == 0) {
            CompletableFuture<Void> lost =
                    lease.lost().thenRun(losses::incrementAndGet).toCompletableFuture();
            CompletableFuture<Void> asked =
                    lease.releaseRequested().thenRun(wishes::incrementAndGet).toCompletableFuture();
            try {
                if (own.nextBoolean()) {
                    askAll(lock);
                }
                CompletableFuture.anyOf(lost, asked).get(own.nextInt(1, 100), TimeUnit.MILLISECONDS);
            } catch (TimeoutException | LockServiceUnavailableException neither) {
                // its work is done
            }
        } else {
            LockSupport.parkNanos(Duration.ofMillis(own.nextInt(5)).toNanos());
        }
        lease.close();
    }

    private static Acquirable lock(ZkLockClient client, SplittableRandom own) {
        int number = own.nextInt(2);
        Acquirable mutex = client.mutex("/leaks/m" + number);
        Acquirable permits = client.semaphore("/leaks/s" + number, 3).permits(own.nextInt(1, 4));
        Acquirable many = client.semaphore("/leaks/l" + number, 20).permits(own.nextInt(1, 12));
        return switch (own.nextInt(6)) {
            case 0 -> mutex;
            case 1 -> client.readWriteLock("/leaks/r" + number).readLock();
            case 2 -> client.readWriteLock("/leaks/r" + number).writeLock();
            case 3 -> permits;
            case 4 -> many;
            default -> client.multiLock(mutex, permits);
        };
    }

    private static List<ServerNode> requests(EmbeddedZooKeeper server) {
        return server.nodesUnder("/leaks").stream()
                .filter(ServerNode::isEphemeral)
                .toList();
    }

    /** No nodes or watches are left at the server, and every client has a live session. */
    private void awaitQuiet(EmbeddedZooKeeper server) throws InterruptedException {
        Eventually.holds("no request is left", SOON, () -> requests(server).isEmpty());
        Eventually.holds("no watch is left", SOON, () -> server.watchCount() == 0);
        Eventually.holds(
                "a session for each client and for the operator",
                SOON,
                () -> server.sessions().size() == CLIENTS + 1);
        // Threads that ran callbacks end when they have been idle for ten seconds.
        awaitThreads(
                Map.of("latchkey-timer-#", (long) CLIENTS, "SendThread", CLIENTS + 1L, "EventThread", CLIENTS + 1L));
    }

    /** Handles of sessions that are over end a moment later than these. */
    private void awaitThreads(Map<String, Long> expected) throws InterruptedException {
        AtomicReference<Map<String, Long>> seen = new AtomicReference<>();
        try {
            Eventually.holds("threads " + expected, SOON, () -> {
                seen.set(threads());
                return seen.get().equals(expected);
            });
        } catch (AssertionError late) {
            throw new AssertionError(late.getMessage() + "; there are " + seen, late);
        }
    }

    /** How many there are of each sort. */
    private Map<String, Long> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !others.contains(thread))
                // ZooKeeper's client puts the name of the thread that made it before its own.
                .map(thread -> thread.getName()
                        .replaceAll("0x[0-9a-f]+|\\d+", "#")
                        .replaceAll(".*(SendThread|EventThread).*", "$1"))
                .filter(name -> name.startsWith("latchkey-") || name.equals("SendThread") || name.equals("EventThread"))
                .filter(name -> !name.startsWith("latchkey-relay-"))
                .collect(Collectors.groupingBy(name -> name, Collectors.counting()));
    }

    /** What there is once for each session or request, and how many more of it there are than at the beginning. */
    private Map<String, Long> newObjects() {
        Map<String, Long> more = new TreeMap<>();
        counted().forEach((name, count) -> {
            if (count > atFirst.getOrDefault(name, 0L)) {
                more.put(name, count - atFirst.getOrDefault(name, 0L));
            }
        });
        return more;
    }

    private static Map<String, Long> counted() {
        return LiveObjects.count(LiveObjects.OF_REQUESTS::contains);
    }
}
