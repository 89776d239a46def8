// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** ShedLock's locks. */
@LatchkeyTest(reconnects = Reconnects.FAST, sessionMillis = 4000)
@Timeout(60)
class LatchkeyLockProviderTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void taskIsSkipped_whileItRunsElsewhere(LockClient one, LockClient two) throws Throwable {
        LockConfiguration nightly = task("nightly/report", Duration.ZERO);
        LockingTaskExecutor mine = new DefaultLockingTaskExecutor(new LatchkeyLockProvider(one, "/shed"));
        LockingTaskExecutor theirs = new DefaultLockingTaskExecutor(new LatchkeyLockProvider(two, "/shed"));
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
    }

    @Test
    void lockOfAQuickTaskIsKept_untilItsTimeIsOver(LockClient one, LockClient two) throws Exception {
        LockConfiguration brief = task("brief", Duration.ofSeconds(1));
        SimpleLock quick =
                new LatchkeyLockProvider(one, "/shed").lock(brief).orElseThrow();
        quick.unlock();
        two.mutex("/shed/task-brief").tryAcquire(SOON).orElseThrow().close();
        assertTrue(Instant.now().isAfter(brief.getLockAtLeastUntil()));
    }

    @Test
    void lockOfAQuickTaskIsReleased_whenItsClientCloses(LockClient one, LockClient two) throws Exception {
        LockConfiguration hourly = task("hourly", Duration.ofMinutes(30));
        SimpleLock quick =
                new LatchkeyLockProvider(one, "/shed").lock(hourly).orElseThrow();
        quick.unlock();
        LatchkeyLockProvider theirs = new LatchkeyLockProvider(two, "/shed");
        assertTrue(theirs.lock(hourly).isEmpty(), "kept for half an hour");
        CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> one.close(Duration.ofMinutes(10)));
        Eventually.holds("a free lock", SOON, () -> theirs.lock(hourly).isPresent());
        closing.join();
    }

    @Test
    void lockEnds_whenATaskHangsForLongerThanItsTime(LockClient one, LockClient two) throws Exception {
        LockConfiguration brief = new LockConfiguration(Instant.now(), "hangs", Duration.ofMillis(500), Duration.ZERO);
        SimpleLock hung = new LatchkeyLockProvider(one, "/shed").lock(brief).orElseThrow();
        two.mutex("/shed/task-hangs").tryAcquire(SOON).orElseThrow().close();
        hung.unlock();
    }

    private static LockConfiguration task(String name, Duration atLeast) {
        return new LockConfiguration(Instant.now(), name, Duration.ofHours(1), atLeast);
    }
}
