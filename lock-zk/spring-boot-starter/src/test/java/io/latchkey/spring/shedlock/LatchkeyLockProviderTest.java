// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.latchkey.lock.LockClient;
import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** ShedLock's locks. */
@Tag("slow")
@Timeout(60)
class LatchkeyLockProviderTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final Duration SOON = Duration.ofSeconds(20);

    private LockClient one;
    private LockClient two;

    @BeforeEach
    void connect() throws InterruptedException {
        one = SERVER.client();
        two = SERVER.client();
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    @Test
    void providerIsABean_withASwitch_andBacksOff() {
        ApplicationContextRunner application = SERVER.application(LatchkeyShedLockAutoConfiguration.class);
        application.run(context -> assertThat(context).hasSingleBean(LatchkeyLockProvider.class));
        application.withPropertyValues("latchkey.shedlock.enabled=false").run(context -> assertThat(context)
                .doesNotHaveBean(LockProvider.class));
        application
                .withBean(LockProvider.class, () -> task -> java.util.Optional.empty())
                .run(context -> assertThat(context).doesNotHaveBean(LatchkeyLockProvider.class));
        application
                .withClassLoader(new FilteredClassLoader(LockProvider.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("lockProvider"));
        application.withPropertyValues("latchkey.shedlock.path=/jobs").run(context -> {
            SimpleLock lock = context.getBean(LockProvider.class)
                    .lock(task("a", Duration.ZERO))
                    .orElseThrow();
            assertThat(two.mutex("/jobs/task-a").queue()).hasSize(1);
            lock.unlock();
        });
    }

    @Test
    void taskIsSkipped_whileItRunsElsewhere() throws Throwable {
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
        assertThat(ran).containsExactly("mine", "theirs, afterwards");
    }

    @Test
    void lockOfAQuickTaskIsKept_untilItsTimeIsOver() throws Exception {
        LockConfiguration brief = task("brief", Duration.ofSeconds(1));
        SimpleLock quick = new LatchkeyLockProvider(one, "/shed").lock(brief).orElseThrow();
        quick.unlock();
        two.mutex("/shed/task-brief").tryAcquire(SOON).orElseThrow().close();
        assertThat(Instant.now()).isAfter(brief.getLockAtLeastUntil());
        assertThatThrownBy(quick::unlock).isInstanceOf(IllegalStateException.class);
    }

    /** A request for a lock can wait for servers up to the session timeout. */
    @Test
    void lockIsKeptFromItsGrant_notFromItsRequest() throws Exception {
        LockConfiguration late = new LockConfiguration(
                Instant.now().minusSeconds(5), "late", Duration.ofHours(1), Duration.ofSeconds(2));
        SimpleLock quick = new LatchkeyLockProvider(one, "/shed").lock(late).orElseThrow();
        long granted = System.nanoTime();
        quick.unlock();
        two.mutex("/shed/task-late").tryAcquire(SOON).orElseThrow().close();
        assertThat(Duration.ofNanos(System.nanoTime() - granted)).isGreaterThan(Duration.ofMillis(1500));
    }

    @Test
    void lockOfAQuickTaskIsReleased_whenItsClientCloses() throws InterruptedException {
        LockConfiguration hourly = task("hourly", Duration.ofMinutes(30));
        SimpleLock quick = new LatchkeyLockProvider(one, "/shed").lock(hourly).orElseThrow();
        quick.unlock();
        LatchkeyLockProvider theirs = new LatchkeyLockProvider(two, "/shed");
        assertThat(theirs.lock(hourly)).as("kept for half an hour").isEmpty();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> one.close(Duration.ofMinutes(10)));
        Eventually.holds("a free lock", SOON, () -> theirs.lock(hourly).isPresent());
        closing.join();
    }

    @Test
    void lockEnds_whenATaskHangsForLongerThanItsTime() throws Exception {
        LockConfiguration brief = new LockConfiguration(Instant.now(), "hangs", Duration.ofMillis(500), Duration.ZERO);
        SimpleLock hung = new LatchkeyLockProvider(one, "/shed").lock(brief).orElseThrow();
        two.mutex("/shed/task-hangs").tryAcquire(SOON).orElseThrow().close();
        hung.unlock();
    }

    @Test
    void extensionIsNotSupported() {
        SimpleLock lock = new LatchkeyLockProvider(one, "/shed")
                .lock(task("extended", Duration.ZERO))
                .orElseThrow();
        assertThatThrownBy(() -> lock.extend(Duration.ofMinutes(1), Duration.ZERO))
                .isInstanceOf(UnsupportedOperationException.class);
        lock.unlock();
    }

    private static LockConfiguration task(String name, Duration atLeast) {
        return new LockConfiguration(Instant.now(), name, Duration.ofHours(1), atLeast);
    }
}
