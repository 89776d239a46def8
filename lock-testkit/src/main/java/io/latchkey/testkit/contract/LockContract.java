// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What all contracts need: clients that are closed after the test, paths of its own, and ways to await what is due. To
 * be extended by way of the contracts: {@link MutexContract}, {@link ReadWriteLockContract}, {@link SemaphoreContract},
 * {@link MultiLockContract}, {@link LeaseContract}, {@link LeadershipContract} and {@link TermContract}.
 */
@ExtendWith(ContractExtension.class)
@DisplayNameGeneration(GuaranteeNames.class)
@TestInstance(TestInstance.Lifecycle.PER_METHOD) // also where the default is another: an instance is of one test
@Timeout(60)
abstract class LockContract {
    private static final AtomicInteger PATHS = new AtomicInteger();
    private static final int TRIPS_TO_SETTLE = 4;

    private final String path = "/contract/" + PATHS.incrementAndGet();
    private final List<LockClient> clients = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private @Nullable LockFixture fixture;

    /**
     * Makes what the tests of this class run on. Called once for the class, by one of its instances.
     *
     * @return the fixture, which is closed after the last test of the class
     * @throws Exception if it cannot be made; the tests of the class fail
     */
    protected abstract LockFixture newFixture() throws Exception;

    final void begin(LockFixture shared) {
        fixture = shared;
    }

    final void end() {
        Thread.interrupted(); // what a test left must not reach the clean-up
        threads.forEach(Thread::interrupt);
        LockFixture shared = fixture();
        clients.forEach(shared::heal);
        clients.forEach(LockClient::close);
    }

    final LockFixture fixture() {
        return Objects.requireNonNull(fixture, "fixture");
    }

    /** A new client, closed after the test. */
    final LockClient client() {
        return kept(fixture().newClient());
    }

    /** A new client with a short session, closed after the test. */
    final LockClient briefClient() {
        return kept(fixture().newBriefClient());
    }

    private LockClient kept(LockClient client) {
        clients.add(client);
        return client;
    }

    /** The path of this test. */
    final String path() {
        return path;
    }

    /** Another path of this test. */
    final String path(String name) {
        return path + "-" + name;
    }

    /** How long to wait at most for what is due. */
    final Duration patience() {
        return Slowness.stretched(fixture().patience());
    }

    /** What is due. */
    final <T extends @Nullable Object> T soon(CompletionStage<T> due) throws Exception {
        try {
            return due.toCompletableFuture().get(patience().toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            throw new AssertionError("not within " + patience(), late);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw failed;
        }
    }

    /** The failure that is due. */
    final <E extends Throwable> E refused(Class<E> type, CompletionStage<?> due) {
        ExecutionException told = assertThrows(ExecutionException.class, () -> due.toCompletableFuture()
                .get(patience().toNanos(), TimeUnit.NANOSECONDS));
        return assertInstanceOf(type, told.getCause());
    }

    final void await(String what, Eventually.Condition condition) throws InterruptedException {
        Eventually.holds(what, fixture().patience(), condition);
    }

    /** A lease that must be there soon. */
    final Lease acquired(Acquirable lock) throws Exception {
        return lock.tryAcquire(patience()).orElseThrow(() -> new AssertionError("not granted within " + patience()));
    }

    /** Asks, and returns when the request stands in the queue. */
    final CompletableFuture<Lease> queued(Acquirable lock) throws InterruptedException {
        int before = lock.queue().size();
        CompletableFuture<Lease> asked = lock.acquireAsync();
        await("the request stands in the queue", () -> lock.queue().size() > before || asked.isDone());
        return asked;
    }

    /** Asks in a thread of its own, and returns when the request stands in the queue. */
    final Caller<Lease> queuedInThread(Acquirable lock) throws InterruptedException {
        int before = lock.queue().size();
        Caller<Lease> caller = inThread(lock::acquire);
        await(
                "the request stands in the queue",
                () -> lock.queue().size() > before || caller.result().isDone());
        return caller;
    }

    final void awaitQueue(Acquirable lock, int length) throws InterruptedException {
        await("a queue of " + length, () -> lock.queue().size() == length);
    }

    /**
     * Whatever has happened up to now has not granted this. The clients of these locks have heard of it: a server tells
     * one session in order, so what they read now comes after.
     */
    static void assertWaits(Future<?> asked, Acquirable... locks) throws InterruptedException {
        assertWaits("granted too early", asked, locks);
    }

    /** The same, with what a grant would mean. */
    static void assertWaits(String early, Future<?> asked, Acquirable... locks) throws InterruptedException {
        for (int trip = 0; trip < TRIPS_TO_SETTLE; trip++) {
            for (Acquirable lock : locks) {
                lock.queue();
            }
        }
        assertFalse(asked.isDone(), early);
    }

    /** Nothing stands in the queue, and another client is served. */
    final void assertFree(Acquirable lockOfAnother) throws Exception {
        awaitQueue(lockOfAnother, 0);
        acquired(lockOfAnother).close();
        awaitQueue(lockOfAnother, 0);
    }

    /** A thread that a test made, and what became of its work. */
    record Caller<T extends @Nullable Object>(Thread thread, CompletableFuture<T> result) {}

    /** Runs this in a thread of its own, which is interrupted after the test. */
    final <T extends @Nullable Object> Caller<T> inThread(Callable<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        result.complete(work.call());
                    } catch (Throwable failed) {
                        result.completeExceptionally(failed);
                    }
                },
                "latchkey-contract");
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        return new Caller<>(thread, result);
    }

    /** Callers of these locks, which hold so many of the permits, take turns in threads of their own. */
    final void assertTakeTurns(int permits, int holds, int turns, List<Acquirable> locks) throws Exception {
        Crowd crowd = new Crowd(fixture(), permits);
        List<Caller<?>> callers = new ArrayList<>();
        locks.forEach(lock -> callers.add(inThread(() -> crowd.takeTurns(lock, holds, turns))));
        for (Caller<?> caller : callers) {
            awaitTurns(caller.result(), crowd);
        }
        crowd.assertNothingWrong();
    }

    /** Each turn is due, not all of them: on a busy machine they take long. */
    private void awaitTurns(CompletableFuture<?> caller, Crowd crowd) throws Exception {
        long before = -1;
        while (!caller.isDone() && crowd.turnsTaken() > before) {
            before = crowd.turnsTaken();
            try {
                caller.get(patience().toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException later) {
                // Decided below.
            }
        }
        assertTrue(caller.isDone(), () -> "no turn within " + patience());
        Object unused = soon(caller);
    }

    /** Nine locks of three clients. */
    final List<Acquirable> nine(Function<LockClient, Acquirable> lock) {
        List<LockClient> clients = List.of(client(), client(), client());
        return IntStream.range(0, 9)
                .mapToObj(number -> lock.apply(clients.get(number % 3)))
                .toList();
    }

    /**
     * By how many nanoseconds a timed request that cannot be granted ends
     * {@linkplain #late(Duration, Callable, Callable) too late}.
     */
    final long late(Acquirable lock, Duration time, Callable<?> beside) throws Exception {
        return late(time, beside, () -> {
            long start = System.nanoTime();
            assertEquals(Optional.empty(), lock.tryAcquire(time));
            long early = start + time.toNanos() - System.nanoTime();
            assertTrue(early <= 0, () -> "ends " + early / 1_000_000 + " ms before its time");
            return null;
        });
    }

    /**
     * By how many nanoseconds what is due after this time comes too late, less four times by how many a thread does
     * that waits beside it for the same time and then does what is given: a busy machine delays both. Requests that
     * leave the queue at a server are compared with one that reads it.
     */
    final long late(Duration time, Callable<?> beside, Callable<?> due) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        Callable<?> waits = () -> {
            boolean unused = never.await(time.toNanos(), TimeUnit.NANOSECONDS);
            return beside.call();
        };
        Caller<Long> control = inThread(overrun(time, waits));
        Caller<Long> waiting = inThread(overrun(time, due));
        return soon(waiting.result()) - 4 * soon(control.result());
    }

    private static Callable<Long> overrun(Duration time, Callable<?> waiting) {
        return () -> {
            long start = System.nanoTime();
            waiting.call();
            return System.nanoTime() - start - time.toNanos();
        };
    }

    /** Of three timed requests that cannot be granted, one ends in time. */
    final void assertEndsInTime(Acquirable lock, Callable<?> beside) throws Exception {
        long late = Long.MAX_VALUE;
        for (int request = 0; request < 3 && late > moment().toNanos() / 2; request++) {
            late = Math.min(late, late(lock, moment(), beside));
        }
        assertInTime(late, moment());
    }

    /** Half of the time is the most that {@link #late(Duration, Callable, Callable)} may find. */
    static void assertInTime(long late, Duration time) {
        assertTrue(
                late <= time.toNanos() / 2, () -> "comes " + late / 1_000_000 + " ms later than the machine explains");
    }

    /** Long enough to send something and hear the answer, short enough to wait for. */
    static Duration moment() {
        return Slowness.stretched(Duration.ofMillis(200));
    }
}
