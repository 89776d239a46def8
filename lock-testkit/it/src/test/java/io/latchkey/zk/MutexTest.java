// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.Mutex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a mutex does on its server while nothing fails, beyond what the contracts ask of every implementation. */
@Timeout(30)
class MutexTest extends OnOneServer {
    private final ZkLockClient one = client("one");

    MutexTest() throws InterruptedException {}

    @Test
    void tokenIsTheCreationZxidOfTheNode() throws Exception {
        one.mutex("/m").acquire().close();
        Lease lease = one.mutex("/m").acquire();
        assertEquals(lease.token(), requestsUnder("/m").get(0).created());
    }

    @Test
    void viewHasTheLeaseOfItsThread() throws Exception {
        Mutex mutex = one.mutex("/m");
        assertEquals(Optional.empty(), mutex.leaseOfView());
        Lease lease;
        mutex.asLock().lock();
        try {
            lease = one.mutex("/m").leaseOfView().orElseThrow();
            assertEquals(lease.token(), requestsUnder("/m").get(0).created());
            assertTrue(lease.isValid());
            assertEquals(
                    Optional.empty(),
                    CompletableFuture.supplyAsync(mutex::leaseOfView).join());
            assertEquals(Optional.empty(), one.mutex("/other").leaseOfView());
        } finally {
            mutex.asLock().unlock();
        }
        assertFalse(lease.isValid());
        assertEquals(Optional.empty(), mutex.leaseOfView());
    }

    /** What a class of threads may say of itself. */
    private static final class SameThread extends Thread {
        SameThread(Runnable task) {
            super(task);
        }

        @Override
        public long getId() {
            return 7;
        }

        @Override
        @SuppressWarnings("EqualsDoesntOverrideHashCode") // nor does hashCode tell it
        public boolean equals(@Nullable Object other) {
            return other instanceof SameThread;
        }

        @Override
        public int hashCode() {
            return 7;
        }
    }

    private static <T> T inThread(Callable<T> task) throws Exception {
        FutureTask<T> result = new FutureTask<>(task);
        new SameThread(result).start();
        return result.get(20, TimeUnit.SECONDS);
    }

    @Test
    @SuppressWarnings("LockNotBeforeTry") // the thread ends
    void viewIsHeldByOneThread_whateverTheClassOfThreadsSays() throws Exception {
        Lock view = one.mutex("/m").asLock();
        assertTrue(inThread(() -> view.tryLock()));
        assertFalse(inThread(() -> view.tryLock()), "two hold");
        assertEquals(Optional.empty(), inThread(one.mutex("/m")::leaseOfView));
    }

    /** With too little room another thread deletes the node, and with none at all the lease has not ended. */
    @Test
    @Tag("slow")
    void nodeIsDeleted_whereverTheStackOfTheReleasingThreadEnds() throws Exception {
        Mutex mutex = one.mutex("/m");
        for (int frames = 0; frames < 150; frames++) {
            Lease lease = mutex.acquire();
            int left = frames;
            Thread deep = new Thread(null, () -> fromTheEndOfTheStack(left, lease::close), "deep", 256 * 1024);
            deep.start();
            deep.join();
            lease.close();
            Optional<Lease> next = mutex.tryAcquire(Duration.ofSeconds(10));
            assertTrue(next.isPresent(), () -> "held by no one, as it was released " + left + " frames from the end");
            next.get().close();
        }
    }

    /** An outer frame unlocks it again, unless the view has said that it is unlocked. */
    @Test
    @Tag("slow")
    void viewIsUnlocked_whereverTheStackOfItsThreadEnds() throws Exception {
        Mutex mutex = one.mutex("/m");
        for (int frames = 0; frames < 150; frames++) {
            int left = frames;
            Runnable holder = () -> {
                Lock view = mutex.asLock();
                AtomicBoolean unlocked = new AtomicBoolean();
                view.lock();
                int unused = fromTheEndOfTheStack(left, () -> {
                    view.unlock();
                    unlocked.set(true);
                });
                if (!unlocked.get()) {
                    view.unlock();
                }
            };
            Thread deep = new Thread(null, holder, "deep", 256 * 1024);
            deep.start();
            deep.join();
            Optional<Lease> next = mutex.tryAcquire(Duration.ofSeconds(10));
            assertTrue(next.isPresent(), () -> "held by no one, as it was unlocked " + left + " frames from the end");
            next.get().close();
        }
    }

    /** Runs the task where so many calls fit on the stack, and returns how many do. */
    @SuppressWarnings("InfiniteRecursion") // until there is no more room
    private static int fromTheEndOfTheStack(int calls, Runnable task) {
        int fit;
        try {
            fit = fromTheEndOfTheStack(calls, task) + 1;
        } catch (StackOverflowError end) {
            fit = 0;
        }
        if (fit == calls) {
            try {
                task.run();
            } catch (StackOverflowError noRoom) {
                return fit;
            }
        }
        return fit;
    }

    /** Every client has to find the same one, with another default character set and in later versions. */
    @Test
    void stripeOfAKeyIsThatOfItsText_inUtf8() throws Exception {
        try (Lease lease = one.stripedMutex("/s", 1_000_000)
                .forKey("M\u00fcller \ud83d\ude00")
                .acquire()) {
            assertEquals("/s/136170", lease.path());
        }
    }

    @Test
    void newPathAndItsParents_areCreatedAsContainers() throws Exception {
        Lease lease = one.mutex("/a/b/c").acquire();
        assertEquals("/a/b/c", lease.path());
        assertEquals(lease.token(), requestsUnder("/a/b/c").get(0).created());
        lease.close();
        // An empty container is reaped level by level, the deepest first.
        assertEquals(List.of("/a/b/c", "/a/b", "/a"), reapAll());
    }

    /** The clients of kazoo rely on an empty path not being deleted. */
    @Test
    void newPathBesideKazoo_isKept() throws Exception {
        client(builder -> builder.layout(Layout.KAZOO)).mutex("/k").acquire().close();
        assertEquals(List.of(), reapAll());
    }

    @Test
    void dependentStages_runOnTheCallbackExecutor() throws Exception {
        LinkedBlockingQueue<Runnable> callbacks = new LinkedBlockingQueue<>();
        ZkLockClient observed = client(builder -> builder.callbackExecutor(callbacks::add));
        List<String> done = new ArrayList<>();

        CompletableFuture<Void> acquired = observed.mutex("/m").acquireAsync().thenAccept(lease -> {
            lease.close();
            done.add("acquired");
        });
        runNext(callbacks, acquired);
        Lease held = observed.mutex("/n").acquire();
        runNext(
                callbacks,
                held.releaseAsync().thenAccept(outcome -> done.add("released")).toCompletableFuture());
        Lease losing = observed.mutex("/n").acquire();
        CompletableFuture<Void> lost =
                losing.lost().thenAccept(cause -> done.add("lost")).toCompletableFuture();
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

    /**
     * Decision 1: the thread that delivers the event wakes the waiting thread; the callback executor is not involved.
     */
    @Test
    void waitingThread_isWokenByTheEventThread() throws Exception {
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
    void callReturnsNull_whenItsBodyDoes() throws Exception {
        String nothing = one.mutex("/m").call(lease -> null);
        assertNull(nothing);
    }
}
