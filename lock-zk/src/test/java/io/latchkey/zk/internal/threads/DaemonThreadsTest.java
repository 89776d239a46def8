// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.validity.SystemClock;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class DaemonThreadsTest {
    private static final int MOST = 4;

    private final SystemClock time = new SystemClock(DaemonThreads.factory("test-timer"), Duration.ofSeconds(1));
    private final BlockingQueue<Thread> ran = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> over = new CompletableFuture<>();

    @AfterEach
    void end() {
        over.complete(null);
        time.close();
    }

    private void runsHere() {
        ran.add(Thread.currentThread());
    }

    /** A pool whose queue has no bound starts no thread beyond its core. */
    @Test
    void tasksRunSideBySide_whenEachOfThemBlocks() throws Exception {
        CountDownLatch begun = new CountDownLatch(MOST);
        try (DaemonThreads threads = new DaemonThreads(MOST, "test-thread", time)) {
            for (int i = 0; i < MOST; i++) {
                threads.execute(() -> {
                    begun.countDown();
                    over.join();
                });
            }
            assertTrue(begun.await(10, TimeUnit.SECONDS), () -> begun.getCount() + " tasks wait for a thread");
        }
    }

    @Test
    void tasksBehindOneThatIsStuckBeginPromptlyAndInOrder() throws Exception {
        BlockingQueue<Integer> begun = new LinkedBlockingQueue<>();
        try (DaemonThreads threads = DaemonThreads.prompt(MOST, "test-thread", time)) {
            for (int stuck = 1; stuck < MOST; stuck++) {
                threads.execute(over::join);
            }
            long from = System.nanoTime();
            IntStream.range(0, 100).forEach(i -> threads.execute(() -> begun.add(i)));
            for (int i = 0; i < 100; i++) {
                assertEquals(i, begun.poll(10, TimeUnit.SECONDS));
            }
            assertTrue(System.nanoTime() - from < Duration.ofSeconds(2).toNanos(), "behind tasks that are stuck");
        }
    }

    @Test
    void noThreadIsAdded_whileTasksEnd() throws Exception {
        VirtualClock clock = new VirtualClock();
        Semaphore ends = new Semaphore(0);
        try (DaemonThreads threads = DaemonThreads.prompt(MOST, "test-thread", clock)) {
            for (int task = 0; task < 3; task++) {
                threads.execute(() -> {
                    runsHere();
                    ends.acquireUninterruptibly();
                });
            }
            Thread only = ran.poll(10, TimeUnit.SECONDS);
            ends.release();
            assertEquals(only, ran.poll(10, TimeUnit.SECONDS));
            List.copyOf(clock.timers()).forEach(Runnable::run);
            ends.release(2);
            assertEquals(only, ran.poll(10, TimeUnit.SECONDS), "one task has ended since the first was seen to wait");
        }
    }

    /** As the notice of a loss, when the thread that closes the client was interrupted. */
    @Test
    void taskRunsAndItsThreadEnds_whenItComesAfterTheClose() throws Exception {
        DaemonThreads threads = new DaemonThreads(MOST, "test-thread", time);
        threads.execute(this::runsHere);
        Thread before = ran.poll(10, TimeUnit.SECONDS);
        threads.close();
        threads.execute(this::runsHere);
        Thread behind = ran.poll(10, TimeUnit.SECONDS);
        for (Thread each : List.of(before, behind)) {
            each.join(5_000); // half of the time for which a thread waits for work before the close
            assertFalse(each.isAlive());
        }
    }

    @Test
    void taskRuns_whenItsThreadCanBeStartedLater() throws Exception {
        AtomicInteger refused = new AtomicInteger();
        ThreadFactory starts = DaemonThreads.factory("test-thread");
        ThreadFactory factory = task -> {
            if (refused.incrementAndGet() <= 3) {
                throw new OutOfMemoryError("unable to create native thread (thrown by a test)");
            }
            return starts.newThread(task);
        };
        try (DaemonThreads threads = new DaemonThreads(factory, MOST, MOST, time)) {
            threads.execute(this::runsHere);
            assertEquals("test-thread", ran.poll(10, TimeUnit.SECONDS).getName());
        }
    }

    /** With one thread that is replaced while it is stuck, and with several. The refusals outnumber the threads. */
    @ParameterizedTest
    @ValueSource(ints = {1, MOST})
    void tasksBehindOneThatIsStuckRun_whenTheirThreadsCanBeStartedLater(int usual) throws Exception {
        AtomicInteger started = new AtomicInteger();
        ThreadFactory starts = DaemonThreads.factory("test-thread");
        ThreadFactory factory = task -> {
            int number = started.incrementAndGet();
            if (number > 1 && number <= 3 * MOST) {
                throw new OutOfMemoryError("unable to create native thread (thrown by a test)");
            }
            return starts.newThread(task);
        };
        try (DaemonThreads threads = new DaemonThreads(factory, usual, MOST, time)) {
            for (int task = 0; task < MOST; task++) {
                threads.execute(() -> {
                    runsHere();
                    over.join();
                });
            }
            for (int task = 0; task < MOST; task++) {
                assertNotNull(ran.poll(10, TimeUnit.SECONDS), "a task waits for a thread");
            }
        }
    }

    /** A pool that finds no thread when it has queued a task starts one for it, and throws if it cannot. */
    @Test
    void tasksRunOnce_whenNoThreadCanBeStartedForOneThatIsQueued() throws Exception {
        BlockingQueue<String> begun = new LinkedBlockingQueue<>();
        AtomicInteger asked = new AtomicInteger();
        ThreadFactory starts = DaemonThreads.factory("test-thread");
        ThreadFactory factory = task -> switch (asked.incrementAndGet()) {
            case 1 -> null;
            case 2 -> throw new OutOfMemoryError("unable to create native thread (thrown by a test)");
            default -> starts.newThread(task);
        };
        try (DaemonThreads threads = new DaemonThreads(factory, 1, 1, time)) {
            List<String> tasks = List.of("first", "second", "third");
            tasks.forEach(task -> threads.execute(() -> begun.add(task)));
            for (String task : tasks) {
                assertEquals(task, begun.poll(10, TimeUnit.SECONDS));
            }
        }
    }

    /** Each of them may find that no thread can be started. */
    @Test
    void oneTimerIsSet_howeverManyTasksFindNoThread() throws Exception {
        VirtualClock clock = new VirtualClock();
        ThreadFactory none = task -> {
            throw new OutOfMemoryError("unable to create native thread (thrown by a test)");
        };
        try (DaemonThreads threads = new DaemonThreads(none, MOST, MOST, clock)) {
            for (int round = 0; round < 3; round++) {
                threads.execute(this::runsHere);
                threads.execute(this::runsHere);
                List<Runnable> due = List.copyOf(clock.timers());
                assertEquals(1, due.size());
                clock.timers().clear();
                due.forEach(Runnable::run);
            }
        }
    }

    /** A thread has what its creator has, unless it is made otherwise. */
    @Test
    @SuppressWarnings("ThreadPriorityCheck") // that it is not inherited
    void threadInheritsNothing() throws Exception {
        InheritableThreadLocal<String> alices = new InheritableThreadLocal<>();
        CompletableFuture<String> inherited = new CompletableFuture<>();
        CompletableFuture<Thread> made = new CompletableFuture<>();
        try (URLClassLoader loader = new URLClassLoader(new URL[0])) {
            Thread creator = new Thread(() -> {
                alices.set("alice");
                made.complete(DaemonThreads.factory("test-thread")
                        .newThread(() -> inherited.complete(String.valueOf(alices.get()))));
            });
            creator.setDaemon(false);
            creator.setPriority(Thread.MAX_PRIORITY);
            creator.setContextClassLoader(loader);
            creator.start();
            Thread thread = made.get(10, TimeUnit.SECONDS);
            thread.start();
            assertEquals("null", inherited.get(10, TimeUnit.SECONDS));
            assertTrue(thread.isDaemon());
            assertEquals(Thread.NORM_PRIORITY, thread.getPriority());
            assertEquals(DaemonThreads.class.getClassLoader(), thread.getContextClassLoader());
        }
        assertNull(alices.get());
    }
}
