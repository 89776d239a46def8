// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.time.Slowness;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Virtual threads that wait for locks are not pinned, as the flight recorder of the JVM sees it; {@code MonitorsTest}
 * reads the code.
 */
@Timeout(60)
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadsTest extends OnOneServer {
    private static final String PINNED = "jdk.VirtualThreadPinned";

    @TempDir
    private Path folder;

    @Test
    @SuppressWarnings("LockNotBeforeTry") // the wait for the lock is what is looked at
    void nothingIsPinned_whileVirtualThreadsWaitForLocks() throws Exception {
        ZkLockClient one = client("one");
        Lock view = one.mutex("/view").asLock();
        List<RecordedEvent> pinned = pinnedDuring(() -> {
            Lease mutex = one.mutex("/mutex").acquire();
            Lease readers = one.readWriteLock("/pair").writeLock().acquire();
            view.lock();
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                all.add(virtually(() -> one.mutex("/mutex").run(Lease::ensureValid)));
                all.add(virtually(
                        () -> one.readWriteLock("/pair").readLock().acquire().close()));
                all.add(virtually(() -> {
                    view.lock();
                    view.unlock();
                }));
            }
            awaitQueue(one.mutex("/mutex"), 11);
            awaitQueue(one.readWriteLock("/pair").readLock(), 11);
            awaitQueue(one.mutex("/view"), 11);
            mutex.close();
            readers.close();
            view.unlock();
            for (CompletableFuture<Void> each : all) {
                each.get(30, TimeUnit.SECONDS);
            }
        });
        assertEquals(List.of(), pinned);
    }

    /** A class that is being initialized pins in every JDK so far: the recorder would have said so above. */
    @Test
    void pinnedThreadIsRecorded() throws Exception {
        List<RecordedEvent> pinned = pinnedDuring(() -> {
            virtually(() -> assertFalse(Pins.waited())).get(30, TimeUnit.SECONDS);
        });
        assertFalse(pinned.isEmpty());
    }

    private static final class Pins {
        static final boolean WAITED;

        static {
            try {
                WAITED = new CountDownLatch(1).await(100, TimeUnit.MILLISECONDS);
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
        }

        static boolean waited() {
            return WAITED;
        }
    }

    private List<RecordedEvent> pinnedDuring(Executable what) throws Exception {
        Path file = Files.createTempFile(folder, "pinned", ".jfr");
        try (Recording recording = new Recording()) {
            recording.enable(PINNED).withThreshold(Duration.ZERO).withStackTrace();
            recording.start();
            try {
                what.execute();
            } catch (Throwable failed) {
                throw new AssertionError(failed);
            }
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(PINNED))
                .toList();
    }

    private static CompletableFuture<Void> virtually(Executable what) throws ReflectiveOperationException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Runnable task = () -> {
            try {
                what.execute();
                done.complete(null);
            } catch (Throwable failed) {
                done.completeExceptionally(failed);
            }
        };
        // The release that this is compiled for does not know it.
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        return done.orTimeout(Slowness.stretched(Duration.ofSeconds(30)).toSeconds(), TimeUnit.SECONDS);
    }
}
