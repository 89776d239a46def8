// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.Stopwatch;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a mutex promises while nothing fails. */
@Timeout(30)
class MutexTest extends OnOneServer {
    private final ZkLockClient one = client("one");
    private final ZkLockClient two = client("two");

    @Test
    void oneHoldsAndTheOtherWaitsItsTurn() throws Exception {
        Lease first = one.mutex("/m").acquire();
        CompletableFuture<Lease> second = two.mutex("/m").acquireAsync();
        awaitQueue(two.mutex("/m"), 2);
        assertFalse(second.isDone());

        assertEquals(ReleaseOutcome.RELEASED, first.release());
        Lease granted = second.get(5, TimeUnit.SECONDS);
        assertEquals(LeaseState.HELD, granted.state());
        assertEquals(LeaseState.RELEASED, first.state());
        assertTrue(granted.token() > first.token());
        granted.close();
    }

    @Test
    void theTokenIsTheCreationZxidOfTheNode() throws Exception {
        one.mutex("/m").acquire().close();
        Lease lease = one.mutex("/m").acquire();
        assertEquals(lease.token(), requestsUnder("/m").get(0).created());
    }

    @Test
    void aFreshPathAndItsLevelsAreCreatedAsContainers() throws Exception {
        Lease lease = one.mutex("/a/b/c").acquire();
        assertEquals("/a/b/c", lease.path());
        assertEquals(lease.token(), requestsUnder("/a/b/c").get(0).created());
        lease.close();
        // An empty container is reaped level by level, the deepest first.
        assertEquals(List.of("/a/b/c", "/a/b", "/a"), reapAll());
    }

    @Test
    void tokensGrowAcrossNewContainers() throws Exception {
        Lease first = one.mutex("/m").acquire();
        first.close();
        reapAll();
        Lease second = one.mutex("/m").acquire();
        assertTrue(second.token() > first.token());
    }

    @Test
    void aTryThatFailsIsEmptyAndLeavesNothing() throws Exception {
        Lease held = one.mutex("/m").acquire();
        assertEquals(Optional.empty(), two.mutex("/m").tryAcquire());
        assertEquals(1, requestsUnder("/m").size(), "gone when the try returns");
        assertEquals(Optional.empty(), two.mutex("/m").tryAcquire(Duration.ZERO));

        Stopwatch watch = Stopwatch.start();
        long start = System.nanoTime();
        assertEquals(Optional.empty(), two.mutex("/m").tryAcquire(Duration.ofMillis(200)));
        long waited = Duration.ofNanos(System.nanoTime() - start).toMillis();
        long took = watch.stop();
        assertTrue(waited >= 200, waited + " ms");
        assertTrue(took < 600, took + " ms");
        awaitNoRequestBut(held, "/m");
        awaitWatches(0);
        assertTrue(held.isValid());
    }

    @Test
    void aTryOnAFreeLockHolds() throws Exception {
        assertTrue(one.mutex("/m").tryAcquire().isPresent());
        assertTrue(two.mutex("/n").tryAcquire(Duration.ofSeconds(10)).isPresent());
    }

    @Test
    void everyCallIsARequestOfItsOwnAlsoFromTheSameThread() throws Exception {
        Lease held = one.mutex("/m").acquire();
        assertEquals(Optional.empty(), one.mutex("/m").tryAcquire());
        held.close();
    }

    @Test
    void cancellingLeavesTheQueue() throws Exception {
        Lease held = one.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = two.mutex("/m").acquireAsync();
        CompletableFuture<Lease> behind = one.mutex("/m").acquireAsync();
        awaitQueue(one.mutex("/m"), 3);
        assertTrue(waiting.cancel(true));
        awaitQueue(one.mutex("/m"), 2);
        held.close();
        behind.get(5, TimeUnit.SECONDS).close();
        awaitQueue(one.mutex("/m"), 0);
        awaitWatches(0);
    }

    @Test
    void aFutureThatTimesOutByItselfLeavesTheQueueToo() throws Exception {
        Lease held = one.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = two.mutex("/m").acquireAsync().orTimeout(100, TimeUnit.MILLISECONDS);
        assertThrows(java.util.concurrent.ExecutionException.class, waiting::get);
        awaitNoRequestBut(held, "/m");
    }

    @Test
    void anAsynchronousTryThatRunsOutOfTimeIsEmpty() throws Exception {
        Lease held = one.mutex("/m").acquire();
        assertEquals(
                Optional.empty(),
                two.mutex("/m").tryAcquireAsync(Duration.ofMillis(100)).get(5, TimeUnit.SECONDS));
        awaitNoRequestBut(held, "/m");
    }

    @Test
    void whatDependsOnAFutureRunsWhereCallbacksRun() throws Exception {
        LinkedBlockingQueue<Runnable> callbacks = new LinkedBlockingQueue<>();
        ZkLockClient observed = client(builder -> builder.callbackExecutor(callbacks::add));
        List<String> done = new ArrayList<>();

        CompletableFuture<Void> acquired = observed.mutex("/m").acquireAsync().thenAccept(lease -> {
            lease.close();
            done.add("acquired");
        });
        runNext(callbacks, acquired);
        Lease held = observed.mutex("/n").acquire();
        runNext(callbacks, held.releaseAsync().thenAccept(outcome -> done.add("released")));
        Lease losing = observed.mutex("/n").acquire();
        CompletableFuture<Void> lost = losing.lost().thenAccept(cause -> done.add("lost"));
        observed.close();
        runNext(callbacks, lost);
        assertEquals(List.of("acquired", "released", "lost"), done);
    }

    /** Nothing has happened until the callback runs, and it runs here. */
    private static void runNext(LinkedBlockingQueue<Runnable> callbacks, CompletableFuture<Void> dependent)
            throws InterruptedException {
        Runnable callback = callbacks.poll(5, TimeUnit.SECONDS);
        assertNotNull(callback);
        assertFalse(dependent.isDone());
        callback.run();
        assertTrue(dependent.isDone());
    }

    /** Decision 1: the thread that brings the event wakes who waits; whatever runs callbacks has no part in it. */
    @Test
    void whoWaitsIsWokenWithoutAnotherThreadBetween() throws Exception {
        LinkedBlockingQueue<Runnable> neverRun = new LinkedBlockingQueue<>();
        ZkLockClient waiting = client(builder -> builder.callbackExecutor(neverRun::add));
        ZkLockClient other = client("other");
        for (int round = 0; round < 3; round++) {
            Lease held = other.mutex("/m").acquire();
            FutureTask<Lease> next = new FutureTask<>(() -> waiting.mutex("/m").acquire());
            new Thread(next).start();
            awaitQueue(other.mutex("/m"), 2);
            held.close();
            Lease granted = next.get(5, TimeUnit.SECONDS);
            assertTrue(granted.isValid());
            granted.close();
        }
        assertEquals(0, neverRun.size());
    }

    @Test
    void theClientsOwnCallbacksHaveThreadsOfTheirOwn() throws Exception {
        AtomicReference<String> thread = new AtomicReference<>("");
        Lease held = one.mutex("/m").acquire();
        CompletableFuture<Void> told = two.mutex("/m").acquireAsync().thenAccept(lease -> {
            thread.set(Thread.currentThread().getName());
            lease.close();
        });
        held.close();
        told.get(5, TimeUnit.SECONDS);
        assertTrue(thread.get().startsWith("latchkey-callback"), thread.get());
    }

    @Test
    void interruptionLeavesNothingBehind() throws Exception {
        Lease held = one.mutex("/m").acquire();
        CountDownLatch interrupted = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            try {
                two.mutex("/m").acquire();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
        });
        waiter.start();
        awaitQueue(one.mutex("/m"), 2);
        waiter.interrupt();
        assertTrue(interrupted.await(5, TimeUnit.SECONDS));
        awaitNoRequestBut(held, "/m");
        awaitWatches(0);
    }

    @Test
    void anInterruptedThreadSendsNothing() throws Exception {
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> one.mutex("/never").acquire());
        assertFalse(Thread.interrupted());
        // Had anything been sent, it would have been carried out before this.
        assertTrue(one.mutex("/m").tryAcquire().isPresent());
        assertNeverMade("/never");
    }

    @Test
    void executesAround() throws Exception {
        Mutex mutex = one.mutex("/m");
        assertEquals("/m", mutex.call(Lease::path));
        assertThrows(
                IOException.class,
                () -> mutex.run(lease -> {
                    throw new IOException("body");
                }));
        awaitQueue(mutex, 0);
        String nothing = mutex.call(lease -> null);
        assertEquals(null, nothing);
    }

    @Test
    void theQueueTellsWhoHoldsAndWhoWaits() throws Exception {
        Lease held = one.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = two.mutex("/m").acquireAsync();
        awaitQueue(one.mutex("/m"), 2);
        List<Contender> queue = one.mutex("/m").queue();
        assertEquals(
                List.of(Contender.Standing.HOLDS, Contender.Standing.WAITS),
                queue.stream().map(Contender::standing).toList());
        assertEquals(List.of("one", "two"), queue.stream().map(Contender::label).toList());
        assertEquals(ProcessHandle.current().pid(), queue.get(0).processId());
        assertEquals(held.token(), queue.get(0).token());
        assertEquals(Contender.Access.EXCLUSIVE, queue.get(0).access());
        assertFalse(queue.get(0).since().isAfter(queue.get(1).since()));
        assertTrue(waiting.cancel(false));
    }

    @Test
    void theQueueOfAPathThatIsNotThereIsEmpty() {
        assertEquals(List.of(), one.mutex("/nowhere").queue());
    }

    @Test
    void releasingTwiceIsHarmless() throws Exception {
        Lease lease = one.mutex("/m").acquire();
        assertEquals(ReleaseOutcome.RELEASED, lease.release());
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, lease.release());
        lease.close();
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, lease.releaseAsync().get(5, TimeUnit.SECONDS));
        assertFalse(lease.lost().isDone());
        assertThrows(IllegalStateException.class, lease::ensureValid);
    }

    @Test
    void aHeldLeaseStaysValidForManySessionTimeouts() throws Exception {
        Lease lease = one.mutex("/m").acquire();
        CompletableFuture<LossCause> lost = lease.lost();
        // What is not prolonged is over by then.
        assertThrows(
                java.util.concurrent.TimeoutException.class,
                () -> lost.get(LONG_SESSION.plus(SESSION).toMillis(), TimeUnit.MILLISECONDS));
        assertTrue(lease.isValid());
        assertTrue(lease.remaining().compareTo(Duration.ZERO) > 0);
        assertDoesNotThrow(lease::ensureValid);
        // A caller that completes what lost() gave does not touch the lease.
        lost.complete(LossCause.NODE_DELETED);
        lost.cancel(true);
        assertEquals(LeaseState.HELD, lease.state());
        assertFalse(lease.lost().isDone());
    }

    @Test
    void waitersAreServedInTheOrderOfTheirRequests() throws Exception {
        Lease held = one.mutex("/m").acquire();
        List<Integer> served = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            int me = i;
            Mutex mutex = (i % 3 == 0 ? one : two).mutex("/m");
            all.add(mutex.acquireAsync().thenAccept(lease -> {
                served.add(me);
                lease.close();
            }));
            awaitQueue(one.mutex("/m"), i + 2);
        }
        held.close();
        for (CompletableFuture<Void> done : all) {
            done.get(10, TimeUnit.SECONDS);
        }
        assertEquals(IntStream.range(0, 30).boxed().toList(), served);
        awaitQueue(one.mutex("/m"), 0);
        awaitWatches(0);
    }

    @Test
    void stripesSpreadKeysTheSameWayOnEveryClient() throws Exception {
        for (int key = 0; key < 50; key++) {
            Lease held = one.stripedMutex("/s", 8).forKey(key).acquire();
            assertEquals(
                    Optional.empty(),
                    two.stripedMutex("/s", 8).forKey(String.valueOf(key)).tryAcquire());
            held.close();
        }
        assertEquals(8, one.stripedMutex("/s", 8).stripes());
    }
}
