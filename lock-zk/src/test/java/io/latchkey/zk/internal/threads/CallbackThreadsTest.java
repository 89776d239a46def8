// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.SystemClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CallbackThreadsTest {
    private final Clock time = new SystemClock("test-timer", Duration.ofSeconds(1));
    private final BlockingQueue<Thread> ran = new LinkedBlockingQueue<>();

    private Thread runOn(Executor given) throws InterruptedException {
        try (CallbackThreads callbacks = new CallbackThreads("test-callback", Optional.of(given), time)) {
            callbacks.execute(() -> ran.add(Thread.currentThread()));
            Thread on = ran.poll(10, TimeUnit.SECONDS);
            assertNull(ran.poll(50, TimeUnit.MILLISECONDS), "ran twice");
            return on;
        }
    }

    @Test
    void taskRunsElsewhere_whenTheExecutorRunsItInPlace() throws Exception {
        assertNotEquals(Thread.currentThread(), runOn(Runnable::run));
    }

    @Test
    void taskRunsOnce_whenTheExecutorThrows() throws Exception {
        assertEquals(
                "test-callback",
                runOn(task -> {
                            throw new IllegalStateException("thrown by a test");
                        })
                        .getName());
        assertEquals(
                "test-callback",
                runOn(task -> {
                            task.run();
                            throw new OutOfMemoryError("thrown by a test");
                        })
                        .getName());
    }

    /** A pool whose queue has no bound starts no thread beyond its core. */
    @Test
    void fourTasksRunSideBySide_whenEachOfThemBlocks() throws Exception {
        int threads = 4;
        CountDownLatch begun = new CountDownLatch(threads);
        CompletableFuture<Void> over = new CompletableFuture<>();
        try (CallbackThreads callbacks = new CallbackThreads("test-callback", Optional.empty(), time)) {
            for (int i = 0; i < threads; i++) {
                callbacks.execute(() -> {
                    begun.countDown();
                    over.join();
                });
            }
            assertTrue(begun.await(10, TimeUnit.SECONDS), () -> begun.getCount() + " tasks wait for a thread");
        } finally {
            over.complete(null);
        }
    }

    /** As the notice of a loss, when the thread that closes the client was interrupted. */
    @Test
    void taskRunsAndItsThreadEnds_whenItComesAfterTheClose() throws Exception {
        CallbackThreads callbacks = new CallbackThreads("test-callback", Optional.empty(), time);
        callbacks.execute(() -> ran.add(Thread.currentThread()));
        Thread before = ran.poll(10, TimeUnit.SECONDS);
        callbacks.close();
        callbacks.execute(() -> ran.add(Thread.currentThread()));
        Thread behind = ran.poll(10, TimeUnit.SECONDS);
        for (Thread each : List.of(before, behind)) {
            each.join(5_000); // half of the time for which a thread waits for work before the close
            assertFalse(each.isAlive());
        }
    }

    /** A new thread is a daemon if its creator is one. */
    @Test
    void threadsEndWhenTheyAreIdle_andKeepNoProcessAlive() throws Exception {
        ThreadPoolExecutor pool = DaemonThreads.pool(4, "test-callback");
        CompletableFuture<Thread> made = new CompletableFuture<>();
        Thread creator = new Thread(() -> made.complete(pool.getThreadFactory().newThread(() -> {})));
        creator.setDaemon(false);
        creator.start();
        assertTrue(made.get(10, TimeUnit.SECONDS).isDaemon());
        assertTrue(pool.allowsCoreThreadTimeOut());
        assertEquals(10, pool.getKeepAliveTime(TimeUnit.SECONDS));
    }

    @Test
    void taskRuns_whenItsThreadCanBeStartedLater() throws Exception {
        AtomicInteger refused = new AtomicInteger();
        ThreadPoolExecutor pool = DaemonThreads.pool(4, "test-callback");
        ThreadFactory starts = pool.getThreadFactory();
        pool.setThreadFactory(task -> {
            if (refused.incrementAndGet() <= 3) {
                throw new OutOfMemoryError("unable to create native thread (thrown by a test)");
            }
            return starts.newThread(task);
        });
        try (CallbackThreads callbacks = new CallbackThreads(pool, Optional.empty(), time)) {
            callbacks.execute(() -> ran.add(Thread.currentThread()));
            assertEquals("test-callback", ran.poll(10, TimeUnit.SECONDS).getName());
        }
    }
}
