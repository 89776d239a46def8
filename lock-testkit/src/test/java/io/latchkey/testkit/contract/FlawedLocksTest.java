// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The mutex contract finds one flaw in a mutex that is otherwise correct, and names it. */
@Timeout(60)
class FlawedLocksTest {
    private static final String TIMED = "tryAcquire(java.time.Duration)";

    private interface Guaranteed {
        void test(MutexContract contract) throws Exception;
    }

    private interface Answer<R> {
        R to(Object[] args) throws Exception;
    }

    /** The correct object, but for this call. */
    private static <T, R> T flawed(Class<T> type, T correct, String call, Answer<R> flaw) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            if (method.toString().contains(call)) {
                return flaw.to(args);
            }
            try {
                return method.invoke(correct, args);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        }));
    }

    /** The clients are wrapped, and their mutexes have the flaw. */
    private static void assertTold(String message, Guaranteed guaranteed, UnaryOperator<Mutex> flaw) throws Exception {
        MutexContract contract = new MutexContract() {
            @Override
            protected LockFixture newFixture() {
                return new SimulatedFixture(client -> flawed(
                        LockClient.class, client, "mutex(", args -> flaw.apply(client.mutex((String) args[0])))) {
                    @Override
                    public Duration patience() {
                        return Duration.ofSeconds(2);
                    }
                };
            }
        };
        try (LockFixture fixture = contract.newFixture()) {
            contract.begin(fixture, new Reached());
            AssertionError told = assertThrows(AssertionError.class, () -> guaranteed.test(contract));
            contract.end();
            assertTrue(told.getMessage().contains(message), told.getMessage());
        }
    }

    @Test
    void swallowedRelease_isFound() throws Exception {
        assertTold(
                "not within PT",
                AcquirableContract::release,
                lock -> flawed(Mutex.class, lock, TIMED, args -> lock.tryAcquire((Duration) args[0])
                        .map(lease -> flawed(Lease.class, lease, "close()", none -> null))));
    }

    @Test
    void cancelThatDoesNotReachTheRequest_isFound() throws Exception {
        assertTold(
                "a queue of 1",
                AcquirableContract::cancel,
                lock -> flawed(Mutex.class, lock, "acquireAsync()", args -> lock.acquireAsync()
                        .thenApply(lease -> lease)));
    }

    @Test
    void lateTimeout_isFound() throws Exception {
        assertTold(
                "later than the machine explains",
                AcquirableContract::outOfTime,
                lock -> flawed(
                        Mutex.class, lock, TIMED, args -> lock.tryAcquire(((Duration) args[0]).multipliedBy(4))));
    }

    @Test
    void secondHolderIsFound_whenOneOfFortyGrantsIsReleasedAtOnce() throws Exception {
        AtomicInteger grants = new AtomicInteger();
        assertTold(
                "2 at a time, of 1",
                MutexContract::crowd,
                lock -> flawed(Mutex.class, lock, "acquire()", args -> {
                    Lease lease = lock.acquire();
                    if (grants.incrementAndGet() % 40 == 0) {
                        lease.close();
                    }
                    return lease;
                }));
    }

    @Test
    void oldTokenIsFound_whenOneOfFortyGrantsHasIt() throws Exception {
        AtomicInteger grants = new AtomicInteger();
        assertTold(
                "token 1 granted after",
                MutexContract::crowd,
                lock -> flawed(Mutex.class, lock, "acquire()", args -> {
                    Lease lease = lock.acquire();
                    return grants.incrementAndGet() % 40 == 0
                            ? flawed(Lease.class, lease, "token()", none -> 1L)
                            : lease;
                }));
    }

    @Test
    void grantOutOfTurn_isFound() throws Exception {
        Deque<CompletableFuture<Lease>> waiting = new ConcurrentLinkedDeque<>();
        assertTold(
                "request 3 was granted before request 1 had held",
                AcquirableContract::order,
                lock -> flawed(Mutex.class, lock, "acquireAsync()", args -> {
                    waiting.push(new CompletableFuture<>());
                    var unused = lock.acquireAsync()
                            .thenAccept(lease -> waiting.pop().complete(lease));
                    return waiting.peek();
                }));
    }

    @Test
    void releaseOfTheNextHoldersLeaseIsFound_whenTheLossIsKnown() throws Exception {
        AtomicBoolean known = new AtomicBoolean();
        assertTold(
                "released the next holder's",
                FaultyAcquiringContract::lateRelease,
                lock -> flawed(Mutex.class, lock, TIMED, args -> lock.tryAcquire((Duration) args[0])
                        .map(lease -> flawed(Lease.class, lease, "lost()", none -> {
                            known.set(true);
                            return lease.lost();
                        }))
                        .map(lease -> flawed(Lease.class, lease, "releaseAsync()", none -> {
                            if (known.get()) {
                                lock.queue().forEach(Contender::evict);
                            }
                            return lease.releaseAsync();
                        }))));
    }
}
