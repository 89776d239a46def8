// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.threads.DaemonThreads;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class SystemClockTest {
    private static final Duration STOPPED = Duration.ofMillis(400);

    private final SystemClock time = new SystemClock(DaemonThreads.factory("test-timer"), Duration.ofSeconds(1));

    @AfterEach
    void close() {
        time.close();
    }

    /**
     * Stops all threads of this process by the signal STOP. A busy machine delivers it late, so that the process is
     * stopped for less than the sleep.
     */
    @Test
    @DisabledOnOs(OS.WINDOWS)
    void standstillIsMeasured_whenTheProcessWasStopped() throws Exception {
        long pid = ProcessHandle.current().pid();
        Process stops = new ProcessBuilder(
                        "sh",
                        "-c",
                        String.format(
                                Locale.ROOT,
                                "kill -STOP %d; sleep %.1f; kill -CONT %d",
                                pid,
                                2 * STOPPED.toMillis() / 1e3,
                                pid))
                .start();
        assertEquals(0, stops.waitFor());
        assertNoticed();
    }

    /** Reads before the next pulse could come, because the reader may be the first thread that runs. */
    @Test
    void standstillIsKnown_rightAfterItsEnd() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        var unused = time.after(Duration.ZERO, () -> {
            begun.countDown();
            awaitQuietly(over);
        });
        assertTrue(begun.await(10, TimeUnit.SECONDS));
        long start = time.nanos();
        while (time.nanos() - start < STOPPED.toNanos()) {
            Thread.onSpinWait();
        }
        assertNoticed();
        over.countDown();
        assertNoticed();
    }

    @Test
    void pauseBeforeTheSpan_isForgotten() throws Exception {
        standstillIsKnown_rightAfterItsEnd();
        // A busy machine stops the process again in the meantime, which counts until it is over.
        while (time.standstill(STOPPED.dividedBy(4)).compareTo(STOPPED) >= 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** A new thread is a daemon if its creator is one. */
    @Test
    void timersKeepNoProcessAlive() throws Exception {
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        Thread creator = new Thread(() -> {
            SystemClock made = new SystemClock(DaemonThreads.factory("test-timer"), Duration.ofSeconds(1));
            var unused = made.after(Duration.ZERO, () -> {
                ran.complete(Thread.currentThread());
                made.close();
            });
        });
        creator.setDaemon(false);
        creator.start();
        assertTrue(ran.get(10, TimeUnit.SECONDS).isDaemon());
    }

    /** As those of an answer that comes while the client closes. */
    @Test
    void timerIsIgnored_whenTheClockIsClosed() {
        AtomicBoolean ran = new AtomicBoolean();
        Clock.Timer before = time.after(STOPPED, () -> ran.set(true));
        time.close();
        time.after(Duration.ZERO, () -> ran.set(true)).cancel();
        before.cancel();
        assertFalse(ran.get());
    }

    @Test
    void delayWithoutEnd_isTakenAsALongOne() {
        time.after(ChronoUnit.FOREVER.getDuration(), () -> {}).cancel();
    }

    private void assertNoticed() {
        Duration noticed = time.standstill(Duration.ofSeconds(10));
        assertTrue(noticed.compareTo(STOPPED) >= 0, () -> "noticed " + noticed);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    /** Shorter ones would load the machine, and longer ones would measure nothing. */
    @ParameterizedTest
    @CsvSource({"1, 10", "600, 10", "1200, 20", "15000, 250", "60000, 250"})
    void pulsesFollowTheSessionTimeout_withinBounds(long timeout, long pause) {
        assertEquals(Duration.ofMillis(pause), SystemClock.pulsePause(Duration.ofMillis(timeout)));
    }
}
