// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    private static <T> T soon(CompletionStage<T> due) throws Exception {
        return due.toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    // ---- closes

    /** Its pauses double up to ten seconds, and each is cut by half at most: the eighth is one of at least five. */
    @Test
    @Tag("slow")
    @SuppressWarnings("try") // It is closed early: that is what it is about.
    void candidateEndsAtOnce_whenItIsClosedInALongPause() throws Exception {
        Mutex refusing = granting(lease -> {
            lease.close();
            throw new LockException("a quota", LockException.Reason.QUOTA_EXCEEDED);
        });
        AtomicReference<Duration> pause = new AtomicReference<>(Duration.ZERO);
        try (Leadership candidate = Leadership.start(refusing, lease -> Leadership.Next.END, new Leadership.Reports() {
            @Override
            public void mutexRefused(Throwable why, Duration next) {
                pause.set(next);
            }
        })) {
            Eventually.holds(
                    "a long pause",
                    SOON,
                    () -> pause.get().compareTo(Duration.ofSeconds(5)) >= 0
                            && candidate.state() == Leadership.State.PAUSING);
            long start = System.nanoTime();
            candidate.close();
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            assertTrue(took.compareTo(Duration.ofSeconds(3)) < 0, () -> "closed after " + took);
        }
    }

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
            spinUntil(() -> second.getState() == Thread.State.TIMED_WAITING);
            interruptedAtRelease.complete(Thread.currentThread().isInterrupted());
        }));
        Leadership candidate = Leadership.start(mutex, lease -> {
            new CountDownLatch(1).await();
            return Leadership.Next.QUEUE_AGAIN;
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
    @Tag("slow")
    void candidateEndsNormally_whenItsThreadIsFasterThanTheCloseThatInterruptsIt() throws Exception {
        Lease held = client.mutex(PATH).acquire();
        Leadership candidate = Leadership.start(
                locks.client().mutex(PATH),
                lease -> Leadership.Next.END,
                new Leadership.Reports() {},
                task -> new Thread(task, "latchkey-waits") {
                    @Override
                    public void interrupt() {
                        super.interrupt();
                        spinUntil(() -> !isAlive());
                    }
                });
        Eventually.holds(
                "the candidate waits", SOON, () -> candidate.candidates().size() == 2);
        candidate.close();
        assertTrue(candidate.ended().toCompletableFuture().isDone());
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
            return Leadership.Next.QUEUE_AGAIN;
        }));
        Thread starter = new Thread(starts, "latchkey-starts");
        starter.setDaemon(false); // a new thread is a daemon if its creator is one
        starter.start();
        Leadership candidate = starts.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertTrue(soon(runs).isDaemon(), "a candidate would keep the process alive");
        Thread.currentThread().interrupt();
        candidate.close();
        assertTrue(Thread.interrupted(), "the status stays set");
        assertFalse(candidate.ended().toCompletableFuture().isDone());
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
            public void termOver(Lease lease) {
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

    // ---- interrupts that block, are used up, or come late

    /** A thread whose interrupts block until the test lets them go on. */
    private static final class SlowToInterrupt extends Thread {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayGoOn = new CountDownLatch(1);

        SlowToInterrupt(Runnable task) {
            super(task, "latchkey-slow-to-interrupt");
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            entered.countDown();
            Uninterruptibles.awaitUninterruptibly(mayGoOn);
            super.interrupt();
        }
    }

    @Test
    @Tag("slow")
    void stepDownAndCloseReturn_whenTheInterruptOfTheThreadBlocks() throws Exception {
        CompletableFuture<SlowToInterrupt> thread = new CompletableFuture<>();
        CountDownLatch mayEnd = new CountDownLatch(1);
        Leadership candidate = Leadership.start(
                client.mutex(PATH),
                lease -> {
                    mayEnd.await();
                    return Leadership.Next.QUEUE_AGAIN;
                },
                new Leadership.Reports() {},
                task -> {
                    SlowToInterrupt made = new SlowToInterrupt(task);
                    thread.complete(made);
                    return made;
                });
        Eventually.holds("it leads", SOON, candidate::isLeader);
        candidate.stepDown();
        soon(thread).entered.await();
        assertEquals(Leadership.State.ENDING, candidate.state());
        assertTrue(candidate.toString().contains("was asked to end"), candidate::toString);
        assertFalse(candidate.close(Duration.ZERO));
        assertFalse(candidate.isLeader());
        assertTrue(client.mutex(PATH).queue().isEmpty());
        mayEnd.countDown();
        soon(candidate.ended());
        soon(thread).mayGoOn.countDown();
    }

    /** The listener's wait does not need the interrupt. */
    @Test
    void listenerHearsTheEnd_whenTheInterruptOfTheThreadBlocks() throws Exception {
        CompletableFuture<SlowToInterrupt> thread = new CompletableFuture<>();
        BodyInterruption[] body = new BodyInterruption[1];
        CompletableFuture<Void> ended = new CompletableFuture<>();
        Lease lease = client.mutex(PATH).acquire();
        SlowToInterrupt waits = new SlowToInterrupt(() -> {
            body[0] = new BodyInterruption();
            thread.complete((SlowToInterrupt) Thread.currentThread());
            try {
                body[0].awaitDemand(lease);
                ended.complete(null);
            } catch (InterruptedException interrupted) {
                ended.completeExceptionally(interrupted);
            }
        });
        waits.start();
        soon(thread);
        assertTrue(body[0].demand(BodyInterruption.Demand.STEP_DOWN));
        CompletableFuture<Void> sent = CompletableFuture.runAsync(body[0]::send);
        soon(ended);
        waits.mayGoOn.countDown();
        soon(sent);
    }

    @Test
    @Tag("slow")
    void candidateIsStillOne_whenAnInterruptComesAfterItsTerm() throws Exception {
        CompletableFuture<SlowToInterrupt> thread = new CompletableFuture<>();
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicInteger terms = new AtomicInteger();
        LockClient other = locks.client();
        Leadership candidate = Leadership.start(
                client.mutex(PATH),
                lease -> {
                    terms.incrementAndGet();
                    mayEnd.await();
                    return Leadership.Next.QUEUE_AGAIN;
                },
                new Leadership.Reports() {},
                task -> {
                    SlowToInterrupt made = new SlowToInterrupt(task);
                    thread.complete(made);
                    return made;
                });
        Eventually.holds("it leads", SOON, candidate::isLeader);
        CompletableFuture<Lease> next = other.mutex(PATH).acquireAsync();
        candidate.stepDown();
        soon(thread).entered.await();
        mayEnd.countDown();
        Lease held = soon(next);
        Eventually.holds("it queues again", SOON, () -> candidate.candidates().size() == 2);
        soon(thread).mayGoOn.countDown();
        held.close();
        Eventually.holds("it leads again", SOON, () -> terms.get() > 1);
        candidate.close();
        soon(candidate.ended());
    }

    /** Code around the request uses the interrupt up, as that of an observation can. */
    @Test
    void requestEnds_whenTheInterruptOfTheCloseIsUsedUp() throws Exception {
        Lease held = client.mutex(PATH).acquire();
        Mutex mutex = locks.client().mutex(PATH);
        CountDownLatch asks = new CountDownLatch(1);
        Mutex deaf = proxy(Mutex.class, (proxy, method, args) -> {
            if (method.getName().equals("acquire")) {
                asks.countDown();
                spinUntil(() -> Thread.currentThread().isInterrupted());
                boolean unused = Thread.interrupted();
            }
            return forward(mutex, method, args);
        });
        Leadership candidate = Leadership.start(deaf, lease -> Leadership.Next.END);
        asks.await();
        candidate.close();
        soon(candidate.ended());
        held.close();
    }

    // ---- what is shown and reported

    @Test
    @Tag("slow")
    void bodyThatDoesNotEnd_isReportedOnce() throws Exception {
        try (SimulatedLocks brief = SimulatedLocks.start(Duration.ofSeconds(1))) {
            List<String> log = new CopyOnWriteArrayList<>();
            CountDownLatch mayEnd = new CountDownLatch(1);
            AtomicInteger terms = new AtomicInteger();
            Leadership candidate = Leadership.start(
                    brief.client().mutex(PATH),
                    lease -> {
                        Uninterruptibles.awaitUninterruptibly(mayEnd);
                        if (terms.incrementAndGet() > 1) { // it may lead again before it is closed
                            return Leadership.Next.END;
                        }
                        throw new IllegalStateException("of the body");
                    },
                    Leadership.Reports.to(log::add));
            Eventually.holds("it leads", SOON, candidate::isLeader);
            long epoch = candidate.epoch().orElseThrow();
            candidate.stepDown();
            Eventually.holds("it is reported", SOON, () -> !log.isEmpty());
            assertTrue(log.get(0).contains(PATH) && log.get(0).contains("epoch " + epoch), log::toString);
            mayEnd.countDown();
            candidate.close();
            assertEquals(2, log.size(), log::toString);
            assertTrue(log.get(1).contains("of the body"), log::toString);
        }
    }

    /** After a loss and after a demand: the report does not wait for the interrupt. */
    @ParameterizedTest
    @Tag("slow")
    @ValueSource(booleans = {false, true})
    void bodyThatDoesNotEnd_isReported_whenTheInterruptOfTheThreadBlocks(boolean lost) throws Exception {
        try (SimulatedLocks brief = SimulatedLocks.start(Duration.ofSeconds(1))) {
            List<String> log = new CopyOnWriteArrayList<>();
            CountDownLatch mayEnd = new CountDownLatch(1);
            CompletableFuture<SlowToInterrupt> thread = new CompletableFuture<>();
            LockClient own = brief.client();
            Leadership candidate = Leadership.start(
                    own.mutex(PATH),
                    lease -> {
                        Uninterruptibles.awaitUninterruptibly(mayEnd);
                        return Leadership.Next.END;
                    },
                    Leadership.Reports.to(log::add),
                    task -> {
                        SlowToInterrupt made = new SlowToInterrupt(task);
                        thread.complete(made);
                        return made;
                    });
            Eventually.holds("it leads", SOON, candidate::isLeader);
            // In the simulation, the thread that ends the session interrupts.
            CompletableFuture<Void> demand =
                    CompletableFuture.runAsync(lost ? () -> brief.expire(own) : candidate::stepDown);
            assertTrue(soon(thread).entered.await(SOON.toSeconds(), TimeUnit.SECONDS));
            try {
                Eventually.holds("it is reported", SOON, () -> !log.isEmpty());
                assertTrue(log.get(0).contains("has not ended"), log::toString);
            } finally {
                mayEnd.countDown();
                soon(thread).mayGoOn.countDown();
            }
            soon(demand);
            candidate.close();
        }
    }

    @Test
    void looksAtTheEnd_areOneStageThatNoCallerCompletes() {
        Leadership candidate = Leadership.start(client.mutex(PATH), lease -> {
            new CountDownLatch(1).await();
            return Leadership.Next.END;
        });
        assertSame(candidate.ended(), candidate.ended());
        assertTrue(candidate.ended().toCompletableFuture().complete(null));
        assertFalse(candidate.ended().toCompletableFuture().isDone());
        candidate.close();
        assertTrue(candidate.ended().toCompletableFuture().isDone());
    }

    @Test
    void stagesOfTheEndAreNotInterruptedAndNotWaitedFor() throws Exception {
        CountDownLatch mayEnd = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Leadership candidate = Leadership.start(client.mutex(PATH), lease -> {
            mayEnd.await();
            Thread.currentThread().interrupt();
            return Leadership.Next.END;
        });
        var unused = candidate.ended().thenRun(() -> {
            interrupted.complete(Thread.currentThread().isInterrupted());
            Uninterruptibles.awaitUninterruptibly(goOn);
        });
        mayEnd.countDown();
        assertFalse(soon(interrupted));
        candidate.close();
        goOn.countDown();
    }

    @Test
    @SuppressWarnings("ThreadPriorityCheck") // which a caller can have
    void threadOfTheCandidateInheritsNothing() throws Exception {
        InheritableThreadLocal<String> inherited = new InheritableThreadLocal<>();
        CompletableFuture<String> found = new CompletableFuture<>();
        Thread caller = new Thread(
                () -> {
                    inherited.set("of the caller");
                    Leadership unused = Leadership.start(client.mutex(PATH), lease -> {
                        Thread mine = Thread.currentThread();
                        found.complete(inherited.get() + ", "
                                + mine.getContextClassLoader().equals(getClass().getClassLoader()) + ", "
                                + mine.getPriority() + ", " + mine.isDaemon());
                        return Leadership.Next.END;
                    });
                },
                "latchkey-caller");
        caller.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        caller.setPriority(Thread.MAX_PRIORITY);
        caller.setDaemon(false);
        caller.start();
        assertEquals("null, true, " + Thread.NORM_PRIORITY + ", true", soon(found));
    }

    /** Nothing is left of the lease for which the thread waits. */
    @Test
    void listenersTermEnds_whenItReleasesItsLease() throws Exception {
        List<Long> epochs = new CopyOnWriteArrayList<>();
        try (Leadership candidate = Leadership.start(client.mutex(PATH), new Leadership.Listener() {
            @Override
            public void elected(Lease lease) {
                epochs.add(lease.token());
                if (epochs.size() == 1) {
                    lease.close();
                }
            }

            @Override
            public void termOver(Lease lease) {}
        })) {
            Eventually.holds("it leads again", SOON, () -> epochs.size() > 1 && candidate.isLeader());
        }
    }
}
