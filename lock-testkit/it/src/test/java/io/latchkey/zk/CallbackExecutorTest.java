// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.Stopwatch;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Users' code in the wrong place: executors that do what none should, and calls that wait on the thread that brings
 * answers.
 */
@Timeout(60)
class CallbackExecutorTest extends OnOneServer {
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private final ThreadPoolExecutor callerRuns = new ThreadPoolExecutor(
            1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1), new ThreadPoolExecutor.CallerRunsPolicy());

    @AfterEach
    void endThreads() {
        callerRuns.shutdown();
    }

    private enum BadExecutor {
        RUNS_IN_PLACE,
        REJECTS,
        THROWS,
        HAS_NO_THREADS,
        BLOCKS;

        Executor executor() {
            return task -> {
                switch (this) {
                    case RUNS_IN_PLACE -> task.run();
                    case REJECTS -> throw new RejectedExecutionException("thrown by a test");
                    case THROWS -> throw new IllegalStateException("thrown by a test");
                    case HAS_NO_THREADS -> throw new OutOfMemoryError("thrown by a test");
                    case BLOCKS -> {
                        try {
                            NEVER.await();
                        } catch (InterruptedException interrupted) {
                            Thread.currentThread().interrupt();
                        }
                    }
                }
            };
        }

        boolean runs() {
            return this != BLOCKS;
        }
    }

    @ParameterizedTest
    @EnumSource
    void bodyIsInterrupted_whenItsNodeIsDeleted(BadExecutor unfit) throws Exception {
        ZkLockClient one = client(builder -> builder.callbackExecutor(unfit.executor()));
        CountDownLatch began = new CountDownLatch(1);
        FutureTask<Void> call = new FutureTask<>(() -> one.mutex("/a").call(OnLoss.INTERRUPT, lease -> {
            began.countDown();
            NEVER.await();
            return null;
        }));
        Thread thread = new Thread(call, "body");
        thread.setDaemon(true);
        thread.start();
        began.await();
        deleteRequest("/a", 0);
        assertEquals(
                LossCause.NODE_DELETED, refusal(LeaseLostException.class, call).lossCause());
    }

    @ParameterizedTest
    @EnumSource
    void othersNodesAreDeleted_whenAMembersNodeIsLost(BadExecutor unfit) throws Exception {
        ZkLockClient one = client(builder -> builder.callbackExecutor(unfit.executor()));
        Lease both = one.multiLock(one.mutex("/a"), one.mutex("/b")).acquire();
        CompletableFuture<LossCause> lost = both.lost().toCompletableFuture();
        deleteRequest("/a", 0);
        awaitRequests("/b", 0);
        assertFalse(both.isValid());
        if (unfit.runs()) {
            assertEquals(LossCause.NODE_DELETED, soon(lost));
        }
        assertTrue(one.mutex("/c").tryAcquire(Duration.ofSeconds(10)).isPresent(), "the client is frozen");
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void closeEndsTheSession_whenLeasesAreHeld(BadExecutor unfit) throws Exception {
        ZkLockClient one = client(builder -> builder.callbackExecutor(unfit.executor()));
        List<CompletionStage<LossCause>> lost = List.of(
                one.mutex("/a").acquire().lost(), one.mutex("/b").acquire().lost());
        one.close();
        assertEquals(0, server().sessions().size());
        if (unfit.runs()) {
            for (CompletionStage<LossCause> each : lost) {
                assertEquals(LossCause.CLIENT_CLOSED, soon(each));
            }
        }
    }

    @Test
    void refusalsOfTheExecutorAreOneWarning() throws Exception {
        Executor full = new Executor() {
            @Override
            public void execute(Runnable task) {
                throw new RejectedExecutionException("thrown by a test");
            }

            @Override
            public String toString() {
                return "that is full";
            }
        };
        try (LoggedWarnings log = LoggedWarnings.listen()) {
            ZkLockClient one = client(builder -> builder.callbackExecutor(full));
            for (int i = 0; i < 3; i++) {
                soon(one.mutex("/m").acquireAsync()).close();
            }
            assertEquals(
                    1,
                    log.awaited("The callback executor that is full refused a task")
                            .size());
        }
    }

    @Test
    void stagesThatReleaseAreServed_whenTheExecutorRunsThemInItsCaller() throws Exception {
        for (Executor each : List.<Executor>of(Runnable::run, callerRuns)) {
            ZkLockClient one = client(builder -> builder.callbackExecutor(each));
            CompletableFuture<?>[] all = IntStream.range(0, 50)
                    .mapToObj(i -> one.mutex("/m").acquireAsync().thenAccept(Lease::close))
                    .toArray(CompletableFuture<?>[]::new);
            CompletableFuture.allOf(all).get(20, TimeUnit.SECONDS);
            assertTrue(one.mutex("/m").tryAcquire(Duration.ofSeconds(10)).isPresent());
            one.close();
        }
        assertFalse(callerRuns.isShutdown(), "it is the caller's");
    }

    /** Only a callback of the client must not wait for its holders, which may need that thread. */
    @Test
    void closeWaitsForHolders_inAThreadThatHasRunACallbackBefore() throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            ZkLockClient one = client(builder -> builder.callbackExecutor(pool));
            soon(one.mutex("/m").acquireAsync().thenAccept(Lease::close));
            Lease held = one.mutex("/held").acquire();
            Future<?> closing = pool.submit(() -> one.close(Duration.ofMinutes(1)));
            awaitUntil("requests are refused", () -> {
                try {
                    one.mutex("/n").tryAcquire().ifPresent(Lease::close);
                    return false;
                } catch (ClientClosedException draining) {
                    return true;
                }
            });
            assertThrows(TimeoutException.class, () -> closing.get(200, TimeUnit.MILLISECONDS));
            held.close();
            closing.get(20, TimeUnit.SECONDS);
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void callsThatWouldWaitForThemselvesFailOrDoNotWait_onTheEventThreadOfABorrowedHandle() throws Exception {
        ZooKeeper handle = handle();
        ZkLockClient one = borrowing(handle);
        Lease held = one.mutex("/held").acquire();
        Lease other = one.mutex("/other").acquire();
        ReadWriteLock written = one.readWriteLock("/written");
        Lease write = written.writeLock().acquire();
        OncePerPeriod days = OncePerPeriod.calendar(Duration.ofDays(1));

        onEventThread(handle, () -> {
            assertThrows(IllegalStateException.class, () -> written.downgrade(write));
            assertThrows(IllegalStateException.class, () -> one.mutex("/m").acquire());
            assertThrows(IllegalStateException.class, () -> one.mutex("/m").tryAcquire());
            assertThrows(IllegalStateException.class, () -> one.mutex("/m").acquireUninterruptibly());
            assertThrows(
                    IllegalStateException.class, () -> one.mutex("/m").asLock().lock());
            assertThrows(
                    IllegalStateException.class, () -> one.mutex("/m").asLock().tryLock());
            assertThrows(IllegalStateException.class, () -> one.mutex("/held").queue());
            assertTrue(one.diagnose().incompleteBecause().isPresent(), "the requests are not known there");
            assertThrows(IllegalStateException.class, () -> one.listLocks("/"));
            assertThrows(IllegalStateException.class, () -> ZkLocks.guarded(held, Op.check("/", -1)));
            assertThrows(IllegalStateException.class, () -> days.last(held));
            assertEquals(ReleaseOutcome.PENDING, held.release());
        });
        awaitRequests("/held", 0);
        assertNeverMade("/m");

        Stopwatch watch = Stopwatch.start();
        onEventThread(handle, () -> one.close(Duration.ofHours(1)));
        assertTrue(other.isValid());
        onEventThread(handle, one::close);
        long took = watch.stop();
        assertTrue(took < LONG_SESSION.toMillis() / 2, took + " ms");
        assertEquals(Optional.of(LossCause.CLIENT_CLOSED), Optional.of(soon(other.lost())));
        awaitNothingLeft("/other");
    }

    private static void onEventThread(ZooKeeper handle, Attempt task) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        handle.getData(
                "/",
                false,
                (rc, path, ctx, data, stat) -> {
                    try {
                        task.run();
                        done.complete(null);
                    } catch (Throwable failed) {
                        done.completeExceptionally(failed);
                    }
                },
                null);
        done.get(20, TimeUnit.SECONDS);
    }

    private interface Attempt {
        void run() throws Exception;
    }
}
