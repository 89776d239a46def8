// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.latchkey.zk.internal.validity.SystemClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CallbackThreadsTest {
    private final BlockingQueue<Thread> ran = new LinkedBlockingQueue<>();
    private final List<Throwable> refusals = new ArrayList<>();

    private Thread runOn(Executor given) throws InterruptedException {
        try (SystemClock time = new SystemClock(DaemonThreads.factory("test-timer"), Duration.ofSeconds(1));
                DaemonThreads threads = new DaemonThreads(4, "test-callback", time)) {
            CallbackThreads callbacks = new CallbackThreads(threads, given, refusals::add);
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
        IllegalStateException before = new IllegalStateException("thrown by a test");
        assertEquals(
                "test-callback",
                runOn(task -> {
                            throw before;
                        })
                        .getName());
        assertEquals(List.of(before), refusals);
        assertEquals(
                "test-callback",
                runOn(task -> {
                            task.run();
                            throw new OutOfMemoryError("thrown by a test");
                        })
                        .getName());
    }
}
