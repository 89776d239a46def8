// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import io.latchkey.log.LoggedErrors;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.context.HeldLeases;
import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.store.CountedStore;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.Clock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An error in each place where the engine calls what is not its own state: a request to the store, a look at the clock,
 * a timer, an id. Thrown once, or at each call from then on, it leaves no answer open, no lease valid that another
 * client may hold as well, and no node for longer than the session.
 */
@Tag("slow")
class FailStopTest {
    /** Where the error is thrown. */
    private enum Source {
        STORE,
        CLOCK,
        TIMER,
        ID
    }

    /** How the client has its session, and whether its threads take turns. */
    private enum Kind {
        OWN,
        OWN_WITH_TURNS,
        BORROWED
    }

    @AfterEach
    void forgetTheErrors() {
        var unused = LoggedErrors.ofThisThread();
    }

    @ParameterizedTest
    @EnumSource
    void nothingStaysOpenOrHeld_whereverAnErrorIsThrownOnce(Kind kind) throws Exception {
        for (Source source : Source.values()) {
            int place = 0;
            while (new Run(kind, source, place, 1).play()) {
                place++;
            }
            assertTrue(place > 2, "only " + place + " calls of " + source);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void nothingStaysOpenOrHeld_whereverErrorsAreThrownFromThenOn(Kind kind) throws Exception {
        for (Source source : Source.values()) {
            int place = 0;
            while (new Run(kind, source, place, Integer.MAX_VALUE).play()) {
                place++;
            }
            assertTrue(place > 2, "only " + place + " calls of " + source);
        }
    }

    @Test
    void clientContinuesWithANewSession_andIsClosedIfThatFailsBeforeAGrant() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 2);
        Lease lease = run.lease(run.locks.mutex("/a").acquireAsync());
        run.throwNow();
        CompletableFuture<Lease> failed = run.locks.mutex("/b").acquireAsync();
        run.settle();
        assertEquals(LeaseState.LOST, lease.state());
        assertEquals(LossCause.CLIENT_FAILED, lease.lost().toCompletableFuture().getNow(null));
        assertEquals(LockException.Reason.CLIENT_FAILED, run.reason(failed));
        CompletableFuture<Lease> again = run.locks.mutex("/b").acquireAsync();
        run.settle();
        assertEquals(LockException.Reason.CLIENT_CLOSED, run.reason(again));
        assertEquals(
                LockException.Reason.CLIENT_CLOSED,
                run.reason(run.locks.mutex("/c").acquireAsync()));
        run.locks.close();
    }

    @Test
    void clientContinues_whenItHasGrantedBetweenTwoErrors() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 2);
        for (int i = 0; i < 3; i++) {
            Lease lease = run.lease(run.locks.mutex("/a").acquireAsync());
            run.throwNow(1);
            assertEquals(
                    LockException.Reason.CLIENT_FAILED,
                    run.reason(run.locks.mutex("/b").acquireAsync()));
            assertFalse(lease.isValid());
        }
    }

    /** The step that hands the handle to its session is dropped with all others. */
    @Test
    void handleIsClosed_whenTheClientFailsAfterItWasOpened() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 0);
        run.whileOpening = () -> run.engine.context().execute(() -> {
            throw new InternalError("thrown by a test");
        });
        run.leader.closeSession(Objects.requireNonNull(run.store).session());
        run.pass(Run.SESSION);
        assertEquals(3, run.opened);
        assertEquals(2, run.closed.size());
        run.locks.close();
        run.settle();
        assertEquals(3, run.closed.size());
    }

    @Test
    void handleIsClosed_whenTheClientIsClosedBeforeItIsOpen() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 0);
        Queue<Runnable> later = new ArrayDeque<>();
        run.handles = later::add;
        run.leader.closeSession(Objects.requireNonNull(run.store).session());
        run.pass(Run.SESSION);
        run.engine.context().execute(run.engine::close);
        run.settle();
        while (!later.isEmpty()) {
            later.remove().run();
        }
        assertEquals(2, run.opened);
        assertTrue(run.closed.contains(run.store));
    }

    @Test
    void closeIsOver_onlyWhenTheClientDoesNotGoOn() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 0);
        run.engine.onceClosed(() -> run.ends.add("over"));
        run.engine.context().fail(new InternalError("thrown by a test"));
        run.pass(Run.SESSION);
        assertEquals(List.of(), run.ends);
        run.engine.context().fail(new InternalError("thrown by a test"));
        run.pass(Run.SESSION);
        assertEquals(Set.of("CLOSED", "over"), Set.copyOf(run.ends));
    }

    /** Nothing extends or ends it any more, and the thread that notifies its owner may be late. */
    @Test
    void leaseIsNotValid_fromTheMomentOfAnErrorOn() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 0);
        Lease lease = run.lease(run.locks.mutex("/a").acquireAsync());
        Queue<Runnable> later = new ArrayDeque<>();
        run.handles = later::add;
        run.engine.context().fail(new InternalError("thrown by a test"));
        assertFalse(lease.isValid());
        assertEquals(LeaseState.LOST, lease.state());
        assertEquals(Optional.of(LossCause.CLIENT_FAILED), lease.lossCause());
        assertThrows(LeaseLostException.class, lease::ensureValid);
        while (!later.isEmpty()) {
            later.remove().run();
        }
        assertEquals(LossCause.CLIENT_FAILED, lease.lost().toCompletableFuture().getNow(null));
        run.locks.close();
    }

    /**
     * A lease that has ended and is still among those that are held.
     *
     * @param whileEnded runs when it is to be ended
     */
    private record NoOnesLease(Runnable whileEnded, List<String> told) implements HeldLeases.HeldLease {
        @Override
        public boolean hasEnded() {
            return true;
        }

        @Override
        public boolean end(LossCause cause) {
            whileEnded.run();
            return false;
        }

        @Override
        public void notifyOwner(LossCause cause) {
            told.add("told of " + cause);
        }

        @Override
        public CompletableFuture<@Nullable Void> notified() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public RequestEvents events() {
            throw new IllegalStateException("asked for its events");
        }
    }

    /** Another thread has just ended it, and has not yet taken it out of the leases that are held. */
    @Test
    void ownerHearsOfNoLoss_whenItHasJustReleased() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 0);
        run.engine.context().held().add(new NoOnesLease(() -> {}, run.ends));
        run.engine.context().fail(new InternalError("thrown by a test"));
        assertEquals(List.of(), run.ends);
        run.locks.close();
    }

    /**
     * As the thread that delivers answers does while a caller's runs the step. It has looked at the leases, and not yet
     * at the answers, when the step that grants goes on.
     */
    @Test
    void ownerHearsOfTheLoss_whenAnotherThreadFailsTheEngineWhileAStepGrants() throws Exception {
        int granted = 0;
        boolean reached = true;
        for (int place = 0; reached; place++) {
            Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 0);
            CompletableFuture<Void> leasesAreRead = new CompletableFuture<>();
            CompletableFuture<Void> stepIsOver = new CompletableFuture<>();
            run.engine
                    .context()
                    .held()
                    .add(new NoOnesLease(
                            () -> {
                                leasesAreRead.complete(null);
                                stepIsOver.join();
                            },
                            run.ends));
            ClientContext context = run.engine.context();
            FutureTask<List<LoggedErrors.LoggedError>> fails = new FutureTask<>(() -> {
                context.fail(new InternalError("thrown by a test"));
                return LoggedErrors.ofThisThread();
            });
            run.atLookInAStep = place;
            run.inAStep = () -> {
                if (context.held().all().size() == 1) { // the lease that is to be granted is not among them yet
                    new Thread(fails).start();
                    leasesAreRead.join();
                }
            };
            CompletableFuture<Lease> asked = run.locks.mutex("/a").acquireAsync();
            run.settle();
            reached = leasesAreRead.isDone();
            stepIsOver.complete(null);
            if (reached) {
                assertEquals(1, fails.get().size());
            }
            Lease lease = reached && !asked.isCompletedExceptionally() ? asked.getNow(null) : null;
            if (lease != null) {
                granted++;
                assertEquals(
                        LossCause.CLIENT_FAILED,
                        lease.lost().toCompletableFuture().getNow(null));
                assertEquals(List.of("granted", "lost"), run.ofLeases);
            }
            run.locks.close();
            run.pass(Run.SESSION);
            assertEquals("CLOSED", run.ends.get(run.ends.size() - 1));
        }
        assertTrue(granted > 0, "no step went on");
    }

    /** The bound of the notice is a timer, which the close of the next core must not end. */
    @Test
    void handleIsClosed_whenTheClientIsClosedWhileAnOwnerIsNotified() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 0);
        Lease lease = run.lease(run.locks.mutex("/a").acquireAsync());
        var unused = lease.lost();
        run.callbacks = never -> {};
        run.engine.context().fail(new InternalError("thrown by a test"));
        assertEquals(0, run.closed.size());
        run.engine.context().execute(run.engine::close);
        run.pass(Run.SESSION);
        assertEquals(run.opened, run.closed.size());
        assertTrue(run.clockIsClosed);
    }

    @ParameterizedTest
    @EnumSource
    void timerEnds_whenTheClientIsClosedByAnError(Kind kind) throws Exception {
        Run run = new Run(kind, Source.STORE, Integer.MAX_VALUE, 0);
        for (int core = 0; core < 2; core++) {
            run.engine.context().fail(new InternalError("thrown by a test"));
        }
        run.pass(Run.SESSION);
        assertTrue(run.clockIsClosed);
    }

    /** The step that would give it up is dropped. */
    @ParameterizedTest
    @EnumSource
    void requestIsReported_whenItIsCancelledJustBeforeAnError(Kind kind) throws Exception {
        Run run = new Run(kind, Source.STORE, Integer.MAX_VALUE, 0);
        Lease others = run.other.acquire("/a");
        CompletableFuture<Lease> cancelled = run.locks.mutex("/a").acquireAsync();
        run.pass(Run.SESSION);
        run.engine.context().execute(() -> {
            assertTrue(cancelled.cancel(false));
            throw new InternalError("thrown by a test");
        });
        run.locks.close();
        run.pass(Run.SESSION);
        assertEquals(List.of("CANCELLED", "CLOSED"), run.ends);
        var unused = others.releaseAsync();
    }

    @Test
    void waitForTheFirstConnectionEnds_whenTheClientDoes() throws Exception {
        Run run = new Run(Kind.OWN, Source.STORE, Integer.MAX_VALUE, 0);
        Engine unconnected = new Engine(run.config());
        unconnected.start();
        assertFalse(unconnected.awaitConnection(Duration.ZERO));
        for (int core = 0; core < 2; core++) {
            unconnected.context().fail(new InternalError("thrown by a test"));
        }
        assertThrows(ClientClosedException.class, () -> unconnected.awaitConnection(Duration.ZERO));
    }

    /** One scenario, in which the error is thrown at one place. */
    private static final class Run extends OnSimulatedServer implements ClientConfig.Opener {
        private final Kind kind;
        private final boolean lasting;
        private final Source source;
        private final int place;
        private int most;
        private int calls;
        private boolean reached;
        private boolean armed;
        private long ids;

        private final Client other;
        private final Engine engine;
        private final EngineLockClient locks;
        private @Nullable SimulatedStore store;
        private Runnable whileOpening = () -> {};
        /** Runs at a look at the clock in a step: at this one, if zero is the first. */
        private @Nullable Runnable inAStep;

        private int atLookInAStep;
        private Executor callbacks = Runnable::run;
        private Executor handles = Runnable::run;
        private boolean clockIsClosed;
        private int opened;
        private final Set<ZnodeStore> closed = new HashSet<>();
        /** What the observer hears of requests without a lease, and of the close. */
        private final List<String> ends = new ArrayList<>();
        /** What it hears of leases. */
        private final List<String> ofLeases = new ArrayList<>();

        private final List<CompletableFuture<?>> answers = new ArrayList<>();
        private final List<Lease> leases = new ArrayList<>();

        Run(Kind kind, Source source, int place, int most) throws Exception {
            this.kind = kind;
            this.lasting = most == Integer.MAX_VALUE;
            this.source = source;
            this.place = place;
            this.most = most;
            this.other = new Client(1, checks -> {});
            this.engine = new Engine(config());
            this.locks = new EngineLockClient(
                    engine,
                    kind == Kind.OWN_WITH_TURNS
                            ? Optional.of(new LocalHandOff(engine, 10, Duration.ofHours(1)))
                            : Optional.empty());
            engine.start();
            settle();
            armed = true;
        }

        private ClientConfig config() {
            return new ClientConfig(
                    kind == Kind.BORROWED ? new ClientConfig.Source.Borrowed(this) : new ClientConfig.Source.Own(this),
                    SESSION,
                    Optional.empty(),
                    new OwnerData("simulated", 1, "failing"),
                    () -> {
                        strike(Source.ID);
                        return ids++;
                    },
                    new FailingClock(leader.time().view()),
                    new Outbox(
                            Runnable::run,
                            task -> callbacks.execute(task),
                            task -> handles.execute(task),
                            ClientLog.inPlace(),
                            Optional.of(ObserverDispatcher.inPlace(new Ends()))),
                    Runnable::run,
                    Namings.LATCHKEY);
        }

        private final class Ends implements LockObserver {
            @Override
            public void granted(Request request, long token, Duration waited) {
                ofLeases.add("granted");
            }

            @Override
            public void lost(Request request, long token, LossCause cause, Duration held) {
                ofLeases.add("lost");
            }

            @Override
            public void notGranted(
                    Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
                ends.add(failure.name());
            }

            @Override
            public void sessionChanged(SessionState state) {
                if (state == SessionState.CLOSED) {
                    ends.add(state.name());
                }
            }
        }

        void throwNow() {
            throwNow(2);
        }

        void throwNow(int times) {
            calls = Integer.MAX_VALUE - 1;
            most = times;
        }

        private void strike(Source from) {
            if (armed && from == source && calls++ >= place && most > 0) {
                calls = Integer.MAX_VALUE - 1;
                reached = true;
                most--;
                throw new InternalError("thrown by a test");
            }
        }

        @Override
        public ZnodeStore open(ZnodeStore.Listener listener) {
            opened++;
            Runnable now = whileOpening;
            whileOpening = () -> {};
            now.run();
            return new CountedStore(failing(listener), Long.MAX_VALUE);
        }

        private ZnodeStore failing(ZnodeStore.Listener listener) {
            SimulatedStore handle = new SimulatedStore(leader, SESSION, listener, Runnable::run);
            store = handle;
            return (ZnodeStore) Proxy.newProxyInstance(
                    ZnodeStore.class.getClassLoader(), new Class<?>[] {ZnodeStore.class}, (proxy, method, args) -> {
                        if (method.getName().equals("close")) {
                            closed.add(handle);
                        } else if (!method.isDefault()) {
                            strike(Source.STORE);
                        }
                        try {
                            return method.invoke(handle, args);
                        } catch (InvocationTargetException thrown) {
                            throw thrown.getCause();
                        }
                    });
        }

        private final class FailingClock implements Clock {
            private final Clock real;

            FailingClock(Clock real) {
                this.real = real;
            }

            @Override
            public long nanos() {
                strike(Source.CLOCK);
                Runnable next = inAStep;
                if (next != null && engine.context().wouldWaitForItself() && atLookInAStep-- == 0) {
                    inAStep = null;
                    next.run();
                }
                return real.nanos();
            }

            @Override
            public long wallMillis() {
                return real.wallMillis();
            }

            @Override
            public Duration standstill(Duration span) {
                return real.standstill(span);
            }

            @Override
            public Timer after(Duration delay, Runnable task) {
                strike(Source.TIMER);
                return real.after(delay, task);
            }

            @Override
            public void close() {
                clockIsClosed = true;
                real.close();
            }
        }

        void settle() {
            BoundedLoop.all(() -> Delivery.nextWithoutLag(Objects.requireNonNull(store), server) || other.step(server));
        }

        private void pass(Duration span) {
            long end = leader.time().nanos() + span.toNanos();
            while (leader.time().nextAt() <= end) {
                try {
                    leader.time().runNext();
                } catch (InternalError ofATimer) {
                    // It ends in the timer's thread.
                }
                settle();
            }
            leader.time().moveTo(end);
            settle();
        }

        /** Makes a call as a caller does; the caller may get the error. */
        private <T> CompletableFuture<T> call(Callable<CompletableFuture<T>> asks) {
            CompletableFuture<T> answer;
            try {
                answer = asks.call();
            } catch (Throwable thrown) {
                answer = CompletableFuture.failedFuture(thrown);
            }
            answers.add(answer);
            settle();
            return answer;
        }

        private void tries(String path, Duration timeout) {
            var unused = call(() -> locks.mutex(path).tryAcquireAsync(timeout).thenApply(lease -> {
                lease.ifPresent(leases::add);
                return lease;
            }));
        }

        private Optional<Lease> acquire(String path) {
            CompletableFuture<Lease> asked = call(() -> locks.mutex(path).acquireAsync());
            Optional<Lease> lease =
                    asked.isDone() && !asked.isCompletedExceptionally() ? Optional.of(asked.join()) : Optional.empty();
            lease.ifPresent(leases::add);
            return lease;
        }

        Lease lease(CompletableFuture<Lease> asked) {
            settle();
            if (!asked.isDone()) {
                pass(SESSION);
            }
            return asked.getNow(null);
        }

        LockException.Reason reason(CompletableFuture<?> failed) {
            settle();
            try {
                var unused = failed.getNow(null);
            } catch (java.util.concurrent.CompletionException thrown) {
                return ((LockException) Objects.requireNonNull(thrown.getCause())).reason();
            }
            throw new AssertionError("it has not failed");
        }

        /** Plays it, and returns whether the place of the error was reached. */
        boolean play() throws Exception {
            Lease others = other.acquire("/b");
            pass(SESSION.dividedBy(2)); // a borrowed session proves itself first
            Optional<Lease> first = acquire("/a");
            var unused6 = call(() -> locks.mutex("/b").acquireAsync());
            var unused = call(() -> locks.mutex("/a").queueAsync());
            tries("/c", Duration.ofSeconds(3));
            first.ifPresent(lease -> {
                var unused3 = call(() -> lease.releaseAsync().toCompletableFuture());
            });
            var unused5 = others.releaseAsync();
            settle();
            var unused7 = acquire("/a");
            tries("/a", Duration.ZERO);
            pass(SESSION.multipliedBy(2));
            most = 0;
            pass(SESSION);
            check();
            return reached;
        }

        private void takeLease(CompletableFuture<?> answer) {
            if (answer.isDone() && !answer.isCompletedExceptionally() && answer.join() instanceof Lease lease) {
                leases.add(lease);
            }
        }

        private void check() throws Exception {
            String at = source + " " + place;
            // An error in the caller's own thread may have kept a lease from being released.
            for (int round = 0; round < 2; round++) {
                answers.forEach(this::takeLease);
                List.copyOf(leases).forEach(lease -> {
                    var unused = lease.releaseAsync();
                });
                pass(SESSION);
            }
            for (int i = 0; i < answers.size(); i++) {
                int call = i;
                assertTrue(answers.get(i).isDone(), () -> "call " + call + " is open after the error at " + at);
            }
            if (kind == Kind.BORROWED && lasting) {
                // Not even the deletions could be sent.
                leader.closeSession(Objects.requireNonNull(store).session());
            }
            for (String path : List.of("/a", "/b", "/c")) {
                CompletableFuture<?> next = other.asks(path);
                settle();
                pass(SESSION);
                assertTrue(next.isDone(), () -> path + " is held by no one after the error at " + at);
                leases.forEach(lease -> assertFalse(lease.isValid(), () -> "two hold after the error at " + at));
            }
            LoggedErrors.ofThisThread()
                    .forEach(error -> assertTrue(error.thrown() instanceof InternalError, error::toString));
        }
    }
}
