// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.OnLoss;
import io.latchkey.testkit.SimulatedLocks;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/stopping.md, with and without a loss. */
@Tag("slow")
@Timeout(30)
class StoppingTest {
    private final SimulatedLocks locks = SimulatedLocks.start();
    private final LockClient client = locks.client();
    private final ExecutorService pool = Executors.newSingleThreadExecutor();

    @AfterEach
    void close() {
        pool.shutdownNow();
        locks.close();
    }

    private record Work(Runnable input) implements StoppingExamples.Jobs {
        @Override
        public void waitForInput() throws InterruptedException {
            input.run();
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }

        @Override
        public StoppingExamples.Report write(long token) {
            return new StoppingExamples.Report(token);
        }
    }

    @Test
    void jobWrites_whenItsLeaseIsHeld() throws Exception {
        long before = client.mutex("/nightly").call(lease -> lease.token());
        long token = StoppingExamples.nightly(client.mutex("/nightly"), new Work(() -> {}))
                .token();
        assertEquals(1, Long.signum(token - before));
    }

    @Test
    void jobIsStopped_whenItsSessionEnds() {
        StoppingExamples.Jobs work = new Work(() -> locks.expire(client));
        LeaseLostException lost =
                assertThrows(LeaseLostException.class, () -> StoppingExamples.nightly(client.mutex("/nightly"), work));
        assertEquals(LossCause.SESSION_EXPIRED, lost.lossCause());
        assertInstanceOf(InterruptedException.class, lost.getCause());
        assertFalse(Thread.currentThread().isInterrupted());
    }

    @Test
    void jobIsStopped_whenItHangsForLongerThanItsLimit() {
        StoppingExamples.Jobs work = new Work(() -> locks.advance(Duration.ofMinutes(10)));
        LeaseLostException lost =
                assertThrows(LeaseLostException.class, () -> StoppingExamples.bounded(client.mutex("/nightly"), work));
        assertEquals(LossCause.HELD_TOO_LONG, lost.lossCause());
    }

    @Test
    void asynchronousWorkIsCancelled_whenTheSessionEnds() throws Exception {
        assertEquals("done", StoppingExamples.export(client.mutex("/export"), pool, () -> "done"));
        CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
        assertThrows(
                LeaseLostException.class,
                () -> StoppingExamples.export(client.mutex("/export"), pool, () -> {
                    locks.expire(client);
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException stopped) {
                        cancelled.complete(true);
                    }
                    return "";
                }));
        assertEquals(true, cancelled.get());
    }

    /** The examples of docs/stopping.md. */
    static final class StoppingExamples {
        private StoppingExamples() {}

        interface Jobs {
            void waitForInput() throws InterruptedException;

            Report write(long token);
        }

        record Report(long token) {}

        static Report nightly(Mutex mutex, Jobs jobs) throws InterruptedException {
            return mutex.call(OnLoss.INTERRUPT, lease -> {
                jobs.waitForInput(); // interrupted when the lease is lost
                return jobs.write(lease.token());
            });
        }

        static Report bounded(Mutex mutex, Jobs jobs) throws InterruptedException {
            return nightly(mutex.heldAtMost(Duration.ofMinutes(10)), jobs);
        }

        static String export(Mutex mutex, ExecutorService pool, Callable<String> job) throws Exception {
            return mutex.<String, Exception>call(OnLoss.INTERRUPT, lease -> {
                Future<String> work = pool.submit(job);
                try {
                    return work.get();
                } catch (InterruptedException lost) {
                    work.cancel(true);
                    throw lost;
                }
            });
        }
    }
}
