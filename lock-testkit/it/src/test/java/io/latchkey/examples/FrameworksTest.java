// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors, as docs/executors.md has them. */
@Tag("slow")
@LatchkeyTest(reconnects = Reconnects.FAST, sessionMillis = 4000)
@Timeout(60)
class FrameworksTest {
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
        assertTrue(
                two.mutex("/tasks/refused").tryAcquire(Duration.ofSeconds(10)).isPresent());
    }

    @Test
    void threadsOfAPoolTakeTurns(LockClient locks) throws Exception {
        Counter counter = new Counter();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<Integer>> done = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            done.add(threads.submit(() -> locks.mutex("/turns").call(lease -> counter.next())));
        }
        for (Future<Integer> each : done) {
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
}
