// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.Namings;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Handles that cannot be opened after the end of a session. */
@Timeout(30)
class OpeningTest {
    private static final Duration SESSION = Duration.ofSeconds(12);

    private final ImmediateZooKeeper zooKeeper = new ImmediateZooKeeper(() -> 0);
    private final Engine engine = started();
    private final Engine otherEngine = started();
    private final Mutex mutex = mutexOf(engine);
    private final CompletableFuture<Lease> granted = mutex.acquireAsync();
    private final CompletableFuture<Lease> other = mutexOf(otherEngine).acquireAsync();
    private final AtomicInteger attempts = new AtomicInteger();

    private Engine started() {
        return zooKeeper.start("", SESSION, Namings.LATCHKEY, Optional.empty());
    }

    private static Mutex mutexOf(Engine engine) {
        LockClient client = new EngineLockClient(engine, Optional.empty());
        return client.mutex("/m");
    }

    @AfterEach
    void close() {
        engine.close();
        otherEngine.close();
        zooKeeper.close();
    }

    static Stream<Named<ClientConfig.Opener>> failures() {
        return Stream.of(
                Named.of("exception", listener -> {
                    throw new UnknownHostException("zk.example");
                }),
                Named.of("unchecked exception", listener -> {
                    throw new IllegalArgumentException("no such login module");
                }),
                Named.of("error", listener -> {
                    throw new OutOfMemoryError("unable to create native thread");
                }));
    }

    /** The session ends, and no other can be opened. */
    private void endSession(ClientConfig.Opener failing) {
        zooKeeper.failToOpen(engine, listener -> {
            attempts.incrementAndGet();
            return failing.open(listener);
        });
        zooKeeper.expireAtServer(engine);
    }

    private <T> T now(CompletionStage<T> due) throws Exception {
        zooKeeper.advance(Duration.ZERO);
        return due.toCompletableFuture().get(0, TimeUnit.SECONDS);
    }

    private void assertClosed(CompletableFuture<?> refused) {
        assertInstanceOf(
                ClientClosedException.class,
                assertThrows(ExecutionException.class, () -> now(refused)).getCause());
    }

    @ParameterizedTest
    @MethodSource("failures")
    void requestsAreServedOrEndInTime_whenNoNewSessionCanBeOpenedForAWhile(ClientConfig.Opener failing)
            throws Exception {
        CompletableFuture<Lease> waits = mutex.acquireAsync();
        CompletableFuture<Lease> givenUp = mutex.acquireAsync();
        endSession(failing);
        assertEquals(LossCause.SESSION_EXPIRED, now(now(granted).lost()));
        CompletableFuture<Optional<Lease>> brief = mutex.tryAcquireAsync(Duration.ofSeconds(5));
        CompletableFuture<Optional<Lease>> patient = mutex.tryAcquireAsync(Duration.ofSeconds(100));
        zooKeeper.advance(Duration.ofSeconds(5));
        assertEquals(Optional.empty(), now(brief));
        assertTrue(givenUp.cancel(false));
        zooKeeper.advance(Duration.ofSeconds(25));
        assertFalse(waits.isDone() || patient.isDone());
        assertTrue(
                attempts.get() > 1 && attempts.get() <= 61, () -> attempts + " attempts, one each half second at most");

        zooKeeper.heal(engine);
        zooKeeper.advance(Duration.ofSeconds(1));
        assertEquals(2, engine.requests().size(), "those that were given up are among them");
        now(other).close();
        now(waits).close();
        assertTrue(now(patient).orElseThrow().isValid());
    }

    @Test
    void questionIsRefusedAtOnce_whenNoNewSessionCanBeOpened() {
        endSession(listener -> {
            throw new UnknownHostException("zk.example");
        });
        LockServiceUnavailableException refused = assertInstanceOf(
                LockServiceUnavailableException.class,
                assertThrows(ExecutionException.class, () -> now(mutex.queueAsync()))
                        .getCause());
        assertEquals(LockException.Reason.NO_SESSION, refused.reason());
    }

    @ParameterizedTest
    @MethodSource("failures")
    void closeEndsAllWaiters_whenNoNewSessionCanBeOpened(ClientConfig.Opener failing) {
        CompletableFuture<Lease> waits = mutex.acquireAsync();
        endSession(failing);
        zooKeeper.advance(Duration.ofSeconds(1));
        assertTimeoutPreemptively(Duration.ofSeconds(5), () -> engine.close());
        assertClosed(waits);
        int before = attempts.get();
        zooKeeper.advance(SESSION);
        assertEquals(before, attempts.get());
    }
}
