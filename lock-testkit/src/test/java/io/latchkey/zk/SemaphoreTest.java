// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Contender.Standing;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.Semaphore;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a semaphore promises while nothing fails. */
@Timeout(30)
class SemaphoreTest extends OnOneServer {
    private static final String PATH = "/s";

    private final ZkLockClient one = client("one");
    private final ZkLockClient two = client("two");
    private final ZkLockClient three = client("three");

    private static Semaphore of3(ZkLockClient client) {
        return client.semaphore(PATH, 3);
    }

    private CompletableFuture<Lease> queued(Acquirable lock) throws InterruptedException {
        int before = requestsUnder(PATH).size();
        CompletableFuture<Lease> asked = lock.acquireAsync();
        awaitRequests(PATH, before + 1);
        return asked;
    }

    // ---- who holds

    @Test
    void asManyHoldAsThereArePermits() throws Exception {
        Lease first = of3(one).acquire();
        Lease second = of3(two).acquire();
        Lease third = of3(one).tryAcquire().orElseThrow();
        assertEquals(Optional.empty(), of3(three).tryAcquire());
        assertEquals(Optional.empty(), of3(one).tryAcquire());
        second.close();
        Lease fourth = of3(three).tryAcquire().orElseThrow();
        assertTrue(fourth.token() > third.token() && third.token() > first.token());
        assertEquals(PATH, fourth.path());
        assertEquals(fourth.token(), requestsUnder(PATH).get(2).created());
    }

    @Test
    void severalPermitsAreOneRequest() throws Exception {
        Lease both = of3(one).permits(2).acquire();
        List<ServerNode> nodes = requestsUnder(PATH);
        assertEquals(1, nodes.size());
        assertTrue(nodes.get(0).name().startsWith("lease-"), nodes::toString);
        Lease single = of3(two).acquire();
        assertEquals(Optional.empty(), of3(two).tryAcquire());
        both.close();
        of3(two).permits(2).tryAcquire().orElseThrow().close();
        single.close();
        of3(two).permits(3).tryAcquire().orElseThrow().close();
        awaitNothingLeft(PATH);
    }

    @Test
    void allPermitsOrNone() throws Exception {
        Lease held = of3(one).permits(2).acquire();
        assertEquals(Optional.empty(), of3(two).permits(2).tryAcquire());
        assertEquals(1, requestsUnder(PATH).size(), "gone when the try returns");
        assertEquals(1, of3(two).availablePermits());
        Lease last = of3(two).tryAcquire().orElseThrow();
        assertEquals(0, of3(two).availablePermits());
        last.close();
        held.close();
    }

    @Test
    void aLargeRequestInFrontHoldsUpSmallOnesBehindIt() throws Exception {
        Lease held = of3(one).permits(2).acquire();
        CompletableFuture<Lease> large = queued(of3(two).permits(3));
        CompletableFuture<Lease> small = queued(of3(three));
        assertEquals(Optional.empty(), of3(one).tryAcquire(), "though one permit is free");
        settle(of3(two), of3(three));
        assertFalse(large.isDone() || small.isDone());

        held.close();
        Lease all = soon(large);
        settle(of3(three));
        assertFalse(small.isDone());
        all.close();
        soon(small).close();
        awaitNothingLeft(PATH);
    }

    @Test
    void aLargeRequestDoesNotStarve() throws Exception {
        List<Thread> threads = new ArrayList<>();
        CountDownLatch over = new CountDownLatch(1);
        for (ZkLockClient client : List.of(one, two)) {
            for (int i = 0; i < 2; i++) {
                // Each holds until it has asked again: there is never a moment without a small request.
                threads.add(new Thread(() -> {
                    CompletableFuture<Lease> next = of3(client).acquireAsync();
                    while (over.getCount() > 0) {
                        Lease lease = next.join();
                        next = of3(client).acquireAsync();
                        lease.close();
                    }
                    next.join().close();
                }));
            }
        }
        threads.forEach(Thread::start);
        for (int turn = 0; turn < 20; turn++) {
            of3(three)
                    .permits(3)
                    .tryAcquire(Duration.ofSeconds(5))
                    .orElseThrow()
                    .close();
        }
        over.countDown();
        for (Thread thread : threads) {
            thread.join(10_000);
            assertFalse(thread.isAlive());
        }
        awaitNothingLeft(PATH);
    }

    /** Who takes permits one after the other gets one each and waits for ever. */
    @Test
    void twoClientsThatEachTakeTwoOfTwoNeverBlockEachOther() throws Exception {
        AtomicInteger holders = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(4);
        for (ZkLockClient client : List.of(one, two, one, two)) {
            new Thread(() -> {
                        try {
                            for (int round = 0; round < 100; round++) {
                                client.semaphore("/two", 2).permits(2).run(lease -> {
                                    if (holders.incrementAndGet() != 1) {
                                        overlaps.incrementAndGet();
                                    }
                                    holders.decrementAndGet();
                                });
                            }
                            done.countDown();
                        } catch (InterruptedException unexpected) {
                            Thread.currentThread().interrupt();
                        }
                    })
                    .start();
        }
        assertTrue(done.await(25, TimeUnit.SECONDS), done.getCount() + " still wait");
        assertEquals(0, overlaps.get());
        awaitNothingLeft("/two");
    }

    /** The node N places ahead is the wrong one to watch: 2 permits, holders A and B, waiter C, and B leaves first. */
    @Test
    void aHolderThatLeavesNewestFirstWakesTheWaiter() throws Exception {
        Lease oldest = one.semaphore("/two", 2).acquire();
        Lease newest = two.semaphore("/two", 2).acquire();
        CompletableFuture<Lease> waiting = three.semaphore("/two", 2).acquireAsync();
        awaitRequests("/two", 3);
        settle(three.semaphore("/two", 2));
        newest.close();
        soon(waiting).close();
        oldest.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"012", "021", "102", "120", "201", "210"})
    void waitersComeInAsSoonAsTheyFitInWhateverOrderTheHoldersLeave(String order) throws Exception {
        for (int wanted = 1; wanted <= 3; wanted++) {
            List<Lease> holders = List.of(
                    of3(one).acquire(), of3(two).acquire(), of3(client("four")).acquire());
            CompletableFuture<Lease> waiter = queued(of3(three).permits(wanted));
            CompletableFuture<Lease> behind = queued(of3(one));
            for (int left = 0; left < wanted; left++) {
                settle(of3(three), of3(one));
                assertFalse(waiter.isDone() || behind.isDone(), left + " left, " + wanted + " wanted");
                holders.get(order.charAt(left) - '0').close();
            }
            Lease granted = soon(waiter);
            settle(of3(one));
            assertFalse(behind.isDone(), "nothing is left over");
            granted.close();
            soon(behind).close();
            holders.forEach(Lease::close);
            awaitNothingLeft(PATH);
        }
    }

    /** The same within one session, where a release is known before the server has it. */
    @ParameterizedTest
    @ValueSource(strings = {"012", "120", "210"})
    void waitersOfTheHoldersOwnClientToo(String order) throws Exception {
        for (int wanted = 1; wanted <= 3; wanted++) {
            List<Lease> holders = List.of(of3(one).acquire(), of3(one).acquire(), of3(one).acquire());
            CompletableFuture<Lease> waiter = queued(of3(one).permits(wanted));
            CompletableFuture<Lease> behind = queued(of3(one));
            for (int left = 0; left < wanted; left++) {
                settle(of3(one));
                assertFalse(waiter.isDone() || behind.isDone(), left + " left, " + wanted + " wanted");
                holders.get(order.charAt(left) - '0').close();
            }
            Lease granted = soon(waiter);
            settle(of3(one));
            assertFalse(behind.isDone(), "nothing is left over");
            granted.close();
            soon(behind).close();
            holders.forEach(Lease::close);
            awaitNothingLeft(PATH);
        }
    }

    @Test
    void oneReleaseOfManyPermitsLetsManyIn() throws Exception {
        Lease all = of3(one).permits(3).acquire();
        CompletableFuture<Lease> first = queued(of3(two));
        CompletableFuture<Lease> second = queued(of3(three));
        CompletableFuture<Lease> third = queued(of3(one));
        CompletableFuture<Lease> fourth = queued(of3(two));
        all.close();
        soon(first);
        soon(second);
        soon(third);
        settle(of3(two));
        assertFalse(fourth.isDone());
        soon(third).close();
        soon(fourth).close();
    }

    @Test
    void releasingTwiceGivesBackOnce() throws Exception {
        Lease first = of3(one).acquire();
        of3(two).permits(2).acquire();
        assertEquals(ReleaseOutcome.RELEASED, first.release());
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, first.release());
        first.close();
        assertEquals(1, of3(two).availablePermits());
        assertTrue(of3(two).tryAcquire().isPresent());
        assertTrue(of3(two).tryAcquire().isEmpty());
    }

    @Test
    void waitersAreServedInTheOrderOfTheirRequests() throws Exception {
        Lease held = of3(one).permits(3).acquire();
        List<Long> order = Collections.synchronizedList(new ArrayList<>());
        SplittableRandom random = new SplittableRandom(5);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        // Three of three cannot overlap, so their order is that of the grants.
        for (int i = 0; i < 30; i++) {
            ZkLockClient client = random.nextBoolean() ? one : two;
            all.add(of3(client).permits(random.nextInt(2, 4)).acquireAsync().thenAccept(lease -> {
                order.add(lease.token());
                lease.close();
            }));
        }
        awaitRequests(PATH, 31);
        held.close();
        for (CompletableFuture<Void> done : all) {
            done.get(10, TimeUnit.SECONDS);
        }
        assertEquals(order.stream().sorted().toList(), order);
        awaitNothingLeft(PATH);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 8, 9, 20})
    void aCrowdNeverHoldsMoreThanThereAre(int capacity) throws Exception {
        AtomicInteger used = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger broken = new AtomicInteger();
        int threads = 9;
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            SplittableRandom random = new SplittableRandom(i);
            Semaphore semaphore = List.of(one, two, three).get(i % 3).semaphore("/crowd", capacity);
            new Thread(() -> {
                        try {
                            for (int round = 0; round < 30; round++) {
                                int n = random.nextInt(1, capacity + 1);
                                semaphore.permits(n).run(lease -> {
                                    int now = used.addAndGet(n);
                                    most.accumulateAndGet(now, Math::max);
                                    if (now > capacity) {
                                        broken.incrementAndGet();
                                    }
                                    used.addAndGet(-n);
                                });
                            }
                            done.countDown();
                        } catch (InterruptedException unexpected) {
                            Thread.currentThread().interrupt();
                        }
                    })
                    .start();
        }
        assertTrue(done.await(25, TimeUnit.SECONDS), done.getCount() + " still wait");
        assertEquals(0, broken.get());
        assertEquals(capacity, most.get(), "never reached what it is to bound");
        awaitNothingLeft("/crowd");
    }

    @Test
    void aHundredPermitsAndAsManyHolders() throws Exception {
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            held.add((i % 2 == 0 ? one : two).semaphore("/large", 100).acquire());
        }
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int n : List.of(1, 30, 2, 60, 7)) {
            waiting.add(three.semaphore("/large", 100).permits(n).acquireAsync());
            awaitRequests("/large", 100 + waiting.size());
        }
        assertEquals(Optional.empty(), one.semaphore("/large", 100).tryAcquire());
        Collections.shuffle(held, new java.util.Random(1));
        held.subList(0, 99).forEach(Lease::close);
        // The last of the hundred, 1, 30, 2 and 60 leave six.
        for (CompletableFuture<Lease> granted : waiting.subList(0, 4)) {
            soon(granted);
        }
        settle(three.semaphore("/large", 100));
        assertEquals(6, one.semaphore("/large", 100).availablePermits());
        assertFalse(waiting.get(4).isDone());
        held.get(99).close();
        soon(waiting.get(4));
        assertEquals(0, one.semaphore("/large", 100).availablePermits());
    }

    // ---- leaving the queue

    @Test
    void whoLeavesTheLineLetsThoseBehindIn() throws Exception {
        Lease held = of3(one).acquire();

        CompletableFuture<Lease> cancelled = queued(of3(two).permits(3));
        CompletableFuture<Lease> first = queued(of3(three));
        assertTrue(cancelled.cancel(true));
        Lease got = soon(first);

        CompletableFuture<Optional<Lease>> late = of3(two).permits(3).tryAcquireAsync(Duration.ofSeconds(4));
        awaitRequests(PATH, 3);
        CompletableFuture<Lease> second = queued(of3(three));
        assertEquals(Optional.empty(), late.get(10, TimeUnit.SECONDS));
        soon(second).close();

        CountDownLatch interrupted = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            try {
                of3(two).permits(3).acquire();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
        });
        waiter.start();
        awaitRequests(PATH, 3);
        CompletableFuture<Lease> third = queued(of3(three));
        waiter.interrupt();
        assertTrue(interrupted.await(5, TimeUnit.SECONDS));
        soon(third).close();

        got.close();
        held.close();
        assertEquals(3, of3(one).availablePermits());
        awaitNothingLeft(PATH);
    }

    /** The local form: a waiter that leaves is no release, whatever stands right behind it. */
    @Test
    void aNeighbourThatLeavesTheLineGivesNobodyItsPermits() throws Exception {
        Lease held = of3(two).permits(3).acquire();
        CompletableFuture<Lease> first = queued(of3(one).permits(2));
        CompletableFuture<Lease> second = queued(of3(one).permits(2));
        assertTrue(first.cancel(false));
        awaitRequests(PATH, 2);
        settle(of3(one));
        assertFalse(second.isDone());
        held.close();
        soon(second).close();
    }

    @Test
    void aTryThatFailsLeavesNothing() throws Exception {
        Lease held = of3(one).permits(3).acquire();
        assertEquals(Optional.empty(), of3(two).tryAcquire(Duration.ZERO));
        Stopwatch watch = Stopwatch.start();
        long start = System.nanoTime();
        assertEquals(Optional.empty(), of3(two).permits(2).tryAcquire(Duration.ofMillis(200)));
        long waited = Duration.ofNanos(System.nanoTime() - start).toMillis();
        long took = watch.stop();
        assertTrue(waited >= 200, waited + " ms");
        assertTrue(took < 600, took + " ms");
        assertEquals(
                Optional.empty(),
                of3(two).tryAcquireAsync(Duration.ofMillis(50)).get(5, TimeUnit.SECONDS));
        awaitNoRequestBut(held, PATH);
        awaitWatches(0);
    }

    @Test
    void closingTheClientFreesItsPermits() throws Exception {
        Lease held = of3(two).permits(2).acquire();
        CompletableFuture<Lease> inFront = queued(of3(two).permits(3));
        CompletableFuture<Lease> waiting = queued(of3(one).permits(3));
        two.close();
        assertEquals(LossCause.CLIENT_CLOSED, held.lost().get(5, TimeUnit.SECONDS));
        assertThrows(Exception.class, inFront::join);
        soon(waiting).close();
        awaitNothingLeft(PATH);
    }

    // ---- mistakes

    @Test
    void badNumbersAreRefusedAtTheDoor() throws Exception {
        assertThrows(IllegalArgumentException.class, () -> one.semaphore("/never", 0));
        assertThrows(IllegalArgumentException.class, () -> one.semaphore("/never", -1));
        Semaphore semaphore = one.semaphore("/never", 3);
        assertThrows(IllegalArgumentException.class, () -> semaphore.permits(0));
        assertThrows(IllegalArgumentException.class, () -> semaphore.permits(-1));
        assertThrows(IllegalArgumentException.class, () -> semaphore.resize(0));
        assertThrows(IllegalArgumentException.class, () -> semaphore.resize(-1));
        assertThrows(IllegalArgumentException.class, () -> semaphore.tryAcquire(Duration.ofNanos(-1)));
        assertThrows(NullPointerException.class, () -> semaphore.permits(1).tryAcquire(null));
        assertThrows(NullPointerException.class, () -> one.semaphore(null, 3));
        assertTrue(one.mutex("/fence").tryAcquire().isPresent());
        assertNeverMade("/never");
    }

    @Test
    void anotherDeclaredNumberIsToldWithBothNumbers() throws Exception {
        of3(one).acquire();
        Semaphore of5 = two.semaphore(PATH, 5);
        for (Executable use : List.<Executable>of(
                of5::acquire, of5::tryAcquire, () -> of5.tryAcquire(Duration.ofSeconds(5)), () -> of5.permits(2)
                        .acquire())) {
            assertTellsBothNumbers(assertThrows(LockMismatchException.class, use));
        }
        assertTellsBothNumbers(refusal(LockMismatchException.class, of5.acquireAsync()));
        assertTellsBothNumbers(refusal(LockMismatchException.class, of5.tryAcquireAsync(Duration.ofSeconds(5))));
        assertEquals(1, requestsUnder(PATH).size());
        assertEquals(3, of3(two).capacity(), "the same client may be right elsewhere");
        awaitWatches(0);
    }

    /** The first use need not be an acquire. */
    @Test
    void anotherDeclaredNumberIsToldByEveryUse() throws Exception {
        of3(one).acquire();
        Semaphore of5 = two.semaphore(PATH, 5);
        assertTellsBothNumbers(assertThrows(LockMismatchException.class, of5::capacity));
        assertTellsBothNumbers(assertThrows(LockMismatchException.class, of5::availablePermits));
        assertTellsBothNumbers(assertThrows(LockMismatchException.class, () -> of5.resize(4)));
        assertEquals(3, of3(one).capacity());
    }

    @Test
    void theDeclaredNumberIsComparedAlsoAfterAResize() throws Exception {
        of3(one).resize(5);
        Semaphore of5 = two.semaphore(PATH, 5);
        LockMismatchException told = assertThrows(LockMismatchException.class, of5::tryAcquire);
        assertTrue(told.asked().contains("5"), told.asked());
        assertTrue(told.found().contains("3"), told.found());
        assertTrue(of3(two).tryAcquire().isPresent());
    }

    private static void assertTellsBothNumbers(LockMismatchException told) {
        assertTrue(told.asked().contains("5"), told.asked());
        assertTrue(told.found().contains("3"), told.found());
        assertTrue(told.getMessage().contains(PATH), told.getMessage());
        assertTrue(told.getMessage().contains("5") && told.getMessage().contains("3"), told.getMessage());
    }

    @Test
    void aPathOfAnotherKindIsTold() throws Exception {
        one.mutex("/m").acquire().close();
        of3(one).acquire().close();
        LockMismatchException told = assertThrows(
                LockMismatchException.class, () -> two.semaphore("/m", 1).acquire());
        assertTrue(told.asked().contains("semaphore"), told.asked());
        assertEquals("mutex", told.found());
        assertThrows(LockMismatchException.class, () -> two.semaphore("/m", 1).capacity());
        assertThrows(LockMismatchException.class, () -> two.semaphore("/m", 1).resize(2));
        told = assertThrows(LockMismatchException.class, () -> two.mutex(PATH).acquire());
        assertTrue(told.found().contains("semaphore"), told.found());
        awaitNothingLeft("/m", PATH);
        two.mutex("/m").tryAcquire().orElseThrow().close();
    }

    // ---- views

    @Test
    void capacityAndAvailablePermitsTellWhatTheServerHas() throws Exception {
        assertEquals(3, of3(one).capacity(), "as declared, on a path that is not there");
        assertEquals(3, of3(one).availablePermits());
        assertNeverMade(PATH);
        Lease two2 = of3(two).permits(2).acquire();
        assertEquals(3, of3(one).capacity());
        assertEquals(1, of3(one).availablePermits());
        CompletableFuture<Lease> waiting = queued(of3(three).permits(3));
        assertEquals(1, of3(one).availablePermits(), "who waits holds nothing");
        assertTrue(waiting.cancel(false));
        awaitRequests(PATH, 1); // else the permits that the other session gives back may still become its
        two2.close();
        assertEquals(3, of3(one).availablePermits());
    }

    @Test
    void theQueueTellsPermitsAndStanding() throws Exception {
        Lease held = of3(one).permits(2).acquire();
        CompletableFuture<Lease> large = queued(of3(two).permits(3));
        CompletableFuture<Lease> small = queued(of3(three));
        for (Acquirable lock : List.of(of3(two), of3(two).permits(2))) {
            List<Contender> queue = lock.queue();
            assertEquals(
                    List.of(2, 3, 1), queue.stream().map(Contender::permits).toList());
            assertEquals(
                    List.of(Standing.HOLDS, Standing.WAITS, Standing.WAITS),
                    queue.stream().map(Contender::standing).toList());
            assertEquals(
                    List.of("one", "two", "three"),
                    queue.stream().map(Contender::label).toList());
            assertTrue(queue.stream().allMatch(request -> request.access() == Contender.Access.PERMITS));
            assertEquals(held.token(), queue.get(0).token());
        }
        assertTrue(large.cancel(false));
        soon(small);
        assertEquals(List.of(), one.semaphore("/nowhere", 2).queue());
    }

    @Test
    void viewsSayWhenTheServerIsAwayOrTheThreadIsInterrupted() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient asking = patient(proxy);
        of3(asking).acquire().close();
        // An answer that is there already would be taken in spite of the interrupt.
        try (Hold answers = proxy.holdAnswers(RequestMatch.any().butHeartbeats())) {
            for (Executable view : List.<Executable>of(
                    () -> of3(asking).capacity(), () -> of3(asking).availablePermits(), () -> of3(asking)
                            .resize(4))) {
                Thread.currentThread().interrupt();
                assertEquals(
                        LockException.Reason.INTERRUPTED,
                        assertThrows(LockUnavailableException.class, view).reason());
                assertTrue(Thread.interrupted(), "the interrupt status stays set");
            }
            answers.firstCaught().get(10, TimeUnit.SECONDS);
        }
        server().stop();
        for (Executable view : List.<Executable>of(
                () -> of3(one).capacity(), () -> of3(one).availablePermits(), () -> of3(one).resize(4))) {
            assertEquals(
                    LockException.Reason.NO_ANSWER,
                    assertThrows(LockUnavailableException.class, view).reason());
        }
        server().restart();
    }

    // ---- resize

    /** A list waits for the capacity of its moment; whose node was made meanwhile is not in it and there all the same. */
    @Test
    void whoseNodeIsMadeWhileTheCapacityIsReadAnewKeepsIt() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient asking = patient(proxy);
        of3(asking).acquire().close();
        Lease all = of3(one).permits(3).acquire();
        of3(one).resize(4);
        Hold lists = proxy.holdAnswers(RequestMatch.list());
        CompletableFuture<Lease> first = queued(of3(asking));
        lists.firstCaught().get(10, TimeUnit.SECONDS);
        CompletableFuture<Lease> second = queued(of3(asking));
        List<ServerNode> made = requestsUnder(PATH);
        lists.release();
        soon(first).close();
        soon(second);
        settle(of3(asking));
        assertEquals(List.of(made.get(0), made.get(2)), requestsUnder(PATH));
        all.close();
    }

    @Test
    void aLargerCapacityLetsSeveralWaitersIn() throws Exception {
        Lease all = of3(one).permits(3).acquire();
        CompletableFuture<Lease> first = queued(of3(two));
        CompletableFuture<Lease> second = queued(of3(three).permits(2));
        CompletableFuture<Lease> third = queued(of3(one));
        CompletableFuture<Lease> fourth = queued(of3(two));
        settle(of3(one), of3(two), of3(three));
        of3(two).resize(7);
        soon(first);
        soon(second);
        soon(third);
        settle(of3(two));
        assertFalse(fourth.isDone());
        assertEquals(7, of3(one).capacity());
        assertEquals(0, of3(one).availablePermits());
        assertTrue(all.isValid());
        all.close();
        soon(fourth).close();
    }

    @Test
    void aSmallerCapacityTakesFromNobodyAndLetsNobodyInUntilEnoughIsReleased() throws Exception {
        List<Lease> held =
                List.of(of3(one).acquire(), of3(two).acquire(), of3(three).acquire());
        ZkLockClient four = client("four");
        CompletableFuture<Lease> waiting = queued(of3(four));
        of3(one).resize(1);
        assertEquals(1, of3(two).capacity());
        assertEquals(0, of3(two).availablePermits(), "never negative");
        for (Lease lease : held) {
            settle(of3(four));
            assertTrue(lease.isValid());
            assertFalse(waiting.isDone());
            assertEquals(ReleaseOutcome.RELEASED, lease.release());
        }
        soon(waiting).close();
        assertEquals(1, of3(one).availablePermits());
    }

    /** After a shrink a holder may look like a waiter; if it is the newest that leaves, the waiter must still be woken. */
    @ParameterizedTest
    @ValueSource(strings = {"012", "021", "102", "120", "201", "210"})
    void afterAShrinkTheWaiterComesInWhateverTheOrderOfLeaving(String order) throws Exception {
        for (boolean early : List.of(true, false)) {
            of3(one).resize(3);
            List<Lease> held =
                    List.of(of3(one).acquire(), of3(two).acquire(), of3(three).acquire());
            CompletableFuture<Lease> waiting = early ? queued(of3(client("four"))) : null;
            of3(one).resize(2);
            if (waiting == null) {
                waiting = queued(of3(client("five")));
            }
            CompletableFuture<Lease> behind = queued(of3(one));
            held.get(order.charAt(0) - '0').close();
            settle(of3(one), of3(two), of3(three));
            assertFalse(waiting.isDone() || behind.isDone());
            held.get(order.charAt(1) - '0').close();
            soon(waiting);
            settle(of3(one));
            assertFalse(behind.isDone());
            held.get(order.charAt(2) - '0').close();
            soon(behind).close();
            soon(waiting).close();
            awaitNothingLeft(PATH);
        }
    }

    @Test
    void aShrinkBelowWhatTheHeadAsksTellsItAndServesThoseBehind() throws Exception {
        Acquirable allThree = of3(two).permits(3);
        Lease held = of3(one).acquire();
        CompletableFuture<Lease> head = queued(allThree);
        CompletableFuture<Lease> behind = queued(of3(three));
        CompletableFuture<Lease> last = queued(of3(one));
        of3(one).resize(2);
        LockMismatchException told = refusal(LockMismatchException.class, head);
        assertTrue(told.asked().contains("3"), told.asked());
        assertTrue(told.found().contains("2"), told.found());
        assertTrue(told.getMessage().contains("3") && told.getMessage().contains("2"), told.getMessage());
        Lease next = soon(behind);
        settle(of3(one));
        assertFalse(last.isDone());
        held.close();
        soon(last).close();
        next.close();
        awaitNothingLeft(PATH);
    }

    @Test
    void whoComesForMoreThanTheCapacityIsToldAndBlocksNobody() throws Exception {
        Acquirable allThree = of3(two).permits(3);
        allThree.acquire().close();
        of3(one).resize(2);
        Lease held = of3(one).acquire();
        LockMismatchException told = assertThrows(LockMismatchException.class, allThree::acquire);
        assertTrue(told.asked().contains("3"), told.asked());
        assertTrue(told.found().contains("2"), told.found());
        assertThrows(LockMismatchException.class, allThree::tryAcquire);
        of3(three).acquire().close();
        held.close();
        of3(one).resize(3);
        allThree.acquire().close();
        of3(two).permits(3).acquire().close();
        awaitNothingLeft(PATH);
    }

    /** What another client has resized is known to the server alone. */
    @Test
    void permitsAreAnsweredByTheServer_whateverThisClientKnowsOfTheCapacity() throws Exception {
        assertThrows(
                LockMismatchException.class,
                of3(one).permits(4)::acquire,
                "nobody has made the path, let alone resized it");
        assertNeverMade(PATH);
        of3(one).resize(8);
        of3(two).permits(5).acquire().close();
        of3(one).resize(2);
        assertThrows(LockMismatchException.class, of3(two).permits(3)::acquire);
        of3(one).resize(3);
        of3(two).permits(3).acquire().close();
        LockMismatchException told = assertThrows(LockMismatchException.class, of3(two).permits(4)::acquire);
        assertEquals("4 permits", told.asked());
        assertEquals("capacity 3", told.found());
    }

    /** What a client remembers of the path is out of date as soon as somebody else resizes. */
    @Test
    void aResizeByAnotherClientIsNeverOverlooked() throws Exception {
        for (int round = 0; round < 10; round++) {
            Lease held = of3(one).acquire();
            of3(two).resize(1);
            assertEquals(Optional.empty(), of3(one).tryAcquire());
            of3(two).resize(2);
            Lease second = of3(one).tryAcquire().orElseThrow();
            assertEquals(Optional.empty(), of3(one).tryAcquire());
            of3(three).resize(4);
            Lease third = of3(one).permits(2).tryAcquire().orElseThrow();
            held.close();
            second.close();
            third.close();
            of3(two).resize(3);
        }
    }

    @Test
    void aResizeOfAnUnusedPathCounts() throws Exception {
        of3(one).resize(5);
        assertEquals(5, of3(one).capacity());
        assertEquals(5, of3(two).capacity());
        assertEquals(5, of3(two).availablePermits());
        for (int i = 0; i < 5; i++) {
            assertTrue(of3(i % 2 == 0 ? one : two).tryAcquire().isPresent());
        }
        assertEquals(Optional.empty(), of3(two).tryAcquire());
    }

    @Test
    void resizingToTheSameNumberChangesNothing() throws Exception {
        Lease held = of3(one).permits(3).acquire();
        of3(two).resize(3);
        assertEquals(3, of3(one).capacity());
        assertEquals(Optional.empty(), of3(two).tryAcquire());
        held.close();
    }

    @Test
    void aPathThatHasGoneAndComeAgainHasTheDeclaredCapacity() throws Exception {
        of3(one).acquire().close();
        of3(one).resize(5);
        of3(one).permits(5).acquire().close();
        assertEquals(List.of(PATH), reapAll());
        Lease first = of3(one).acquire();
        Lease second = of3(one).permits(2).acquire();
        assertEquals(Optional.empty(), of3(one).tryAcquire(), "by the client that knew of five");
        assertEquals(Optional.empty(), of3(two).tryAcquire());
        assertEquals(3, of3(one).capacity());
        assertEquals(3, of3(two).capacity());
        first.close();
        second.close();
        assertTrue(second.token() > first.token());
    }

    @Test
    void manyResizesAmongManyRequestsLoseNoPermit() throws Exception {
        SplittableRandom random = new SplittableRandom(11);
        AtomicInteger used = new AtomicInteger();
        AtomicInteger broken = new AtomicInteger();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            ZkLockClient client = List.of(one, two, three).get(random.nextInt(3));
            if (i % 10 == 0) {
                of3(client).resize(random.nextInt(2, 7));
            }
            int n = random.nextInt(1, 3);
            all.add(of3(client).permits(n).acquireAsync().thenAccept(lease -> {
                if (used.addAndGet(n) > 6) {
                    broken.incrementAndGet();
                }
                used.addAndGet(-n);
                lease.close();
            }));
        }
        for (CompletableFuture<Void> done : all) {
            done.get(10, TimeUnit.SECONDS);
        }
        assertEquals(0, broken.get());
        of3(one).resize(4);
        of3(two).permits(2).acquire();
        assertTrue(of3(three).permits(2).tryAcquire().isPresent());
        assertEquals(0, of3(one).availablePermits());
    }

    @Test
    void permitsUpToTheLargestInt_areServedAndCounted() throws Exception {
        int all = Integer.MAX_VALUE;
        Acquirable billion = two.semaphore(PATH, all).permits(1_000_000_000);
        Lease large = one.semaphore(PATH, all)
                .permits(2_000_000_000)
                .tryAcquire(Duration.ofSeconds(10))
                .orElseThrow();
        assertEquals(Optional.empty(), billion.tryAcquire());
        assertEquals(all - 2_000_000_000, two.semaphore(PATH, all).availablePermits());
        CompletableFuture<Lease> whole = queued(three.semaphore(PATH, all).permits(all));
        large.close();
        Lease granted = soon(whole);
        assertEquals(Optional.empty(), billion.tryAcquire());
        granted.close();
        billion.tryAcquire().orElseThrow().close();
        awaitNothingLeft(PATH);
    }

    // ---- wake-ups

    @Test
    void oneReleaseWakesWaitersOfAtMostAllPermitsHoweverManyWait() throws Exception {
        for (int capacity : List.of(2, 3)) {
            String path = "/crowded/" + capacity;
            List<Lease> held = new ArrayList<>();
            for (int i = 0; i < capacity; i++) {
                held.add(one.semaphore(path, capacity).acquire());
            }
            List<FaultProxy> proxies = new ArrayList<>();
            List<Semaphore> waiters = new ArrayList<>();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                FaultProxy proxy = proxy();
                proxies.add(proxy);
                Semaphore waiter = patient(proxy).semaphore(path, capacity);
                waiters.add(waiter);
                waiting.add(waiter.acquireAsync());
                awaitRequests(path, capacity + i + 1);
                settle(waiter);
            }
            List<Wire.Mark> marks = proxies.stream().map(FaultProxy::mark).toList();
            held.get(capacity - 1).close();
            Lease granted = soon(waiting.get(0));
            waiters.forEach(OnOneServer::settle); // whoever was told anything has it by now
            List<Integer> woken = IntStream.range(0, 20)
                    .filter(i -> proxies.get(i).since(marks.get(i)).watchEvents() > 0)
                    .boxed()
                    .toList();
            assertTrue(woken.size() <= capacity, "woken: " + woken);
            assertTrue(woken.contains(0));
            granted.close();
            soon(waiting.get(1));
            assertEquals(18, waiting.stream().filter(future -> !future.isDone()).count());
        }
    }
}
