// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The budget of local turns on the wire, while threads of one client ask again without a pause. There is one thread
 * more than can hold, or up to four times as many. Beside other tests a thread is away for longer between its release
 * and its next call, so its name keeps it out of the suite, and {@code .ci/run} has it in a step of its own:
 * {@code mvn test -Dtest=LocalTurnsBudget}.
 */
class LocalTurnsBudget extends OnOneServer {
    private static final double REQUESTS_A_GRANT = 0.1;
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final Duration MEASURED = Duration.ofMillis(1500);

    private final FaultProxy proxy = fastProxy();
    private final ZkLockClient turning = client(builder -> builder.connectString(proxy.connectString())
            .sessionTimeout(LONG_SESSION)
            .localTurns(100, Duration.ofSeconds(10)));

    LocalTurnsBudget() throws InterruptedException {}

    static Stream<Arguments> loads() {
        Stream<Arguments> permits = Stream.of(1, 2, 3, 4, 8)
                .flatMap(room -> IntStream.of(room + 1, (room * 3 + 1) / 2, 2 * room, 4 * room)
                        .filter(threads -> threads > room)
                        .distinct()
                        .mapToObj(threads -> Arguments.of("permits", room, threads)));
        Stream<Arguments> others = Stream.of("mutex", "read", "write")
                .flatMap(kind -> IntStream.of(2, 3, 4).mapToObj(threads -> Arguments.of(kind, 1, threads)));
        return Stream.concat(permits, others);
    }

    private Acquirable lock(String kind, int room) {
        return switch (kind) {
            case "mutex" -> turning.mutex("/m");
            case "read" -> turning.readWriteLock("/rw").readLock();
            case "write" -> turning.readWriteLock("/rw").writeLock();
            default -> turning.semaphore("/s", room);
        };
    }

    @ParameterizedTest
    @MethodSource("loads")
    void turnsCostFewRequests_forAnyNumberOfThreads(String kind, int room, int threads) throws Exception {
        Acquirable lock = lock(kind, room);
        lock.acquire().close();
        AtomicLong grants = new AtomicLong();
        long end = System.nanoTime() + WARM_UP.plus(MEASURED).toNanos();
        List<CompletableFuture<Void>> callers = IntStream.range(0, threads)
                .mapToObj(i -> CompletableFuture.runAsync(() -> holdUntil(end, lock, grants), this::inThread))
                .toList();
        Thread.sleep(WARM_UP.toMillis());
        Wire.Mark before = proxy.mark();
        long grantsBefore = grants.get();
        CompletableFuture.allOf(callers.toArray(CompletableFuture<?>[]::new)).get(60, TimeUnit.SECONDS);
        double cost = (double) proxy.since(before).requestsButHeartbeats() / (grants.get() - grantsBefore);
        System.out.printf(Locale.ROOT, "%s of %d, %d threads: %.3f requests a grant%n", kind, room, threads, cost);
        assertTrue(cost <= REQUESTS_A_GRANT, () -> cost + " requests a grant");
    }

    private void inThread(Runnable caller) {
        new Thread(caller, "caller").start();
    }

    private static void holdUntil(long end, Acquirable lock, AtomicLong grants) {
        while (System.nanoTime() - end < 0) {
            try {
                lock.run(lease ->
                        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(300_000, 1_000_000)));
                grants.incrementAndGet();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }
}
