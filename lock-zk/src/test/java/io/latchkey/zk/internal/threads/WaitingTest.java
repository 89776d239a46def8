// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WaitingTest {
    private final CompletableFuture<String> answer = new CompletableFuture<>();

    @Test
    void waitEndsWithTheAnswer_orItsTime_orAnInterruption() throws Exception {
        assertFalse(CallerWait.await(answer, Duration.ofMillis(1)));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> CallerWait.await(answer));
        assertFalse(Thread.interrupted());
        CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS).execute(() -> answer.complete("there"));
        CallerWait.await(answer);
        assertEquals("there", CallerWait.valueOf(answer));
    }

    @Test
    void interruptionIsKept_whenTheWaitDoesNotEndByIt() throws Exception {
        Thread.currentThread().interrupt();
        assertFalse(CallerWait.awaitUninterruptibly(answer, Duration.ofMillis(5)));
        CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS).execute(() -> answer.complete("there"));
        CallerWait.awaitUninterruptibly(answer);
        assertEquals("there", CallerWait.valueOf(answer));
        assertTrue(Thread.interrupted());
    }

    @Test
    void answerGoesBeforeAnInterruption_whichIsKept() throws Exception {
        answer.complete("there");
        Thread.currentThread().interrupt();
        CallerWait.await(answer);
        assertTrue(CallerWait.await(answer, Duration.ZERO));
        assertTrue(Thread.interrupted());
    }

    @Test
    void valueIsTheErrorOfTheAnswer() {
        answer.completeExceptionally(new IllegalStateException("of a test"));
        assertThrows(ExecutionException.class, () -> CallerWait.valueOf(answer));
        assertThrows(IllegalStateException.class, () -> CallerWait.valueOf(new CompletableFuture<>()));
    }

    @Test
    void longestTimeIsNoTimeAtAll() throws Exception {
        answer.complete("there");
        assertTrue(CallerWait.await(answer, Duration.ofSeconds(Long.MAX_VALUE)));
    }

    /** Tasks of the same worker wait for the answer, too: none runs on the stack of another. */
    @Test
    void workerRunsNoOtherTask_whileItWaits() throws Exception {
        int tasks = 8;
        Queue<Integer> depths = new ConcurrentLinkedQueue<>();
        ThreadLocal<Integer> depth = ThreadLocal.withInitial(() -> 0);
        CountDownLatch ended = new CountDownLatch(tasks);
        ForkJoinPool pool = new ForkJoinPool(1);
        try {
            pool.execute(() -> {
                for (int i = 0; i < tasks; i++) {
                    var unused = CompletableFuture.runAsync(
                            () -> {
                                depth.set(depth.get() + 1);
                                depths.add(depth.get());
                                CallerWait.awaitUninterruptibly(answer);
                                depth.set(depth.get() - 1);
                                ended.countDown();
                            },
                            pool);
                }
            });
            CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS).execute(() -> answer.complete("there"));
            assertTrue(ended.await(20, TimeUnit.SECONDS));
            assertEquals(List.of(1), depths.stream().distinct().toList());
        } finally {
            pool.shutdownNow();
        }
    }

    /** A pool without spare threads throws where it is to make up for a blocked worker; another's factory fails. */
    @Test
    void workerWaits_whenItsPoolDoesNotMakeUpForIt() throws Exception {
        ForkJoinPool bounded = new ForkJoinPool(
                1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, 1, 1, 1, null, 1, TimeUnit.MINUTES);
        ForkJoinPool failing = new ForkJoinPool(
                1,
                new ForkJoinPool.ForkJoinWorkerThreadFactory() {
                    private int made;

                    @Override
                    public java.util.concurrent.ForkJoinWorkerThread newThread(ForkJoinPool pool) {
                        if (made++ > 0) {
                            throw new RejectedExecutionException("thrown by a test");
                        }
                        return ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
                    }
                },
                null,
                false);
        for (ForkJoinPool pool : List.of(bounded, failing)) {
            CompletableFuture<String> later = new CompletableFuture<>();
            CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS).execute(() -> later.complete("there"));
            assertEquals(
                    "there",
                    pool.submit(() -> {
                                CallerWait.await(later);
                                return CallerWait.valueOf(later);
                            })
                            .get(20, TimeUnit.SECONDS));
            pool.shutdownNow();
        }
    }
}
