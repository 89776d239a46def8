// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Contender.Access;
import io.latchkey.lock.Contender.Standing;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.FaultProxy;
import io.latchkey.testkit.Hold;
import io.latchkey.testkit.RequestMatch;
import io.latchkey.testkit.ServerNode;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.Wire;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a read-write lock promises while nothing fails. */
@Timeout(30)
class ReadWriteLockTest extends OnOneServer {
    private static final String PATH = "/rw";

    private final ZkLockClient one = client("one");
    private final ZkLockClient two = client("two");
    private final ZkLockClient three = client("three");

    private static Acquirable read(ZkLockClient client) {
        return client.readWriteLock(PATH).readLock();
    }

    private static Acquirable write(ZkLockClient client) {
        return client.readWriteLock(PATH).writeLock();
    }

    private CompletableFuture<Lease> queued(Acquirable lock) throws InterruptedException {
        int before = requestsUnder(PATH).size();
        CompletableFuture<Lease> asked = lock.acquireAsync();
        awaitRequests(PATH, before + 1);
        return asked;
    }

    // ---- who holds

    @Test
    void readersShareAndAWriterIsAlone() throws Exception {
        Lease first = read(one).acquire();
        Lease second = read(two).acquire();
        Lease third = read(one).tryAcquire().orElseThrow();
        assertEquals(Optional.empty(), write(three).tryAcquire());
        assertEquals(Optional.empty(), write(one).tryAcquire(), "an upgrade would wait for itself");
        first.close();
        second.close();
        assertEquals(Optional.empty(), write(three).tryAcquire());
        third.close();

        Lease alone = write(three).tryAcquire().orElseThrow();
        assertEquals(Optional.empty(), read(one).tryAcquire());
        assertEquals(Optional.empty(), read(three).tryAcquire());
        assertEquals(Optional.empty(), write(one).tryAcquire());
        assertEquals(Optional.empty(), write(three).tryAcquire());
        assertEquals(PATH, alone.path());
        alone.close();
        awaitNothingLeft(PATH);
    }

    @Test
    void aReaderBehindAWaitingWriterWaitsForIt() throws Exception {
        Lease reading = read(one).acquire();
        CompletableFuture<Lease> writer = queued(write(two));
        CompletableFuture<Lease> later = queued(read(three));
        assertEquals(Optional.empty(), read(one).tryAcquire(), "nor does a try go past the writer");
        settle(write(two), read(three));
        assertFalse(writer.isDone() || later.isDone());

        reading.close();
        Lease written = soon(writer);
        settle(read(three));
        assertFalse(later.isDone());
        written.close();
        Lease read = soon(later);
        assertTrue(read.token() > written.token() && written.token() > reading.token());
    }

    @Test
    void aReaderDoesNotWaitForAWriterBehindIt() throws Exception {
        Lease writing = write(one).acquire();
        CompletableFuture<Lease> reader = queued(read(two));
        CompletableFuture<Lease> later = queued(write(three));
        writing.close();
        Lease read = soon(reader);
        settle(write(three));
        assertFalse(later.isDone());
        read.close();
        soon(later).close();
    }

    @Test
    void allReadersUpToTheNextWriterComeInTogether() throws Exception {
        Lease writing = write(one).acquire();
        List<CompletableFuture<Lease>> readers =
                List.of(queued(read(two)), queued(read(one)), queued(read(three)), queued(read(two)));
        CompletableFuture<Lease> writer = queued(write(two));
        CompletableFuture<Lease> behind = queued(read(one));
        writing.close();
        for (CompletableFuture<Lease> reader : readers) {
            assertTrue(soon(reader).isValid());
        }
        settle(write(two), read(one));
        assertFalse(writer.isDone() || behind.isDone());
        for (CompletableFuture<Lease> reader : readers) {
            soon(reader).close();
        }
        soon(writer).close();
        soon(behind).close();
    }

    /** Newest first is the order that lost wake-ups elsewhere: who watches only the oldest sleeps on, or is let in early. */
    @ParameterizedTest
    @ValueSource(strings = {"012", "021", "102", "120", "201", "210"})
    void aWriterBehindReadersGetsInWhenTheLastHasLeftInWhateverOrder(String order) throws Exception {
        List<Lease> readers = List.of(
                read(one).acquire(), read(two).acquire(), read(client("four")).acquire());
        CompletableFuture<Lease> writer = queued(write(three));
        for (int left = 0; left < 3; left++) {
            settle(write(three));
            assertFalse(writer.isDone(), "after " + left + " of 3 left");
            readers.get(order.charAt(left) - '0').close();
        }
        soon(writer).close();
        awaitNothingLeft(PATH);
    }

    /** The same within one session, where a release is known before the server has it. */
    @ParameterizedTest
    @ValueSource(strings = {"012", "021", "102", "120", "201", "210"})
    void aWriterBehindReadersOfItsOwnClientToo(String order) throws Exception {
        List<Lease> readers =
                List.of(read(one).acquire(), read(one).acquire(), read(one).acquire());
        CompletableFuture<Lease> writer = queued(write(one));
        for (int left = 0; left < 3; left++) {
            settle(write(one));
            assertFalse(writer.isDone(), "after " + left + " of 3 left");
            readers.get(order.charAt(left) - '0').close();
        }
        soon(writer).close();
    }

    @Test
    void aNeighboursReadReleaseIsNoHandOverWhileAnotherClientReads() throws Exception {
        Lease foreign = read(two).acquire();
        Lease own = read(one).acquire();
        CompletableFuture<Lease> writer = queued(write(one));
        own.close();
        settle(write(one));
        assertFalse(writer.isDone(), "the other client still reads");
        foreign.close();
        soon(writer).close();
    }

    @Test
    void aReadReleaseIsNoHandOverToAnotherClientEither() throws Exception {
        Lease older = read(one).acquire();
        Lease newer = read(two).acquire();
        CompletableFuture<Lease> writer = queued(write(three));
        awaitWatchers(requestsUnder(PATH).get(1), 1);
        newer.close();
        settle(write(three));
        assertFalse(writer.isDone(), "the older reader still holds");
        older.close();
        soon(writer).close();
    }

    @Test
    void aWriterThatGivesUpLetsTheReadersBehindItIn() throws Exception {
        Lease reading = read(one).acquire();
        CompletableFuture<Lease> cancelled = queued(write(two));
        CompletableFuture<Lease> first = queued(read(three));
        assertTrue(cancelled.cancel(true));
        Lease beside = soon(first);

        CompletableFuture<Optional<Lease>> late = write(two).tryAcquireAsync(Duration.ofSeconds(4));
        awaitRequests(PATH, 3);
        CompletableFuture<Lease> second = queued(read(three));
        assertEquals(Optional.empty(), late.get(10, TimeUnit.SECONDS));
        soon(second).close();

        CountDownLatch interrupted = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            try {
                write(two).acquire();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
        });
        waiter.start();
        awaitRequests(PATH, 3);
        CompletableFuture<Lease> third = queued(read(two));
        waiter.interrupt();
        assertTrue(interrupted.await(5, TimeUnit.SECONDS));
        soon(third).close();
        beside.close();
        reading.close();
        awaitNothingLeft(PATH);
    }

    @Test
    void aNeighbourThatGivesUpIsNoHandOver() throws Exception {
        Lease foreign = read(two).acquire();
        CompletableFuture<Lease> first = queued(write(one));
        CompletableFuture<Lease> second = queued(write(one));
        CompletableFuture<Lease> reader = queued(read(one));
        settle(write(one));
        assertTrue(first.cancel(false));
        awaitRequests(PATH, 3);
        settle(write(one));
        assertFalse(second.isDone() || reader.isDone(), "the other client still reads");
        assertTrue(second.cancel(false));
        soon(reader).close();
        foreign.close();
    }

    @Test
    void aReaderThatGivesUpChangesNothingForAnybody() throws Exception {
        Lease writing = write(one).acquire();
        CompletableFuture<Lease> reader = queued(read(two));
        CompletableFuture<Lease> writer = queued(write(three));
        CompletableFuture<Lease> last = queued(read(two));
        assertTrue(reader.cancel(false));
        awaitRequests(PATH, 3);
        settle(write(three), read(two));
        assertFalse(writer.isDone() || last.isDone());
        writing.close();
        soon(writer).close();
        soon(last).close();
        awaitNothingLeft(PATH);
    }

    // ---- forms of acquiring

    @Test
    void aTryThatFailsIsEmptyAndLeavesNothing() throws Exception {
        Lease writing = write(one).acquire();
        for (Acquirable lock : List.of(read(two), write(two))) {
            assertEquals(Optional.empty(), lock.tryAcquire());
            assertEquals(1, requestsUnder(PATH).size(), "gone when the try returns");
            assertEquals(Optional.empty(), lock.tryAcquire(Duration.ZERO));
            Stopwatch watch = Stopwatch.start();
            long start = System.nanoTime();
            assertEquals(Optional.empty(), lock.tryAcquire(Duration.ofMillis(200)));
            long waited = Duration.ofNanos(System.nanoTime() - start).toMillis();
            long took = watch.stop();
            assertTrue(waited >= 200, waited + " ms");
            assertTrue(took < 600, took + " ms");
            assertEquals(
                    Optional.empty(),
                    lock.tryAcquireAsync(Duration.ofMillis(50)).get(5, TimeUnit.SECONDS));
        }
        awaitNoRequestBut(writing, PATH);
        awaitWatches(0);
    }

    @Test
    void aTimedTryIsGrantedWithinItsTime() throws Exception {
        Lease writing = write(one).acquire();
        CompletableFuture<Optional<Lease>> reader = read(two).tryAcquireAsync(Duration.ofSeconds(10));
        awaitRequests(PATH, 2);
        CompletableFuture<Optional<Lease>> writer = write(three).tryAcquireAsync(Duration.ofSeconds(10));
        awaitRequests(PATH, 3);
        writing.close();
        Lease first = reader.get(5, TimeUnit.SECONDS).orElseThrow();
        first.close();
        writer.get(5, TimeUnit.SECONDS).orElseThrow().close();
    }

    @Test
    void cancellingAndInterruptingLeaveNothingBehind() throws Exception {
        Lease writing = write(one).acquire();
        for (Acquirable lock : List.of(read(two), write(two))) {
            CompletableFuture<Lease> waiting = queued(lock);
            assertTrue(waiting.cancel(true));
            awaitNoRequestBut(writing, PATH);
            CountDownLatch interrupted = new CountDownLatch(1);
            Thread waiter = new Thread(() -> {
                try {
                    lock.acquire();
                } catch (InterruptedException expected) {
                    interrupted.countDown();
                }
            });
            waiter.start();
            awaitRequests(PATH, 2);
            waiter.interrupt();
            assertTrue(interrupted.await(5, TimeUnit.SECONDS));
            awaitNoRequestBut(writing, PATH);
        }
        awaitWatches(0);
    }

    @Test
    void acquiringIsNotReentrantForReadersEither() throws Exception {
        read(one).acquire();
        read(one).acquire();
        assertEquals(2, requestsUnder(PATH).size(), "a request each");
    }

    @Test
    void executesAround() throws Exception {
        assertEquals(PATH, read(one).call(Lease::path));
        write(one).run(lease -> assertTrue(lease.isValid()));
        awaitNothingLeft(PATH);
    }

    @Test
    void aFreshPathIsAContainerAndTheTokenIsTheCreationZxid() throws Exception {
        Lease first = one.readWriteLock("/a/b/rw").readLock().acquire();
        assertEquals(first.token(), requestsUnder("/a/b/rw").get(0).created());
        first.close();
        assertEquals(List.of("/a/b/rw", "/a/b", "/a"), reapAll());
        Lease second = one.readWriteLock("/a/b/rw").writeLock().acquire();
        assertTrue(second.token() > first.token());
        assertEquals(second.token(), requestsUnder("/a/b/rw").get(0).created());
    }

    // ---- the queue

    @Test
    void theQueueTellsWhoHoldsAndWhoWaits() throws Exception {
        Lease first = read(one).acquire();
        Lease second = read(two).acquire();
        CompletableFuture<Lease> writer = queued(write(three));
        CompletableFuture<Lease> reader = queued(read(one));
        for (Acquirable lock : List.of(read(two), write(two))) {
            List<Contender> queue = lock.queue();
            assertEquals(
                    List.of(Standing.HOLDS, Standing.HOLDS, Standing.WAITS, Standing.WAITS),
                    queue.stream().map(Contender::standing).toList());
            assertEquals(
                    List.of("one", "two", "three", "one"),
                    queue.stream().map(Contender::label).toList());
            assertEquals(
                    List.of(1, 1, 1, 1), queue.stream().map(Contender::permits).toList());
            assertEquals(
                    List.of(Access.SHARED, Access.SHARED, Access.EXCLUSIVE, Access.SHARED),
                    queue.stream().map(Contender::access).toList());
            assertEquals(first.token(), queue.get(0).token());
            assertEquals(second.token(), queue.get(1).token());
        }
        assertTrue(writer.cancel(false));
        soon(reader);
    }

    @Test
    void theQueueOfAPathThatIsNotThereIsEmpty() {
        assertEquals(List.of(), one.readWriteLock("/nowhere").readLock().queue());
        assertEquals(List.of(), one.readWriteLock("/nowhere").writeLock().queue());
    }

    // ---- other kinds

    @Test
    void aPathOfAnotherKindIsToldWithBothKinds() throws Exception {
        one.mutex("/m").acquire().close();
        one.semaphore("/s", 3).acquire().close();
        read(one).acquire().close();
        for (Acquirable lock : List.of(
                two.readWriteLock("/m").readLock(), two.readWriteLock("/m").writeLock())) {
            LockMismatchException told = assertThrows(LockMismatchException.class, lock::acquire);
            assertEquals("read-write lock", told.asked());
            assertEquals("mutex", told.found());
            assertThrows(LockMismatchException.class, lock::tryAcquire);
            refusal(LockMismatchException.class, lock.acquireAsync());
        }
        LockMismatchException mutex =
                assertThrows(LockMismatchException.class, () -> two.mutex(PATH).acquire());
        assertEquals("mutex", mutex.asked());
        assertEquals("read-write lock", mutex.found());
        LockMismatchException semaphore = assertThrows(
                LockMismatchException.class,
                () -> two.readWriteLock("/s").readLock().acquire());
        assertTrue(semaphore.found().contains("semaphore"), semaphore.found());
        awaitNothingLeft("/m", "/s", PATH);
    }

    @Test
    void aMutexIsNotLetInBesideReaders() throws Exception {
        Lease reading = read(one).acquire();
        assertThrows(LockMismatchException.class, () -> two.mutex(PATH).tryAcquire());
        assertThrows(LockMismatchException.class, () -> one.mutex(PATH).tryAcquire());
        assertTrue(reading.isValid());
        awaitNoRequestBut(reading, PATH);
    }

    @Test
    void thePathsDataSaysItsKind() throws Exception {
        read(one).acquire();
        String data = server().nodesUnder("/").stream()
                .filter(node -> node.path().equals(PATH))
                .map(ServerNode::text)
                .findFirst()
                .orElseThrow();
        assertTrue(data.startsWith("latchkey/2 read-write"), data);
    }

    // ---- within one session

    @Test
    void aWriterHandsOverToItsOwnReadersWithoutTheServer() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient local = patient(proxy);
        read(local).acquire().close();
        Lease writing = write(local).acquire();
        CompletableFuture<Lease> first = queued(read(local));
        CompletableFuture<Lease> foreign = queued(read(two));
        CompletableFuture<Lease> second = queued(read(local));
        settle(read(local));
        Hold answers = proxy.holdAnswers(RequestMatch.delete());
        CompletableFuture<ReleaseOutcome> release = writing.releaseAsync();
        assertTrue(soon(first).isValid());
        assertTrue(soon(second).isValid(), "its nearest writer is the one that left, whoever reads between");
        assertFalse(release.isDone());
        answers.close();
        assertEquals(ReleaseOutcome.RELEASED, release.get(5, TimeUnit.SECONDS));
        soon(foreign).close();
    }

    @Test
    void anotherClientsWriterBetweenKeepsAReaderFromALocalHandOver() throws Exception {
        Lease writing = write(one).acquire();
        CompletableFuture<Lease> between = queued(write(two));
        CompletableFuture<Lease> reader = queued(read(one));
        writing.close();
        Lease second = soon(between);
        settle(read(one));
        assertFalse(reader.isDone());
        second.close();
        soon(reader).close();
    }

    @Test
    void aSequenceOfReadersAndWritersOfOneClientIsServedInOrder() throws Exception {
        Lease held = write(one).acquire();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        String asked = "rrwrwwrrrwr";
        for (int i = 0; i < asked.length(); i++) {
            boolean reads = asked.charAt(i) == 'r';
            String me = asked.charAt(i) + "" + i;
            all.add(queued(reads ? read(one) : write(one)).thenAccept(lease -> {
                AtomicInteger mine = reads ? readers : writers;
                mine.incrementAndGet();
                if (writers.get() > (reads ? 0 : 1) || (!reads && readers.get() > 0)) {
                    order.add("BROKEN at " + me);
                }
                order.add(me);
                mine.decrementAndGet();
                lease.close();
            }));
        }
        held.close();
        for (CompletableFuture<Void> done : all) {
            done.get(10, TimeUnit.SECONDS);
        }
        assertFalse(order.toString().contains("BROKEN"), order::toString);
        // Readers between two writers may come in any order among themselves.
        String kinds = order.stream().map(each -> each.substring(0, 1)).reduce("", String::concat);
        assertEquals(asked, kinds);
        awaitNothingLeft(PATH);
    }

    // ---- wake-ups

    @Test
    void aReaderWatchesTheNearestWriterBeforeIt() throws Exception {
        Lease first = write(one).acquire();
        CompletableFuture<Lease> second = queued(write(two));
        FaultProxy proxy = proxy();
        ZkLockClient counted = patient(proxy);
        CompletableFuture<Lease> between = queued(read(client("reader between")));
        CompletableFuture<Lease> reader = queued(read(counted));
        List<ServerNode> nodes = requestsUnder(PATH);
        long session = proxy.session().orElseThrow();
        awaitUntil("a watch on the second writer", () -> watches(session, nodes.get(1)));
        assertFalse(watches(session, nodes.get(0)), "not on the first");
        assertFalse(watches(session, nodes.get(2)), "nor on a reader");

        Wire.Mark before = proxy.mark();
        first.close();
        Lease written = soon(second);
        assertEquals(
                0, proxy.since(before).watchEvents(), () -> proxy.since(before).toString());
        written.close();
        soon(between).close();
        soon(reader).close();
    }

    private boolean watches(long session, ServerNode node) {
        return server().watches().stream()
                .anyMatch(watch -> watch.session() == session && watch.path().equals(node.path()));
    }

    /** Whoever watches the first writer is woken by every one: k times M. */
    @Test
    void manyReadersBehindManyWritersAreWokenOnceEach() throws Exception {
        int writers = 4;
        int readers = 5;
        List<CompletableFuture<Lease>> writing = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
            writing.add(queued(write(client("writer"))));
        }
        List<FaultProxy> proxies = new ArrayList<>();
        List<CompletableFuture<Lease>> reading = new ArrayList<>();
        for (int i = 0; i < readers; i++) {
            FaultProxy proxy = proxy();
            proxies.add(proxy);
            reading.add(queued(read(patient(proxy))));
        }
        // Each reader has two watches on the last writer and one on its own node; each waiting writer as many.
        awaitWatches(3 * readers + 3 * (writers - 1));
        List<Wire.Mark> marks = proxies.stream().map(FaultProxy::mark).toList();
        for (CompletableFuture<Lease> writer : writing) {
            soon(writer).close();
        }
        for (CompletableFuture<Lease> reader : reading) {
            soon(reader);
        }
        for (int i = 0; i < readers; i++) {
            Wire wire = proxies.get(i).since(marks.get(i));
            assertEquals(2, wire.watchEvents(), "the pair of one transaction, once: " + wire);
            assertEquals(0, wire.requestsButHeartbeats(), wire::toString);
        }
    }

    @Test
    void aWaitingWriterIsNotWokenByReadersFarAhead() throws Exception {
        Lease oldest = read(one).acquire();
        Lease newest = read(two).acquire();
        FaultProxy proxy = proxy();
        ZkLockClient counted = patient(proxy);
        CompletableFuture<Lease> writer = queued(write(counted));
        awaitWatchers(requestsUnder(PATH).get(1), 1);
        settle(write(counted));
        Wire.Mark before = proxy.mark();
        oldest.close();
        assertEquals(
                0, proxy.since(before).watchEvents(), () -> proxy.since(before).toString());
        newest.close();
        soon(writer).close();
    }

    // ---- crowds

    @Test
    void neitherSideStarves() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger reading = new AtomicInteger();
        AtomicInteger writing = new AtomicInteger();
        List<String> broken = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (ZkLockClient client : List.of(one, two, three)) {
            for (int i = 0; i < 2; i++) {
                // Each holds its lease until it has asked for the next: without writers there would be a reader always.
                threads.add(new Thread(() -> {
                    CompletableFuture<Lease> next = read(client).acquireAsync();
                    while (!over.get()) {
                        Lease lease = next.join();
                        reading.incrementAndGet();
                        if (writing.get() > 0) {
                            broken.add("a reader beside a writer");
                        }
                        next = read(client).acquireAsync();
                        reading.decrementAndGet();
                        lease.close();
                    }
                    next.join().close();
                }));
            }
        }
        threads.forEach(Thread::start);
        for (int turn = 0; turn < 20; turn++) {
            Lease lease = write(turn % 2 == 0 ? one : two)
                    .tryAcquire(Duration.ofSeconds(5))
                    .orElseThrow();
            if (writing.incrementAndGet() > 1 || reading.get() > 0) {
                broken.add("a writer beside somebody");
            }
            writing.decrementAndGet();
            lease.close();
        }
        over.set(true);
        for (Thread thread : threads) {
            thread.join(10_000);
            assertFalse(thread.isAlive());
        }
        assertEquals(List.of(), broken);
        awaitNothingLeft(PATH);
    }

    /** Writers among themselves, and writers against readers, in the order of their nodes. */
    @Test
    void nobodyOvertakesAWriterAndNoWriterOvertakes() throws Exception {
        record Grant(long token, boolean writes) {}
        SplittableRandom random = new SplittableRandom(3);
        List<Grant> grants = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Void>> all = new ArrayList<>();
        Lease held = write(three).acquire();
        for (int i = 0; i < 60; i++) {
            ZkLockClient client = random.nextBoolean() ? one : two;
            boolean writes = random.nextInt(3) == 0;
            all.add((writes ? write(client) : read(client)).acquireAsync().thenAccept(lease -> {
                grants.add(new Grant(lease.token(), writes));
                lease.close();
            }));
        }
        awaitRequests(PATH, 61);
        held.close();
        for (CompletableFuture<Void> done : all) {
            done.get(10, TimeUnit.SECONDS);
        }
        for (int i = 0; i < grants.size(); i++) {
            for (int j = i + 1; j < grants.size(); j++) {
                if (grants.get(i).writes() || grants.get(j).writes()) {
                    assertTrue(grants.get(i).token() < grants.get(j).token(), i + " before " + j + " in " + grants);
                }
            }
        }
        assertNotEquals(0, grants.stream().filter(Grant::writes).count());
        awaitNothingLeft(PATH);
    }
}
