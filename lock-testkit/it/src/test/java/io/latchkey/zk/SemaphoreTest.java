// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What a semaphore does on its server while nothing fails, beyond what the contracts ask of every implementation. */
@Timeout(30)
class SemaphoreTest extends OnOneServer {
    private static final String PATH = "/s";

    private final ZkLockClient one = client("one");
    private final ZkLockClient two = client("two");
    private final ZkLockClient three = client("three");

    SemaphoreTest() throws InterruptedException {}

    private static Semaphore of3(ZkLockClient client) {
        return client.semaphore(PATH, 3);
    }

    // ---- mistakes

    /** A container is removed some time after its last request, and the capacity with it. */
    @Test
    void resizeIsForgotten_onlyWhenThePathIsRemoved() throws Exception {
        makeNode("/kept");
        ZkLockClient one = client("one");
        for (String path : List.of("/kept", "/removed")) {
            one.semaphore(path, 2).resize(5);
            one.semaphore(path, 2).permits(5).acquire().close();
            awaitRequests(path, 0);
        }
        assertEquals(List.of("/removed"), reapAll());
        assertEquals(5, client("other").semaphore("/kept", 2).capacity());
        assertEquals(2, client("another").semaphore("/removed", 2).capacity());
    }

    @Test
    void declaredCapacityIsCompared_afterAResize() throws Exception {
        of3(one).resize(5);
        Semaphore of5 = two.semaphore(PATH, 5);
        LockMismatchException told = assertThrows(LockMismatchException.class, of5::tryAcquire);
        assertTrue(told.requested().contains("5"), told.requested());
        assertTrue(told.found().contains("3"), told.found());
        assertTrue(of3(two).tryAcquire().isPresent());
    }

    // ---- views

    @Test
    @Tag("slow")
    void viewsThrow_whenTheServerIsAwayOrTheThreadIsInterrupted() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient asking = patient(proxy);
        of3(asking).acquire().close();
        try (HeldFrames answers = proxy.holdAnswers(RequestMatch.any().butHeartbeats())) {
            for (Executable view : List.<Executable>of(
                    () -> of3(asking).capacity(), () -> of3(asking).availablePermits(), () -> of3(asking)
                            .resize(4))) {
                Thread.currentThread().interrupt();
                assertInterrupted(view);
                assertFalse(answers.firstCaught().isDone(), "it was interrupted before, so nothing was sent");
            }
        }
        server().stop();
        for (Executable view : List.<Executable>of(
                () -> of3(one).capacity(), () -> of3(one).availablePermits(), () -> of3(one).resize(4))) {
            assertEquals(
                    LockException.Reason.NO_ANSWER,
                    assertThrows(LockServiceUnavailableException.class, view).reason());
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
        CompletableFuture<Lease> first = queued(PATH, of3(asking));
        lists.firstCaught().get(10, TimeUnit.SECONDS);
        CompletableFuture<Lease> second = queued(PATH, of3(asking));
        List<ServerNode> made = requestsUnder(PATH);
        lists.release();
        soon(first).close();
        soon(second);
        settle(of3(asking));
        assertEquals(List.of(made.get(0), made.get(2)), requestsUnder(PATH));
        all.close();
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
        assertEquals("4 permits", told.requested());
        assertEquals("capacity 3", told.found());
    }

    /** A multi-lock makes the levels above all of its paths together. */
    @Test
    void noNodeIsLeft_whereTooManyPermitsOfANewPathAreRefused() throws Exception {
        Acquirable both = one.multiLock(
                one.mutex("/new/level/m"), one.semaphore("/new/pools/pool", 3).permits(4));
        assertThrows(LockMismatchException.class, both::acquire);
        awaitUntil("no level", () -> server().nodesUnder("/new").stream()
                .allMatch(node -> node.path().equals("/new")));
        assertTrue(
                server().nodesUnder("/").stream().anyMatch(node -> node.path().equals("/new")), "it made some");
    }

    /** One of them has read what the other changes meanwhile. */
    @Test
    void resizesAtTheSameTime_bothSucceed() throws Exception {
        for (int round = 0; round < 20; round++) {
            CompletableFuture<?> up = of3(one).resizeAsync(5);
            CompletableFuture<?> down = of3(two).resizeAsync(2);
            soon(up);
            soon(down);
            int capacity = of3(one).capacity();
            assertTrue(capacity == 5 || capacity == 2, () -> "capacity " + capacity);
            assertEquals(capacity, of3(two).capacity());
        }
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
    void permitsUpToTheLargestInt_areServedAndCounted() throws Exception {
        int all = Integer.MAX_VALUE;
        Acquirable billion = two.semaphore(PATH, all).permits(1_000_000_000);
        Lease large = one.semaphore(PATH, all)
                .permits(2_000_000_000)
                .tryAcquire(Duration.ofSeconds(10))
                .orElseThrow();
        assertEquals(Optional.empty(), billion.tryAcquire());
        assertEquals(all - 2_000_000_000, two.semaphore(PATH, all).availablePermits());
        CompletableFuture<Lease> whole = queued(PATH, three.semaphore(PATH, all).permits(all));
        large.close();
        Lease granted = soon(whole);
        assertEquals(Optional.empty(), billion.tryAcquire());
        granted.close();
        billion.tryAcquire().orElseThrow().close();
        awaitNothingLeft(PATH);
    }

    // ---- wake-ups

    @Test
    @Tag("slow")
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
            for (Semaphore waiter : waiters) {
                settle(waiter); // all notifications have arrived by now
            }
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
