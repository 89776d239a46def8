// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ServerNode;
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

/** What a semaphore does on its server while nothing fails, beyond what the contracts ask of every implementation. */
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

    // ---- holders

    /**
     * Behind two holders of two permits, the request two places ahead is the wrong one to watch: the newer holder may
     * leave first.
     */
    @ParameterizedTest
    @ValueSource(strings = {"012", "021", "102", "120", "201", "210"})
    void waitersAreGrantedAsSoonAsTheyFit_inAnyOrderOfReleases(String order) throws Exception {
        ZkLockClient four = client("four");
        // The waiter's holders are of other clients; or of its own, where a release is known before the server has it.
        for (List<ZkLockClient> clients : List.of(List.of(one, two, four), List.of(three, three, three))) {
            for (int wanted = 1; wanted <= 3; wanted++) {
                List<Lease> holders = new ArrayList<>();
                for (ZkLockClient client : clients) {
                    holders.add(of3(client).acquire());
                }
                CompletableFuture<Lease> waiter = queued(of3(three).permits(wanted));
                CompletableFuture<Lease> behind = queued(of3(clients.get(0)));
                for (int left = 0; left < wanted; left++) {
                    settle(of3(three), of3(clients.get(0)));
                    assertFalse(waiter.isDone() || behind.isDone(), left + " left, " + wanted + " wanted");
                    holders.get(order.charAt(left) - '0').close();
                }
                Lease granted = soon(waiter);
                settle(of3(clients.get(0)));
                assertFalse(behind.isDone(), "nothing is left over");
                granted.close();
                soon(behind).close();
                holders.forEach(Lease::close);
                awaitNothingLeft(PATH);
            }
        }
    }

    @Test
    void manyWaitersAreGranted_byOneReleaseOfManyPermits() throws Exception {
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

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 8, 9, 20})
    void holdersNeverExceedTheCapacity_inACrowd(int capacity) throws Exception {
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
    void hundredHoldersAreGranted_withAHundredPermits() throws Exception {
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

    /** The local form: a waiter that leaves is no release, whatever stands right behind it. */
    @Test
    void localWaiterThatLeaves_freesNoPermits() throws Exception {
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

    // ---- mistakes

    /** The first use need not be an acquire. */
    @Test
    void errorHasBothNumbers_whenAnotherCapacityIsDeclared() throws Exception {
        of3(one).acquire();
        Semaphore of5 = two.semaphore(PATH, 5);
        for (Executable use : List.<Executable>of(
                of5::capacity,
                of5::availablePermits,
                () -> of5.resize(4),
                of5::acquire,
                of5::tryAcquire,
                () -> of5.tryAcquire(Duration.ofSeconds(5)),
                () -> of5.permits(2).acquire())) {
            assertTellsBothNumbers(assertThrows(LockMismatchException.class, use));
        }
        assertTellsBothNumbers(refusal(LockMismatchException.class, of5.acquireAsync()));
        assertTellsBothNumbers(refusal(LockMismatchException.class, of5.tryAcquireAsync(Duration.ofSeconds(5))));
        assertEquals(1, requestsUnder(PATH).size());
        assertEquals(3, of3(two).capacity(), "the same client may be right elsewhere");
        awaitWatches(0);
    }

    @Test
    void declaredCapacityIsCompared_afterAResize() throws Exception {
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
    void capacityIsRefused_whenThePathIsOfAnotherKind() throws Exception {
        one.mutex("/m").acquire().close();
        assertThrows(LockMismatchException.class, () -> two.semaphore("/m", 1).capacity());
        assertThrows(LockMismatchException.class, () -> two.semaphore("/m", 1).resize(2));
        two.mutex("/m").tryAcquire().orElseThrow().close();
    }

    // ---- views

    @Test
    void capacityIsTheDeclaredOne_withoutAPath() throws Exception {
        assertEquals(3, of3(one).capacity());
        assertEquals(3, of3(one).availablePermits());
        assertNeverMade(PATH);
    }

    @Test
    void queueShowsLabelsAndAccess() throws Exception {
        Lease held = of3(one).permits(2).acquire();
        CompletableFuture<Lease> waiting = queued(of3(two).permits(3));
        for (Acquirable lock : List.of(of3(three), of3(three).permits(2))) {
            List<Contender> queue = lock.queue();
            assertEquals(
                    List.of("one", "two"), queue.stream().map(Contender::label).toList());
            assertTrue(queue.stream().allMatch(request -> request.access() == Contender.Access.PERMITS));
            assertEquals(held.token(), queue.get(0).token());
        }
        assertTrue(waiting.cancel(false));
    }

    @Test
    void viewsThrow_whenTheServerIsAwayOrTheThreadIsInterrupted() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient asking = patient(proxy);
        of3(asking).acquire().close();
        // An answer that is there already would be taken in spite of the interrupt.
        try (HeldFrames answers = proxy.holdAnswers(RequestMatch.any().butHeartbeats())) {
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

    /** A list waits for the capacity that belongs to it. A node created in between exists but is not in that list. */
    @Test
    void requestKeepsItsNode_whenTheCapacityIsReadAgain() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient asking = patient(proxy);
        of3(asking).acquire().close();
        Lease all = of3(one).permits(3).acquire();
        of3(one).resize(4);
        HeldFrames lists = proxy.holdAnswers(RequestMatch.list());
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
    void waitersAreGranted_whenTheCapacityGrows() throws Exception {
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

    /**
     * After a shrink a holder may look like a waiter; if it is the newest that leaves, the waiter must still be woken.
     */
    @ParameterizedTest
    @ValueSource(strings = {"012", "021", "102", "120", "201", "210"})
    void waiterIsGrantedAfterAShrink_inAnyOrderOfReleases(String order) throws Exception {
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

    /** What another client has resized is known to the server alone. */
    @Test
    void permitsAreCheckedByTheServer_whenTheKnownCapacityIsOutdated() throws Exception {
        assertThrows(
                LockMismatchException.class, of3(one).permits(4)::acquire, "the path was not created, and not resized");
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

    @Test
    void resizeTakesEffect_onAnUnusedPath() throws Exception {
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
    void resizeToTheSameCapacity_changesNothing() throws Exception {
        Lease held = of3(one).permits(3).acquire();
        of3(two).resize(3);
        assertEquals(3, of3(one).capacity());
        assertEquals(Optional.empty(), of3(two).tryAcquire());
        held.close();
    }

    @Test
    void recreatedPathHasTheDeclaredCapacity() throws Exception {
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
    void releaseWakesWaitersOfAtMostAllPermits_inALongQueue() throws Exception {
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
            waiters.forEach(OnOneServer::settle); // all notifications have arrived by now
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
