// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.SimulatedLocks;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/stopping.md, with and without a loss. */
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

    private record Work(Runnable input) implements Stopping.Jobs {
        @Override
        public void waitForInput() throws InterruptedException {
            input.run();
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }

        @Override
        public Stopping.Report write(long token) {
            return new Stopping.Report(token);
        }
    }

    @Test
    void jobWrites_whenItsLeaseIsHeld() throws Exception {
        long before = client.mutex("/nightly").call(lease -> lease.token());
        long token =
                Stopping.nightly(client.mutex("/nightly"), new Work(() -> {})).token();
        assertEquals(1, Long.signum(token - before));
    }

    @Test
    void jobIsStopped_whenItsSessionEnds() {
        Stopping.Jobs work = new Work(() -> locks.expire(client));
        LeaseLostException lost =
                assertThrows(LeaseLostException.class, () -> Stopping.nightly(client.mutex("/nightly"), work));
        assertEquals(LossCause.SESSION_EXPIRED, lost.lossCause());
        assertInstanceOf(InterruptedException.class, lost.getCause());
        assertFalse(Thread.currentThread().isInterrupted());
    }

    @Test
    void asynchronousWorkIsCancelled_whenTheSessionEnds() throws Exception {
        assertEquals("done", Stopping.export(client.mutex("/export"), pool, () -> "done"));
        CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
        assertThrows(
                LeaseLostException.class,
                () -> Stopping.export(client.mutex("/export"), pool, () -> {
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
}
