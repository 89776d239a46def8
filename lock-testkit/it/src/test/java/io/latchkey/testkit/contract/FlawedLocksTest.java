// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static java.util.concurrent.CompletableFuture.supplyAsync;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseFunction;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.admin.Contender;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.ThrowingConsumer;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contracts find one flaw in a mutex or client that is otherwise correct, and name it. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(60)
class FlawedLocksTest {
    private static final String TIMED = "tryAcquire(java.time.Duration)";

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
    private static void assertTold(String message, ThrowingConsumer<MutexContract> guarantee, UnaryOperator<Mutex> flaw)
            throws Exception {
        UnaryOperator<LockClient> clients = client ->
                flawed(LockClient.class, client, "mutex(", args -> flaw.apply(client.mutex((String) args[0])));
        assertFoundBy(message, guarantee, new MutexContract() {
            @Override
            protected LockFixture newFixture() {
                return new Impatient(clients);
            }
        });
    }

    /** The same for the contract of leases, and flaws of the client. */
    private static void assertFound(
            String message, ThrowingConsumer<LeaseContract> guarantee, UnaryOperator<LockClient> flaw)
            throws Exception {
        assertFoundBy(message, guarantee, new LeaseContract() {
            @Override
            protected LockFixture newFixture() {
                return new Impatient(flaw);
            }
        });
    }

    private static final class Impatient extends SimulatedFixture {
        Impatient(UnaryOperator<LockClient> flaw) {
            super(flaw);
        }

        @Override
        public Duration patience() {
            return Duration.ofSeconds(2);
        }
    }

    private static <C extends LockContract> void assertFoundBy(
            String message, ThrowingConsumer<C> guarantee, C contract) throws Exception {
        try (LockFixture fixture = contract.newFixture()) {
            contract.begin(fixture);
            Throwable told = assertThrows(Throwable.class, () -> guarantee.accept(contract));
            contract.end();
            assertTrue(Pattern.compile(message).matcher(told.toString()).find(), told.toString());
        }
    }

    /** The client, but for {@code heldAtMost} of its mutexes. */
    private static UnaryOperator<LockClient> limiting(BiFunction<Mutex, Duration, Mutex> flaw) {
        return client -> flawed(
                LockClient.class,
                client,
                "mutex(",
                path -> limiting(client.mutex((String) path[0]), client.mutex((String) path[0]), flaw));
    }

    private static Mutex limiting(Mutex plain, Mutex limited, BiFunction<Mutex, Duration, Mutex> flaw) {
        return flawed(
                Mutex.class,
                limited,
                "heldAtMost(",
                limit -> limiting(plain, flaw.apply(plain, (Duration) limit[0]), flaw));
    }

    @Test
    void limitThatIsIgnored_isFound() throws Exception {
        // On a slow machine the deadline passes before the contract's patience.
        assertFound(
                "not within PT|HELD_TOO_LONG. but was: .DEADLINE_PASSED",
                LeaseContract::limitWithoutServer,
                limiting((plain, limit) -> plain));
    }

    @Test
    void lastLimitThatCountsInPlaceOfTheSmallest_isFound() throws Exception {
        assertFound("nothing was thrown", LeaseContract::limitsOnLimits, limiting(Mutex::heldAtMost));
    }

    /** The client, but for the leases of its mutexes with a limit. */
    private static UnaryOperator<LockClient> granting(BiFunction<Lease, Duration, Lease> flaw) {
        return limiting((plain, limit) ->
                flawed(Mutex.class, plain.heldAtMost(limit), TIMED, patience -> plain.heldAtMost(limit)
                        .tryAcquire((Duration) patience[0])
                        .map(lease -> flaw.apply(lease, limit))));
    }

    /** The client does not know that the caller awaits the notice, so it does not wait for its stages. */
    @Test
    void grantBeforeTheNoticeOfALoss_isFound() throws Exception {
        assertFound(
                "granted before the stage had ended",
                LeaseContract::nextAfterTheNotice,
                granting((lease, limit) -> flawed(
                        Lease.class,
                        lease,
                        "lost()",
                        none -> supplyAsync(() -> {
                            while (lease.isValid()) {
                                Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(1));
                            }
                            return LossCause.HELD_TOO_LONG;
                        }))));
    }

    /** The lease is released when the stages have ended, however long they take. */
    @Test
    void stageThatDelaysTheNextGrantForEver_isFound() throws Exception {
        assertFound(
                "not within PT",
                LeaseContract::blockingStage,
                limiting((plain, limit) -> flawed(Mutex.class, plain, TIMED, patience -> plain.tryAcquire(
                                (Duration) patience[0])
                        .map(lease -> {
                            CompletableFuture<LossCause> lost = new CompletableFuture<>();
                            var unused = supplyAsync(
                                            () -> lost.complete(LossCause.HELD_TOO_LONG),
                                            CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS))
                                    .thenAccept(stagesHaveRun -> lease.close());
                            return flawed(Lease.class, lease, "lost()", none -> lost);
                        }))));
    }

    @Test
    void limitThatADowngradeLoses_isFound() throws Exception {
        UnaryOperator<LockClient> losing = client -> flawed(LockClient.class, client, "readWriteLock(", path -> {
            ReadWriteLock lock = client.readWriteLock((String) path[0]);
            return flawed(
                    ReadWriteLock.class,
                    lock,
                    "downgrade(",
                    write -> flawed(
                            Lease.class,
                            lock.downgrade((Lease) write[0]),
                            "lost()",
                            none -> new CompletableFuture<LossCause>()));
        });
        assertFoundBy("not within PT", ReadWriteLockContract::limitOfADowngradedLease, new ReadWriteLockContract() {
            @Override
            protected LockFixture newFixture() {
                return new Impatient(losing);
            }
        });
    }

    private static UnaryOperator<LockClient> closing(BiConsumer<LockClient, Duration> flaw) {
        return client -> flawed(LockClient.class, client, "close(java.time.Duration)", grace -> {
            if (grace[0] == null || ((Duration) grace[0]).isNegative()) {
                client.close((Duration) grace[0]);
            }
            flaw.accept(client, (Duration) grace[0]);
            return null;
        });
    }

    @Test
    void closeThatWaitsForNoHolder_isFound() throws Exception {
        assertFound("expected: <true>", LeaseContract::closeWithAGrace, closing((client, grace) -> client.close()));
    }

    @Test
    void graceWithoutAnEnd_isFound() throws Exception {
        assertFound(
                "not within PT",
                LeaseContract::graceOver,
                closing((client, grace) -> client.close(Duration.ofDays(1))));
    }

    @Test
    void closeThatAsksNoHolder_isFound() throws Exception {
        assertFound("not within PT", LeaseContract::holdersAreAsked, closing((client, grace) -> {}));
    }

    /** In a thread of its own, for which the caller waits. */
    private static void closeElsewhere(LockClient client, Duration grace) {
        Thread elsewhere = new Thread(() -> client.close(grace));
        elsewhere.start();
        Uninterruptibles.joinUninterruptibly(elsewhere);
    }

    @Test
    void closeThatWaitsForItsOwnBody_isFound() throws Exception {
        assertFound("not within PT", LeaseContract::closeFromABody, closing(FlawedLocksTest::closeElsewhere));
    }

    @Test
    void closeThatIsNotInterrupted_isFound() throws Exception {
        assertFound("not within PT", LeaseContract::interruptedClose, closing(FlawedLocksTest::closeElsewhere));
    }

    @Test
    void bodyThatIsNotInterrupted_isFound() throws Exception {
        UnaryOperator<LockClient> continuing = client -> flawed(LockClient.class, client, "mutex(", path -> {
            Mutex mutex = client.mutex((String) path[0]);
            return flawed(Mutex.class, mutex, "call(io.latchkey.lock.OnLoss", args -> withoutInterrupt(mutex, args));
        });
        assertFound("TimeoutException", LeaseContract::interruptedOnLoss, continuing);
        assertFound("TimeoutException", LeaseContract::interruptedOnDeletion, continuing);
    }

    @SuppressWarnings("unchecked")
    private static Object withoutInterrupt(Mutex mutex, Object[] args) throws Exception {
        return mutex.call((LeaseFunction<Object, Exception>) args[1]);
    }

    @Test
    void sessionThatNeverChanges_isFound() throws Exception {
        assertFound("it is disconnected", LeaseContract::session, client -> {
            SessionStatus first = client.session();
            return flawed(LockClient.class, client, "session()", none -> first);
        });
    }

    @Test
    void labelThatIsDropped_isFound() throws Exception {
        assertTold(
                "invoice 7",
                AcquirableContract::labels,
                lock -> flawed(Mutex.class, lock, "labelled(", label -> lock.labelled("")));
    }

    @Test
    void questionWithoutAnAnswer_isFound() throws Exception {
        assertTold(
                "not within PT",
                AcquirableContract::queueAsync,
                lock -> flawed(Mutex.class, lock, "queueAsync()", none -> new CompletableFuture<>()));
    }

    @Test
    void requestOfAnotherClientThatCountsAsOwn_isFound() throws Exception {
        assertTold(
                "expected: <false>",
                AcquirableContract::ownContenders,
                lock -> flawed(Mutex.class, lock, "queue()", none -> lock.queue().stream()
                        .map(contender -> flawed(Contender.class, contender, "isOwn()", nothing -> true))
                        .toList()));
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
                                for (Contender each : lock.queue()) {
                                    each.evict();
                                }
                            }
                            return lease.releaseAsync();
                        }))));
    }
}
