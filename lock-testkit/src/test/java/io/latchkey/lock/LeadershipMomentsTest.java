// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.time.Eventually;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A candidate that is closed in moments between two statements of its thread. */
@Timeout(60)
class LeadershipMomentsTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String PATH = "/leader";

    private final SimulatedLocks locks = SimulatedLocks.start();
    private final LockClient client = locks.client();

    @AfterEach
    void close() {
        boolean unused = Thread.interrupted();
        locks.close();
    }

    // ---- mutexes and leases with a step of the test in them

    /** The mutex, whose leases go through {@code grant} on their way to the candidate. */
    private Mutex granting(UnaryOperator<Lease> grant) {
        Mutex mutex = client.mutex(PATH);
        return proxy(Mutex.class, (proxy, method, args) -> {
            if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, args);
            }
            Object result = forward(mutex, method, args);
            return method.getName().equals("acquire") ? grant.apply((Lease) result) : result;
        });
    }

    /** The lease, with a step right before its release. */
    private static Lease releasing(Lease lease, Runnable step) {
        return proxy(Lease.class, (proxy, method, args) -> {
            if (method.getName().equals("release")) {
                step.run();
            }
            return forward(lease, method, args);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object forward(Object to, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(to, args);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    /** A thread that closes the candidate. */
    private static Thread closing(Leadership candidate) {
        Thread thread = new Thread(candidate::close, "latchkey-closes");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** For threads whose interrupt status is looked at, and may be set. */
    private static void spinUntil(BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - start < SOON.toNanos(), "not within " + SOON);
            Thread.onSpinWait();
        }
    }

    private static <T> T soon(Future<T> due) throws Exception {
        return due.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    // ---- closes

    /** Its thread has the lease, and has not begun the term: there is no body that could be interrupted. */
    @Test
    void noBodyRunsAndTheReleaseIsNotInterrupted_whenTheCandidateIsClosedAtItsGrant() throws Exception {
        CompletableFuture<Leadership> itself = new CompletableFuture<>();
        CompletableFuture<Boolean> interruptedAtRelease = new CompletableFuture<>();
        AtomicInteger terms = new AtomicInteger();
        Mutex mutex = granting(lease -> {
            Thread unused = closing(itself.join());
            spinUntil(() -> Thread.currentThread().isInterrupted());
            return releasing(
                    lease,
                    () -> interruptedAtRelease.complete(Thread.currentThread().isInterrupted()));
        });
        Leadership candidate = Leadership.start(mutex, lease -> {
            terms.incrementAndGet();
            return Leadership.Next.END;
        });
        itself.complete(candidate);
        soon(candidate.ended());
        assertEquals(0, terms.get());
        assertFalse(soon(interruptedAtRelease), "the release would not wait for its response");
        assertTrue(client.mutex(PATH).queue().isEmpty());
    }

    @Test
    void candidateDoesNotLeadAndIsNotInterruptedAgain_whenItIsClosedTwiceAndReleases() throws Exception {
        CompletableFuture<Leadership> itself = new CompletableFuture<>();
        CompletableFuture<Boolean> leadsAtRelease = new CompletableFuture<>();
        CompletableFuture<Boolean> interruptedAtRelease = new CompletableFuture<>();
        Mutex mutex = granting(lease -> releasing(lease, () -> {
            leadsAtRelease.complete(itself.join().isLeader());
            Thread second = closing(itself.join());
            spinUntil(() -> second.getState() == Thread.State.WAITING);
            interruptedAtRelease.complete(Thread.currentThread().isInterrupted());
        }));
        Leadership candidate = Leadership.start(mutex, lease -> {
            new CountDownLatch(1).await();
            return Leadership.Next.CANDIDATE;
        });
        itself.complete(candidate);
        Eventually.holds("the candidate leads", SOON, candidate::isLeader);
        candidate.close();
        assertFalse(soon(leadsAtRelease), "its body had ended");
        assertFalse(soon(interruptedAtRelease), "the release would not wait for its response");
        assertTrue(client.mutex(PATH).queue().isEmpty());
    }

    /** The interrupt wakes the candidate's thread, which ends before the close goes on. */
    @Test
    void candidateEndsNormally_whenItsThreadIsFasterThanTheCloseThatInterruptsIt() throws Exception {
        Lease held = client.mutex(PATH).acquire();
        Leadership candidate = Leadership.start(
                locks.client().mutex(PATH), lease -> Leadership.Next.END, task -> new Thread(task, "latchkey-waits") {
                    @Override
                    public void interrupt() {
                        super.interrupt();
                        spinUntil(() -> !isAlive());
                    }
                });
        Eventually.holds(
                "the candidate waits", SOON, () -> candidate.candidates().size() == 2);
        candidate.close();
        assertTrue(candidate.ended().isDone());
        soon(candidate.ended());
        assertTrue(held.isValid());
        held.close();
    }

    @Test
    void closeNoLongerWaits_whenItsThreadIsInterrupted() throws Exception {
        CompletableFuture<Thread> runs = new CompletableFuture<>();
        CountDownLatch mayEnd = new CountDownLatch(1);
        FutureTask<Leadership> starts = new FutureTask<>(() -> Leadership.start(client.mutex(PATH), lease -> {
            runs.complete(Thread.currentThread());
            Uninterruptibles.awaitUninterruptibly(mayEnd);
            return Leadership.Next.CANDIDATE;
        }));
        Thread starter = new Thread(starts, "latchkey-starts");
        starter.setDaemon(false); // a new thread is a daemon if its creator is one
        starter.start();
        Leadership candidate = soon(starts);
        assertTrue(soon(runs).isDaemon(), "a candidate would keep the process alive");
        Thread.currentThread().interrupt();
        candidate.close();
        assertTrue(Thread.interrupted(), "the status stays set");
        assertFalse(candidate.ended().isDone());
        mayEnd.countDown();
        soon(candidate.ended());
    }

    /** Nothing else tells the listener that the term is over, and that it may be another's from now on. */
    @Test
    void listenerHearsTheEndOfEachTermBeforeTheRelease_whenItsBeginningIsInterrupted() throws Exception {
        List<Boolean> validAtTheEnd = new CopyOnWriteArrayList<>();
        Leadership candidate = Leadership.start(client.mutex(PATH), new Leadership.Listener() {
            @Override
            public void elected(Lease lease) throws InterruptedException {
                new CountDownLatch(1).await();
            }

            @Override
            public void over(Lease lease) {
                validAtTheEnd.add(lease.isValid());
            }
        });
        Eventually.holds("it leads", SOON, candidate::isLeader);
        long epoch = candidate.epoch().orElseThrow();
        candidate.stepDown();
        Eventually.holds("it leads again", SOON, () -> candidate.epoch().orElse(epoch) > epoch);
        candidate.close();
        assertEquals(List.of(true, true), validAtTheEnd);
    }

    /** It ignores the interrupt, and throws what also says that another lock is lost. */
    @Test
    void candidateQueuesAgain_whenItsBodyThrowsTheLossOfItsLease() throws Exception {
        AtomicBoolean mayEnd = new AtomicBoolean();
        Leadership candidate = Leadership.start(client.mutex(PATH), lease -> {
            while (!mayEnd.get()) {
                lease.ensureValid();
            }
            return Leadership.Next.END;
        });
        Eventually.holds("it leads", SOON, candidate::isLeader);
        long epoch = candidate.epoch().orElseThrow();
        locks.expire(client);
        Eventually.holds("it leads again", SOON, () -> candidate.epoch().orElse(epoch) > epoch);
        mayEnd.set(true);
        soon(candidate.ended());
    }
}
