// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Throwables;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.CountedStore;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.FakeStore;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.SessionNodes;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.CallerWait;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The sessions of a client whose handles do and answer nothing by themselves. */
class EngineTest {
    private static final Duration TIMEOUT = Duration.ofMillis(50);
    private static final Duration SOON = Duration.ofSeconds(10);

    private final VirtualClock clock = new VirtualClock();
    private final VirtualClock borrowersClock = new VirtualClock();
    private final Engine engine = new Engine(WithoutServer.config(this::open, TIMEOUT, clock));
    /** The listeners of all handles. */
    private final List<ZnodeStore.Listener> opened = new ArrayList<>();
    /** The numbers of the handles that were closed, or asked to create a node. */
    private final List<Integer> closed = new ArrayList<>();

    private final List<Integer> created = new ArrayList<>();
    /** What the last handle that is being closed runs once it is. */
    private Runnable onClosed = () -> {};

    /** What the next handle throws as it is opened. */
    private Optional<Throwable> cannotOpen = Optional.empty();

    private ZnodeStore open(ZnodeStore.Listener listener) throws IOException {
        if (cannotOpen.isPresent()) {
            Throwable why = cannotOpen.get();
            cannotOpen = Optional.empty();
            Throwables.throwIfInstanceOf(why, IOException.class);
            Throwables.throwIfUnchecked(why);
        }
        int number = opened.size();
        opened.add(listener);
        return FakeStore.of((request, args) -> {
            if (request.equals("close")) {
                closed.add(number);
                onClosed = (Runnable) args[0];
            } else if (request.equals("create")) {
                created.add(number);
            }
        });
    }

    /** Runs all tasks whose time was to come. */
    private void timePasses() {
        List<Runnable> due = List.copyOf(clock.timers());
        clock.timers().clear();
        due.forEach(Runnable::run);
    }

    private CompletableFuture<Optional<ZkLease>> acquire() {
        return acquire(engine);
    }

    private static CompletableFuture<Optional<ZkLease>> acquire(Engine on) {
        return on.acquire(List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m"))), new WaitPolicy.Forever());
    }

    private void connected(int handle) {
        opened.get(handle).connected((int) TIMEOUT.toMillis(), Optional.empty());
    }

    private SessionState state() {
        return engine.context().events().view().state();
    }

    @BeforeEach
    void start() throws IOException {
        engine.start();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 50})
    void closeReturnsAfterGraceAndTimeout_whenTheHandleIsNotClosedByThen(long graceMillis) {
        for (int call = 0; call < 2; call++) {
            assertTimeoutPreemptively(SOON, () -> engine.close(Duration.ofMillis(graceMillis)));
            assertTimeoutPreemptively(SOON, () -> engine.close());
        }
        assertEquals(List.of(0), closed);
        ClientClosedException told = assertThrows(ClientClosedException.class, () -> engine.queries()
                .ask(
                        new LockPath("/m"),
                        Errors.Purpose.toSee("read the queue"),
                        (session, answer) -> answer.complete(true)));
        assertTrue(told.getMessage().contains("is closed and holds no lease"), "not that its leases may be released");
    }

    /** Other changes leave it in the transaction by which the servers end the session. */
    @ParameterizedTest
    @EnumSource
    void nodeIsCounted_untilItIsDeleted(ZnodeStore.Change change) throws IOException {
        SessionNodes nodes = SessionNodes.ofNewSession(0);
        ZnodeStore server = FakeStore.of(() -> nodes, (request, args) -> {
            if (request.equals("create")) {
                FakeStore.answer(args[args.length - 1], Response.of(new ZnodeStore.CreatedNode("m-0000000000", 1)));
            }
        });
        CountedStore counted = new CountedStore(server, Long.MAX_VALUE);
        List<ZnodeStore.Listener> listeners = new ArrayList<>();
        Engine counting = new Engine(WithoutServer.config(
                listener -> {
                    listeners.add(listener);
                    return counted;
                },
                TIMEOUT,
                new VirtualClock()));
        counting.start();
        counted.create("/m/m-", new byte[0], answer -> {});
        listeners.get(0).fired("/m/m-0000000000", change, 2);
        assertEquals(change == ZnodeStore.Change.DELETED, nodes.known().isEmpty());
    }

    /** The servers may have said in an answer that the session has ended: then its handle goes on by itself. */
    @Test
    void formerHandleIsClosedAndNotListenedTo_whenItsSessionHasEnded() {
        connected(0);
        opened.get(0).expired();
        assertEquals(List.of(0), closed);
        assertEquals(2, opened.size());
        var unused = acquire();
        connected(0);
        assertEquals(SessionState.EXPIRED, state());
        connected(1);
        assertEquals(List.of(1), created);
        opened.get(0).disconnected();
        opened.get(0).loginRefused();
        opened.get(0).expired();
        assertEquals(SessionState.CONNECTED, state());
        assertEquals(2, opened.size());
    }

    @Test
    void timedCallReturnsInTime_whileAStepIsStuck() throws Exception {
        connected(0);
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> ends = new CompletableFuture<>();
        Thread stuck = new Thread(() -> engine.context().execute(() -> {
            begun.countDown();
            CallerWait.awaitUninterruptibly(ends);
        }));
        stuck.start();
        assertTrue(begun.await(10, TimeUnit.SECONDS));
        LockClient locks = new EngineLockClient(engine, Optional.empty());
        assertTimeoutPreemptively(
                SOON, () -> assertEquals(Optional.empty(), locks.mutex("/m").tryAcquire(Duration.ofMillis(20))));
        ends.complete(null);
        stuck.join();
    }

    /** What closes the handle may wait for a thread, which the timer tries to start. */
    @Test
    void timerEndsBehindTheHandle() {
        connected(0);
        engine.close();
        assertEquals(List.of(0), closed);
        assertFalse(clock.isClosed());
        onClosed.run();
        assertTrue(clock.isClosed());
    }

    @Test
    void callerOfAQueryLearnsThatTheClientIsClosed() throws Exception {
        Engine patient = new Engine(WithoutServer.config(this::open, Duration.ofMinutes(1), clock));
        patient.start();
        connected(1);
        CompletableFuture<Boolean> asked = new CompletableFuture<>();
        CompletableFuture<LockException> told =
                CompletableFuture.supplyAsync(() -> assertThrows(LockException.class, () -> patient.queries()
                        .ask(
                                new LockPath("/m"),
                                Errors.Purpose.toSee("read the queue"),
                                (session, answer) -> asked.complete(true))));
        assertTrue(asked.get(10, TimeUnit.SECONDS));
        patient.context().execute(patient::close);
        assertInstanceOf(ClientClosedException.class, told.get(10, TimeUnit.SECONDS));
    }

    // ---- the next session

    static Stream<Throwable> failuresToOpen() {
        return Stream.of(new IOException("no server"), new IllegalStateException("no setting"), new OutOfMemoryError());
    }

    @ParameterizedTest
    @MethodSource("failuresToOpen")
    void sessionIsOpenedLater_whenItCouldNotBeOpened(Throwable failure) {
        connected(0);
        cannotOpen = Optional.of(failure);
        opened.get(0).expired();
        assertEquals(1, opened.size());
        timePasses();
        assertEquals(2, opened.size());
    }

    @Test
    void noSessionIsOpened_whenTheClientIsClosedBeforeTheNextAttempt() {
        connected(0);
        cannotOpen = Optional.of(new IOException("no server"));
        opened.get(0).expired();
        engine.close();
        timePasses();
        assertEquals(1, opened.size());
        assertEquals(SessionState.CLOSED, state());
    }

    @Test
    void noSessionIsOpened_whenTheLoginWasRefused() {
        connected(0);
        opened.get(0).loginRefused();
        opened.get(0).expired();
        timePasses();
        assertEquals(1, opened.size());
        assertEquals(SessionState.CLOSED, state());
    }

    // ---- a borrowed handle

    /** Its node may appear with each new connection. */
    @Test
    void clientOfABorrowedHandleIsClosed_whileItLooksForTheNodeOfALostCreate() throws Exception {
        List<String> sent = new ArrayList<>();
        Engine borrowing = borrowing(SessionNodes.ofNewSession(0), (request, args) -> {
            sent.add(request);
            Object then = args[args.length - 1];
            switch (request) {
                case "create" -> FakeStore.answer(then, Response.failed(Status.CONNECTION_LOSS, "CONNECTIONLOSS"));
                case "write" ->
                    FakeStore.answer(then, Response.of(new ZnodeStore.TransactionResult(List.of(), Optional.empty())));
                case "list" -> FakeStore.answer(then, Response.of(new ZnodeStore.Listing(List.of(), 1)));
                default -> {}
            }
        });
        var unused = acquire(borrowing);
        connected(1);
        assertTimeoutPreemptively(SOON, () -> borrowing.close());
        assertEquals(SessionState.CLOSED, borrowing.context().events().view().state());
        assertFalse(sent.contains("close"), "the session is listened to");
        sent.clear();
        opened.get(1).disconnected();
        connected(1);
        assertEquals(List.of("write", "list"), sent, "the barrier of a new connection, and the look");
    }

    /** Its owner may have closed it: then it never answers again. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void timerEnds_whenTheBorrowedHandleHasNoAnswer(boolean failed) throws IOException {
        List<String> sent = new ArrayList<>();
        Engine borrowing = borrowing(SessionNodes.ofNewSession(0), (request, args) -> sent.add(request));
        borrowing
                .context()
                .execute(
                        failed
                                ? () -> borrowing.context().fail(new AssertionError("thrown by a test"))
                                : borrowing::close);
        assertTrue(sent.contains("close"));
        assertTrue(borrowersClock.isClosed());
    }

    /** Returns a client whose handle, the second that a test opens, is connected. */
    private Engine borrowing(SessionNodes nodes, BiConsumer<String, Object[]> requests) throws IOException {
        Engine borrowing = new Engine(WithoutServer.borrowing(
                listener -> {
                    opened.add(listener);
                    return new CountedStore(FakeStore.of(() -> nodes, requests), Long.MAX_VALUE);
                },
                borrowersClock));
        borrowing.start();
        connected(1);
        return borrowing;
    }
}
