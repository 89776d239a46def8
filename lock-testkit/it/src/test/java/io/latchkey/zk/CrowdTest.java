// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Many at once. */
@Timeout(120)
class CrowdTest extends OnOneServer {
    private final ZkLockClient one = client("one");

    CrowdTest() throws InterruptedException {}

    /** An old worked example of this recipe: 1,000 threads on each of two keys of one client. */
    @Test
    @Tag("slow")
    void thousandThreadsAreServed_onEachOfTwoKeys() throws Exception {
        int threads = 1000;
        List<Thread> all = new ArrayList<>();
        List<List<Long>> tokens = new ArrayList<>();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        for (int key = 0; key < 2; key++) {
            Mutex mutex = one.mutex("/key/" + key);
            List<Long> order = Collections.synchronizedList(new ArrayList<>());
            AtomicInteger holders = new AtomicInteger();
            tokens.add(order);
            for (int i = 0; i < threads; i++) {
                all.add(new Thread(() -> {
                    try (Lease lease = mutex.acquire()) {
                        if (holders.incrementAndGet() != 1) {
                            overlaps.incrementAndGet();
                        }
                        order.add(lease.token());
                        inside.incrementAndGet();
                        holders.decrementAndGet();
                    } catch (InterruptedException unexpected) {
                        Thread.currentThread().interrupt();
                    }
                }));
            }
        }
        long before = threadsOfTheLibrary();
        all.forEach(Thread::start);
        long during = threadsOfTheLibrary();
        for (Thread thread : all) {
            thread.join();
        }
        assertEquals(2 * threads, inside.get(), "no wake-up was lost");
        assertEquals(0, overlaps.get());
        for (List<Long> order : tokens) {
            assertEquals(order.stream().sorted().toList(), order, "granted in the order of their nodes");
        }
        assertTrue(during <= before + 4, "threads of the library: " + before + ", then " + during);
        awaitWatches(0);
    }

    /** Pinned carriers would stop everything: there are two of them, and ten thousand wait. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    @SuppressWarnings("LockNotBeforeTry") // the wait for the lock is what is looked at
    void tenThousandVirtualThreads() throws Exception {
        int threads = 10_000;
        Mutex mutex = one.mutex("/virtual");
        Lock view = mutex.asLock();
        Lease held = mutex.acquire();
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            boolean byView = i % 2 == 0;
            startVirtual(() -> {
                try {
                    if (byView) {
                        view.lock();
                        view.unlock();
                    } else {
                        mutex.run(Lease::ensureValid);
                    }
                    done.countDown();
                } catch (InterruptedException unexpected) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        Eventually.holds(
                "all wait",
                Duration.ofSeconds(30),
                () -> requestsUnder("/virtual").size() == threads + 1);
        // The carriers are free: another virtual thread runs at once while ten thousand are parked.
        CompletableFuture<Boolean> free = new CompletableFuture<>();
        Stopwatch watch = Stopwatch.start();
        startVirtual(() -> free.complete(true));
        assertTrue(free.get(30, TimeUnit.SECONDS));
        long took = watch.stop();
        assertTrue(took < 1000, took + " ms");
        held.close();
        assertTrue(done.await(60, TimeUnit.SECONDS), done.getCount() + " still wait");
    }

    /** {@code Thread.startVirtualThread}, which the release that this is compiled for does not know. */
    private static void startVirtual(Runnable task) throws ReflectiveOperationException {
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    private static long threadsOfTheLibrary() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("latchkey-"))
                .count();
    }
}
