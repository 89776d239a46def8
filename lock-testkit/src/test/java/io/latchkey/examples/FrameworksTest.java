// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.integration.support.locks.LockRegistry;

/** The adapters of docs/frameworks.md do what that page says of them. */
@LatchkeyTest(reconnects = Reconnects.FAST, sessionMillis = 4000)
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // what is asked is what a lock does without
class FrameworksTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    // ---- Spring Integration

    @Test
    void springsRegistryLocksAcrossClients(LockClient one, LockClient two) throws Exception {
        LockRegistry<Lock> mine = new LatchkeyLockRegistry(one, "/spring");
        LockRegistry<Lock> theirs = new LatchkeyLockRegistry(two, "/spring");
        Lock lock = mine.obtain("order/1");
        assertTrue(lock.tryLock());
        assertTrue(mine.obtain("order/1").tryLock(), "the same thread, the same key: re-entered");
        assertFalse(theirs.obtain("order/1").tryLock());
        assertTrue(theirs.obtain("order/2").tryLock(), "another key, another lock");
        assertThrows(
                TimeoutException.class,
                () -> theirs.executeLocked("order/1", Duration.ofMillis(50), () -> {
                    throw new AssertionError("another client holds");
                }));
        lock.unlock();
        lock.unlock();
        theirs.executeLocked(
                "order/1", SOON, () -> assertFalse(mine.obtain("order/1").tryLock()));
    }

    @Test
    void springsLockBelongsToItsThread(LockClient one) throws Exception {
        Lock lock = new LatchkeyLockRegistry(one, "/spring-threads").obtain("..");
        lock.lock();
        CompletableFuture<Void> byAnother = CompletableFuture.runAsync(lock::unlock);
        assertInstanceOf(
                IllegalMonitorStateException.class,
                assertThrows(ExecutionException.class, () -> byAnother.get(10, TimeUnit.SECONDS))
                        .getCause());
        lock.unlock();
    }

    @Test
    void unlockOfSpringsLockThrows_whenItWasLost(FaultyClient one) throws Exception {
        Lock lock = new LatchkeyLockRegistry(one.client(), "/spring-lost").obtain("k");
        lock.lock();
        Lease inTheSameSession = one.client().mutex("/spring-lost/told").acquire();
        one.expire(ExpiryOrder.BOTH).get(10, TimeUnit.SECONDS);
        inTheSameSession.lost().get(10, TimeUnit.SECONDS);
        assertThrows(LockOwnershipLostException.class, lock::unlock);
        assertTrue(lock.tryLock(10, TimeUnit.SECONDS), "it can be locked again");
        lock.unlock();
    }

    // ---- ShedLock

    @Test
    void shedLockSkipsATask_thatRunsElsewhere(LockClient one, LockClient two) throws Throwable {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        LockConfiguration nightly = task("nightly/report", Duration.ZERO);
        LockingTaskExecutor mine = new DefaultLockingTaskExecutor(new LatchkeyLockProvider(one, "/shed", timer));
        LockingTaskExecutor theirs = new DefaultLockingTaskExecutor(new LatchkeyLockProvider(two, "/shed", timer));
        List<String> ran = new ArrayList<>();
        mine.executeWithLock(
                (LockingTaskExecutor.Task) () -> {
                    ran.add("mine");
                    // In a thread of its own: within one, ShedLock knows itself that the task is running.
                    CompletableFuture.runAsync(
                                    () -> theirs.executeWithLock((Runnable) () -> ran.add("at the same time"), nightly))
                            .join();
                },
                nightly);
        theirs.executeWithLock((Runnable) () -> ran.add("theirs, afterwards"), nightly);
        assertEquals(List.of("mine", "theirs, afterwards"), ran);
        timer.shutdown();
    }

    @Test
    void shedLockKeepsTheLockOfAQuickTask(LockClient one, LockClient two) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        LockConfiguration hourly = task("hourly", Duration.ofMinutes(30));
        SimpleLock quick =
                new LatchkeyLockProvider(one, "/shed", timer).lock(hourly).orElseThrow();
        quick.unlock();
        assertTrue(new LatchkeyLockProvider(two, "/shed", timer).lock(hourly).isEmpty(), "kept for half an hour");
        Runnable afterHalfAnHour = timer.getQueue().element();
        afterHalfAnHour.run();
        assertTrue(new LatchkeyLockProvider(two, "/shed", timer).lock(hourly).isPresent());
        timer.shutdownNow();
    }

    private static LockConfiguration task(String name, Duration atLeast) {
        return new LockConfiguration(Instant.now(), name, Duration.ofHours(1), atLeast);
    }

    // ---- executors

    @Test
    void taskWaitsForItsLock_withoutAWorker(LockClient one, LockClient two) throws Exception {
        ExecutorService workers = Executors.newSingleThreadExecutor();
        LockedTasks tasks = new LockedTasks(workers);
        Lease held = two.mutex("/tasks/a").acquire();
        CompletableFuture<Long> waits = tasks.submit(one.mutex("/tasks/a"), Lease::token);
        CompletableFuture<Boolean> other = tasks.submit(one.mutex("/tasks/b"), Lease::isValid);
        assertTrue(other.get(10, TimeUnit.SECONDS), "the only worker is free");
        held.close();
        assertTrue(waits.get(10, TimeUnit.SECONDS) > held.token());
        assertEquals(List.of(), one.mutex("/tasks/a").queue(), "released");
        workers.shutdown();
    }

    @Test
    void lockIsReleased_whenTheTaskIsRejected(LockClient one, LockClient two) throws Exception {
        ExecutorService workers = Executors.newSingleThreadExecutor();
        workers.shutdown();
        CompletableFuture<String> refused =
                new LockedTasks(workers).submit(one.mutex("/tasks/refused"), lease -> "never");
        assertInstanceOf(
                RejectedExecutionException.class,
                assertThrows(ExecutionException.class, () -> refused.get(10, TimeUnit.SECONDS))
                        .getCause());
        assertTrue(two.mutex("/tasks/refused").tryAcquire(SOON).isPresent());
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void thousandVirtualThreadsTakeTurns(LockClient locks) throws Exception {
        Counter counter = new Counter();
        ExecutorService threads = virtualThreadPerTask();
        List<Future<Integer>> done = takeTurns(locks, threads, counter, 1000);
        for (Future<Integer> each : done) {
            each.get(30, TimeUnit.SECONDS);
        }
        assertEquals(1000, counter.value);
        threads.shutdown();
    }

    @Test
    void threadsOfAPoolTakeTurns(LockClient locks) throws Exception {
        Counter counter = new Counter();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        for (Future<Integer> each : takeTurns(locks, threads, counter, 40)) {
            each.get(30, TimeUnit.SECONDS);
        }
        assertEquals(40, counter.value);
        threads.shutdown();
    }

    /** Not atomic: only the lock makes it count. */
    private static final class Counter {
        private int value;

        int next() {
            return ++value;
        }
    }

    private static List<Future<Integer>> takeTurns(
            LockClient locks, ExecutorService threads, Counter counter, int times) {
        List<Future<Integer>> done = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            done.add(threads.submit(() -> locks.mutex("/turns").call(lease -> counter.next())));
        }
        return done;
    }

    /** {@code Executors.newVirtualThreadPerTaskExecutor}, which the release that this is compiled for does not know. */
    private static ExecutorService virtualThreadPerTask()
            throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }
}
