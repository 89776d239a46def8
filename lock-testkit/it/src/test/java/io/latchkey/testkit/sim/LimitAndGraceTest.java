// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.SimulatedBody;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.validity.Clock;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The limit of a lease and the grace of a close, in moments between two statements and at steps of the clocks. */
@Timeout(30)
class LimitAndGraceTest extends OnSimulatedServer {
    private static final Duration LIMIT = Duration.ofSeconds(3);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final WaitPolicy FOREVER = new WaitPolicy.Forever();
    private static final LockTarget UNLIMITED = new LockTarget(Recipe.MUTEX, new LockPath("/m"));
    private static final LockTarget LIMITED = UNLIMITED.heldAtMost(LIMIT);
    private static final LockTarget READER = new LockTarget(Recipe.READ, new LockPath("/m"));
    private static final LockTarget WRITER = new LockTarget(Recipe.WRITE, new LockPath("/m"));

    private final TurningClient client;

    LimitAndGraceTest() throws IOException {
        client = new TurningClient(false);
    }

    /** The clock of a client, which a test sets forward. */
    private final class JumpingClock implements Clock {
        private final Clock real = leader.time().view();
        private Duration ahead = Duration.ZERO;
        private Duration wallAhead = Duration.ZERO;
        /** What happens during a later reading, and the number of readings before that. */
        private @Nullable Runnable duringReading;

        private int readingsBefore;
        /** Timers that have neither run nor been cancelled. */
        private final Set<Object> waiting = new HashSet<>();
        /** Whether a timer is due while it is set, as one whose thread is faster than the caller's. */
        private boolean timersAreDueAtOnce;

        private boolean closed;

        @Override
        public long nanos() {
            Runnable now = duringReading;
            if (now != null && readingsBefore-- == 0) {
                duringReading = null;
                now.run();
            }
            return real.nanos() + ahead.toNanos();
        }

        @Override
        public long wallMillis() {
            return real.wallMillis() + ahead.plus(wallAhead).toMillis();
        }

        @Override
        public Duration standstill(Duration span) {
            return real.standstill(span);
        }

        @Override
        public Timer after(Duration delay, Runnable task) {
            if (timersAreDueAtOnce) {
                task.run();
                return () -> {};
            }
            Object timer = new Object();
            waiting.add(timer);
            Timer set = real.after(delay, () -> {
                waiting.remove(timer);
                task.run();
            });
            return () -> {
                waiting.remove(timer);
                set.cancel();
            };
        }

        @Override
        public void close() {
            closed = true;
            real.close();
        }
    }

    /** Lists grants and ends of leases. */
    private record Ends(List<String> events) implements LockObserver {
        @Override
        public void granted(Request request, long token, Duration waited) {
            events.add("granted");
        }

        @Override
        public void suspect(Request request, long token) {
            events.add("suspect");
        }

        @Override
        public void lost(Request request, long token, LossCause cause, Duration held) {
            events.add(cause + " after " + held.toMillis() + " ms");
        }
    }

    private final class TurningClient extends Client {
        private final JumpingClock clock;
        private final Queue<Runnable> callbacks;
        private final List<String> events;
        private final LocalHandOff turns;
        private volatile boolean closed;

        TurningClient(boolean borrowing) throws IOException {
            this(borrowing, new JumpingClock(), new ArrayDeque<>(), new ArrayList<>());
        }

        private TurningClient(boolean borrowing, JumpingClock clock, Queue<Runnable> callbacks, List<String> events)
                throws IOException {
            super(
                    0,
                    checks -> {},
                    borrowing,
                    clock,
                    callbacks::add,
                    Optional.of(ObserverDispatcher.inPlace(new Ends(events))));
            this.clock = clock;
            this.callbacks = callbacks;
            this.events = events;
            engine.onceClosed(() -> closed = true);
            turns = new LocalHandOff(engine, 10, HOUR);
        }

        ZkLease acquire(LockTarget target) throws Exception {
            CompletableFuture<Optional<ZkLease>> asked = engine.acquire(List.of(target), FOREVER);
            settle();
            return granted(asked);
        }

        /** Acquires in turn with others of this client, or beside them. */
        ZkLease take(LockTarget target) throws Exception {
            CompletableFuture<Optional<ZkLease>> asked = turns.acquire(target, FOREVER);
            settle();
            return granted(asked);
        }

        /** Until the next response has arrived at the client and is not handled. */
        void untilAResponseIsThere() {
            while (!store().hasMessage()) {
                assertTrue(step(server));
            }
        }

        /** The client learns of it. */
        SimulatedStore loseTheConnection() {
            SimulatedStore losing = store();
            losing.cut();
            while (losing.hasMessage()) {
                losing.takeMessage();
            }
            return losing;
        }

        /** Begins to close, on the serial executor: there a close does not wait. */
        void close(Duration grace) {
            engine.context().execute(() -> engine.close(grace));
            settle();
        }

        void runCallbacks() {
            while (!callbacks.isEmpty()) {
                callbacks.remove().run();
            }
        }
    }

    private int nodes() {
        return leader.tree().get("/m").children().size();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void requestIsReportedAndForgotten_whenItsTimeRunsOutBeforeItBegins(boolean inTurns) throws Exception {
        List<BrokenRuleError> broken = new ArrayList<>();
        ObserverRules rules = new ObserverRules(broken::add);
        JumpingClock clock = new JumpingClock();
        Client timed = new Client(
                1, checks -> {}, false, clock, Runnable::run, Optional.of(ObserverDispatcher.inPlace(rules)));
        WaitPolicy nearlyNoTime = new WaitPolicy.AtMost(Duration.ofNanos(1));
        clock.timersAreDueAtOnce = true;
        CompletableFuture<Optional<ZkLease>> asked = inTurns
                ? new LocalHandOff(timed.engine, 10, HOUR).acquire(UNLIMITED, nearlyNoTime)
                : timed.engine.acquire(List.of(UNLIMITED), nearlyNoTime);
        assertEquals(Optional.empty(), asked.getNow(null));
        rules.checkThatAllHaveEnded();
        assertEquals(List.of(), broken);
        timed.settle();
        assertEquals(List.of(), timed.engine.requests());
    }

    @Test
    void nextLocalTurnGoesOn_whenItsPredecessorIsReleasedWhileItsLimitIsCompared() throws Exception {
        CompletableFuture<Optional<ZkLease>> first = client.turns.acquire(LIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(UNLIMITED, FOREVER);
        client.settle();
        ZkLease released = granted(first);
        client.clock.readingsBefore = 1; // the first reading is for the session
        client.clock.duringReading = () -> {
            released.abandon();
            client.clock.ahead = LIMIT;
        };
        assertFalse(released.isValid());
        client.settle();
        ZkLease next = granted(second);
        assertTrue(next.isValid(), next::toString);
        assertEquals(released.token(), next.token());
    }

    /** The comparison began before the release, and its step is the first of the two. */
    @Test
    void leaseIsReleased_whenItsLimitIsNoticedInTheSameMoment() throws Exception {
        CompletableFuture<Optional<ZkLease>> first = client.turns.acquire(LIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(UNLIMITED, FOREVER);
        client.settle();
        ZkLease lease = granted(first);
        List<ReleaseOutcome> outcomes = new ArrayList<>();
        client.engine.context().execute(() -> {
            client.engine.context().execute(() -> lease.request().lapsed(lease));
            var unused = lease.releaseAsync().thenAccept(outcomes::add);
        });
        client.settle();
        client.runCallbacks();
        assertEquals(List.of(ReleaseOutcome.RELEASED), outcomes);
        assertEquals(lease.token(), granted(second).token());
    }

    /** The client has read the path as a semaphore's before. */
    @Test
    void mutexHasTwoPlacesInTheQueue_whereASemaphoreWasBefore() throws Exception {
        LockTarget permit = new LockTarget(Recipe.semaphore(5, 1), new LockPath("/m"));
        client.take(permit).abandon();
        client.settle();
        leader.delete("/m");
        for (int caller = 0; caller < 4; caller++) {
            var unused = client.turns.acquire(UNLIMITED, FOREVER);
        }
        client.settle();
        assertEquals(2, nodes());
    }

    /** Otherwise it could report the release before. */
    @Test
    void grantIsReported_beforeItsCallerHasTheLease() throws Exception {
        CompletableFuture<Optional<ZkLease>> first = client.turns.acquire(UNLIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(UNLIMITED, FOREVER);
        var unused = first.thenAccept(lease -> client.events.add("received"));
        var unused2 = second.thenAccept(lease -> client.events.add("received"));
        client.settle();
        granted(first).abandon();
        granted(second).abandon();
        var unused3 =
                client.engine.acquire(List.of(UNLIMITED), FOREVER).thenAccept(lease -> client.events.add("received"));
        client.settle();
        assertEquals(List.of("granted", "received", "granted", "received", "granted", "received"), client.events);
    }

    @Test
    void eachLocalTurnHasItsOwnLimitFromItsOwnGrant() throws Exception {
        CompletableFuture<Optional<ZkLease>> first = client.turns.acquire(LIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(UNLIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> third = client.turns.acquire(LIMITED, FOREVER);
        client.settle();
        steps(client, LIMIT.dividedBy(2));
        granted(first).abandon();
        steps(client, LIMIT.multipliedBy(2));
        ZkLease unlimited = granted(second);
        assertTrue(unlimited.isValid());
        unlimited.abandon();
        ZkLease limited = granted(third);
        assertEquals(unlimited.token(), limited.token());
        CompletableFuture<LossCause> lost = limited.lost().toCompletableFuture();
        steps(client, LIMIT.minusMillis(1));
        assertTrue(limited.isValid());
        steps(client, Duration.ofMillis(1));
        client.runCallbacks();
        assertEquals(LossCause.HELD_TOO_LONG, lost.getNow(null));
        client.settle();
        assertEquals(0, nodes());
    }

    @Test
    void nextLocalTurnIsSuspect_whenItsNodePassesToItWithoutAConnection() throws Exception {
        CompletableFuture<Optional<ZkLease>> first = client.turns.acquire(UNLIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(UNLIMITED, FOREVER);
        client.settle();
        client.loseTheConnection();
        granted(first).abandon();
        assertEquals(LeaseState.SUSPECT, granted(second).state());
        assertEquals(List.of("granted", "suspect", "granted", "suspect"), client.events);
    }

    /** It is refused a downgrade, although its node is that of a writer. */
    @Test
    void readerHasALeaseOfAReader_whenItHoldsByTheNodeOfTheWriterBeforeIt() throws Exception {
        ZkLease write = client.take(WRITER);
        CompletableFuture<Optional<ZkLease>> reader = client.turns.acquire(READER, FOREVER);
        assertTrue(write.isOf(WRITER));
        write.abandon();
        client.settle();
        ZkLease read = granted(reader);
        assertEquals(write.nodePaths(), read.nodePaths());
        assertTrue(read.isOf(READER));
        assertFalse(read.isOf(WRITER));
    }

    private void giveUpAsTheLeaseComes(
            CompletableFuture<Optional<ZkLease>> next, CompletableFuture<Optional<ZkLease>> holder) throws Exception {
        client.settle();
        ZkLease released = granted(holder);
        client.engine.context().execute(() -> {
            released.abandon();
            assertTrue(next.cancel(false));
        });
        client.settle();
    }

    @Test
    void limitDoesNotPassToTheNextLocalTurn_whenItsOwnerGaveUpAsTheLeaseCame() throws Exception {
        CompletableFuture<Optional<ZkLease>> first = client.turns.acquire(UNLIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(LIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> third = client.turns.acquire(UNLIMITED, FOREVER);
        giveUpAsTheLeaseComes(second, first);
        steps(client, LIMIT);
        assertTrue(granted(third).isValid());
    }

    @Test
    void nothingIsLeft_whenTheLastLocalWaiterGaveUpAsTheLeaseCame() throws Exception {
        CompletableFuture<Optional<ZkLease>> first = client.turns.acquire(UNLIMITED, FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(UNLIMITED, FOREVER);
        giveUpAsTheLeaseComes(second, first);
        assertEquals(0, nodes());
    }

    @Test
    void readerJoinsTheHolders_whenTheWriterBeforeItGivesUp() throws Exception {
        CompletableFuture<Optional<ZkLease>> first = client.turns.acquire(READER, FOREVER);
        client.settle();
        CompletableFuture<Optional<ZkLease>> writer = client.turns.acquire(WRITER, FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(READER, FOREVER);
        client.settle();
        assertFalse(second.isDone(), "the writer is before it");
        assertTrue(writer.cancel(false));
        assertEquals(granted(first).token(), granted(second).token());
    }

    /** It waits for readers of other threads, which may join until then. */
    @Test
    void releaseOfAReaderIsAnswered_whenItsClientClosesBeforeItIsSent() throws Exception {
        CompletableFuture<Optional<ZkLease>> reader = client.turns.acquire(READER, FOREVER);
        client.settle();
        ZkLease lease = granted(reader);
        List<CompletableFuture<ReleaseOutcome>> released = new ArrayList<>();
        client.engine.context().execute(() -> {
            released.add(lease.releaseAsync().toCompletableFuture());
            client.engine.close();
        });
        client.settle();
        client.runCallbacks();
        assertTrue(released.get(0).isDone());
        assertEquals(0, nodes());
    }

    /** The node of the reader is of no use to the writer behind it, whichever message the reader gives up at. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
    void writerHasANodeOfItsOwn_whenTheReaderAheadGaveUpAsTheLeaseCame(int before) throws Exception {
        CompletableFuture<Optional<ZkLease>> reader = client.turns.acquire(READER, FOREVER);
        CompletableFuture<Optional<ZkLease>> writer = client.turns.acquire(WRITER, FOREVER);
        steps(before, client, server);
        client.engine.context().execute(() -> {
            var unused = client.step(server);
            reader.cancel(false);
        });
        client.settle();
        if (!reader.isCancelled()) {
            granted(reader).abandon();
            client.settle();
        }
        String node = granted(writer).nodePaths().get(0);
        assertTrue(node.startsWith("/m/write-"), node);
    }

    @Test
    void localTurnIsLostAtOnce_whenItsLimitIsShorterThanATick() throws Exception {
        CompletableFuture<Optional<ZkLease>> first =
                client.turns.acquire(UNLIMITED.heldAtMost(Duration.ofNanos(1)), FOREVER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(UNLIMITED, FOREVER);
        client.settle();
        LeaseLostException told = assertThrows(LeaseLostException.class, granted(first)::ensureValid);
        assertEquals(LossCause.HELD_TOO_LONG, told.lossCause());
        assertTrue(granted(second).isValid());
        assertEquals(1, nodes());
    }

    /** The thread that looks has found the session alive. */
    @Test
    void lossIsThatOfTheSession_whenItEndsWhileTheLimitIsCompared() throws Exception {
        ZkLease lease = client.acquire(LIMITED);
        SimulatedStore store = client.store();
        client.clock.readingsBefore = 1; // the first reading is for the session
        client.clock.duringReading = () -> {
            store.giveUpSession();
            client.clock.ahead = LIMIT;
        };
        assertFalse(lease.isValid());
        client.runCallbacks();
        assertEquals(
                LossCause.SESSION_EXPIRED, lease.lost().toCompletableFuture().getNow(null));
    }

    /** The other reader has released by then. */
    @Test
    void limitOfAReaderIsReportedOnce_whenTheSessionEndsBeforeTheNotice() throws Exception {
        ZkLease limited = client.take(READER.heldAtMost(LIMIT));
        ZkLease other = client.take(READER);
        CompletableFuture<LossCause> lost = limited.lost().toCompletableFuture();
        steps(client, LIMIT);
        other.abandon();
        client.settle();
        SimulatedStore store = client.store();
        store.giveUpSession();
        leader.closeSession(store.session());
        client.settle();
        client.runCallbacks();
        client.settle();
        assertEquals(LossCause.HELD_TOO_LONG, lost.getNow(null));
        assertEquals(
                1, client.events.stream().filter(each -> each.contains("after")).count());
    }

    /** The last reader that holds releases before the owner of the other lease is notified of the loss. */
    @Test
    void nodeOfReadersIsDeletedAfterTheNotice_whenALimitHasPassedAndTheOthersHaveReleased() throws Exception {
        ZkLease limited = client.take(READER.heldAtMost(LIMIT));
        ZkLease other = client.take(READER);
        assertEquals(limited.token(), other.token());
        CompletableFuture<LossCause> lost = limited.lost().toCompletableFuture();
        steps(client, LIMIT);
        assertFalse(limited.isValid());
        other.abandon();
        client.settle();
        assertEquals(1, nodes());
        client.runCallbacks();
        client.settle();
        assertEquals(LossCause.HELD_TOO_LONG, lost.getNow(null));
        assertEquals(0, nodes());
    }

    @Test
    void leaseIsReleased_whenItsFutureIsCancelledBeforeTheCallbackThatBringsIt() throws Exception {
        Mutex mutex = new EngineLockClient(client.engine, Optional.empty()).mutex("/m");
        CompletableFuture<Lease> asked = mutex.acquireAsync();
        client.settle();
        assertEquals(1, nodes());
        assertTrue(asked.cancel(false));
        client.runCallbacks();
        client.settle();
        assertEquals(0, nodes());
    }

    /** No timer runs by the wall clock, and the holder looks at nothing. */
    @Test
    void lossIsReportedWithinASixthOfTheTimeout_whenTheLimitPassesOnTheWallClockAlone() throws Exception {
        CompletableFuture<LossCause> lost = client.acquire(LIMITED).lost().toCompletableFuture();
        client.clock.wallAhead = LIMIT;
        steps(client, SESSION.dividedBy(6));
        client.runCallbacks();
        assertEquals(LossCause.HELD_TOO_LONG, lost.getNow(null));
    }

    /** No timer runs, as after a standstill of the process, and the body looks at nothing. */
    @ParameterizedTest
    @CsvSource({"3, HELD_TOO_LONG", "12, DEADLINE_PASSED"})
    void callNamesTheCauseOfTheLoss_whenItsReleaseIsTheFirstToFindIt(int seconds, LossCause cause) throws Exception {
        ZkLease lease = client.acquire(LIMITED);
        LeaseLostException told = assertThrows(
                LeaseLostException.class,
                () -> SimulatedBody.run(lease, () -> client.clock.ahead = Duration.ofSeconds(seconds)));
        assertEquals(cause, told.lossCause());
    }

    @Test
    void callReturns_whenItsReleaseIsPending() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        SimulatedBody.run(lease, () -> {
            SimulatedStore unused = client.loseTheConnection();
        });
        assertEquals(LeaseState.RELEASED, lease.state());
        assertEquals(1, nodes());
    }

    /**
     * No timer runs by the wall clock, and the holder looks at nothing. The next heartbeat proves that the session
     * lives, and finds the deadline passed.
     */
    @Test
    void nodeIsDeleted_whenTheDeadlinePassesOnTheWallClockAloneAndTheSessionLives() throws Exception {
        CompletableFuture<LossCause> lost = client.acquire(UNLIMITED).lost().toCompletableFuture();
        client.settle();
        client.clock.wallAhead = SESSION;
        steps(client, SESSION.dividedBy(3));
        client.runCallbacks();
        client.settle();
        assertEquals(LossCause.DEADLINE_PASSED, lost.getNow(null));
        assertEquals(0, nodes());
    }

    @Test
    void nodeIsDeletedAtOnce_whenItsHolderFindsTheDeadlinePassedOnTheWallClockAlone() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        client.clock.wallAhead = SESSION;
        assertFalse(lease.isValid());
        assertEquals(Optional.of(LossCause.DEADLINE_PASSED), lease.lossCause());
        client.settle();
        assertEquals(0, nodes());
    }

    /** The observer hears of one loss before the other, and looks at both. */
    @Test
    void lossOfEachLeaseIsThatOfTheSession_whenOneIsAskedForDuringTheLossOfTheOther() throws Exception {
        List<ZkLease> held = new ArrayList<>();
        List<Optional<LossCause>> found = new ArrayList<>();
        Client losing = new Client(1, new LockObserver() {
            @Override
            public void lost(Request request, long token, LossCause cause, Duration since) {
                held.forEach(lease -> assertFalse(lease.isValid()));
                held.forEach(lease -> found.add(lease.lossCause()));
                held.clear();
            }
        });
        held.add(losing.acquire("/a"));
        held.add(losing.acquire("/b"));
        losing.store().giveUpSession();
        assertEquals(Collections.nCopies(2, Optional.of(LossCause.SESSION_EXPIRED)), found);
    }

    private void loseTheLeaseWithTheConnection() throws Exception {
        CompletableFuture<LossCause> lost = client.acquire(UNLIMITED).lost().toCompletableFuture();
        client.settle();
        client.clock.wallAhead = SESSION;
        client.loseTheConnection();
        client.runCallbacks();
        assertEquals(LossCause.DEADLINE_PASSED, lost.getNow(null));
    }

    /** As when the machine was suspended. No timer runs by the wall clock, and the holder looks at nothing. */
    @Test
    void lossIsReportedWithThatOfTheConnection_whenTheDeadlineHasPassedOnTheWallClockAlone() throws Exception {
        loseTheLeaseWithTheConnection();
    }

    @Test
    void limitHolds_whenTheWallClockIsSetBack() throws Exception {
        ZkLease lease = client.acquire(LIMITED);
        client.clock.wallAhead = Duration.ofDays(-1);
        assertTrue(lease.remaining().compareTo(LIMIT) <= 0);
        steps(client, LIMIT);
        assertFalse(lease.isValid());
        client.settle();
        assertEquals(0, nodes());
    }

    /** The response to the downgrade is handled between the loss of the write lease and its deletion. */
    @Test
    void nodeIsKeptUntilTheNotice_whenTheLimitPassesDuringADowngrade() throws Exception {
        ZkLease write = client.acquire(new LockTarget(Recipe.WRITE, new LockPath("/m")).heldAtMost(LIMIT));
        CompletableFuture<LossCause> lost = write.lost().toCompletableFuture();
        client.settle();
        CompletableFuture<ZkLease> read = write.downgrade(Recipe.READ);
        client.untilAResponseIsThere();
        client.engine.context().execute(() -> {
            client.store().takeMessage();
            client.clock.ahead = LIMIT;
            assertFalse(write.isValid());
        });
        client.settle();
        assertEquals(
                LeaseLostException.class,
                assertThrows(CompletionException.class, read::join).getCause().getClass());
        assertEquals(1, nodes());
        client.runCallbacks();
        client.settle();
        assertEquals(LossCause.HELD_TOO_LONG, lost.getNow(null));
        assertEquals(0, nodes());
    }

    /** The thread that writes has its response before the client has handled that to the downgrade. */
    @Test
    void downgradeSucceeds_whenAGuardedWriteFindsTheFormerNodeGone() throws Exception {
        ZkLease write = client.acquire(WRITER);
        CompletableFuture<LossCause> lost = write.lost().toCompletableFuture();
        client.settle();
        CompletableFuture<ZkLease> read = write.downgrade(Recipe.READ);
        client.untilAResponseIsThere();
        var unused = write.nodeGone(0); // as a guarded write finds out
        client.settle();
        assertTrue(read.get(5, TimeUnit.SECONDS).isValid());
        assertFalse(lost.isDone());
        assertEquals(1, nodes());
    }

    /** By then it is unknown whether the server has downgraded: the next writer must not hold by a reader's node. */
    @Test
    void nextTurnHasANodeOfItsOwn_whenAWriterReleasesDuringItsDowngrade() throws Exception {
        ZkLease write = client.take(WRITER);
        CompletableFuture<Optional<ZkLease>> next = client.turns.acquire(WRITER, FOREVER);
        client.settle();
        CompletableFuture<ZkLease> read = write.downgrade(Recipe.READ);
        write.abandon();
        client.settle();
        assertTrue(read.isCompletedExceptionally());
        ZkLease second = granted(next);
        assertTrue(second.token() > write.token(), second::toString);
        assertTrue(second.isValid());
        assertEquals(1, nodes());
    }

    /** The call has checked the lease, and the node has passed to the next caller before its task runs. */
    @Test
    void nextTurnKeepsItsNode_whenItsPredecessorDowngradesTooLate() throws Exception {
        ZkLease first = client.take(WRITER);
        CompletableFuture<Optional<ZkLease>> second = client.turns.acquire(WRITER, FOREVER);
        client.settle();
        first.abandon();
        client.settle();
        ZkLease next = granted(second);
        assertEquals(first.token(), next.token());
        CompletableFuture<ZkLease> late = first.downgrade(Recipe.READ);
        client.settle();
        assertEquals(
                IllegalStateException.class,
                assertThrows(CompletionException.class, late::join).getCause().getClass());
        assertTrue(next.isValid());
        assertTrue(leader.tree().has(next.nodePaths().get(0)), "the writer's node");
    }

    @Test
    void remainingTimeIsThatOfTheSession_whenTheLimitIsLonger() throws Exception {
        Duration left = client.acquire(UNLIMITED.heldAtMost(HOUR)).remaining();
        assertTrue(left.compareTo(SESSION) < 0, left::toString);
    }

    @Test
    void noTimerIsLeft_whenLimitedLeasesAreOver() throws Exception {
        steps(client, SESSION);
        ZkLease unlimited = client.acquire(UNLIMITED);
        unlimited.abandon();
        client.settle();
        int before = client.clock.waiting.size();
        for (int i = 0; i < 10; i++) {
            client.acquire(LIMITED).abandon();
            client.settle();
        }
        ZkLease lost = client.acquire(LIMITED);
        client.clock.ahead = LIMIT;
        assertFalse(lost.isValid());
        client.settle();
        assertEquals(0, nodes());
        assertEquals(before, client.clock.waiting.size());
    }

    /** A timer would keep its request or its lease for the whole time. */
    @Test
    void noTimerIsLeft_whenTimedTriesAndADowngradedLeaseAreOver() throws Exception {
        WaitPolicy hour = new WaitPolicy.AtMost(HOUR);
        client.acquire(UNLIMITED).ensureValid();
        int before = client.clock.waiting.size();
        for (LockTarget free : List.of(
                new LockTarget(Recipe.READ, new LockPath("/free")),
                new LockTarget(Recipe.semaphore(2, 1), new LockPath("/permits")))) {
            var unused = List.of(client.engine.acquire(List.of(free), hour), client.turns.acquire(free, hour));
        }
        List<CompletableFuture<Optional<ZkLease>>> refused = List.of(
                client.engine.acquire(List.of(WRITER), hour),
                client.turns.acquire(WRITER, hour),
                client.engine.acquire(List.of(new LockTarget(Recipe.semaphore(2, 3), new LockPath("/s"))), hour));
        List<CompletableFuture<Optional<ZkLease>>> cancelled =
                List.of(client.engine.acquire(List.of(UNLIMITED), hour), client.turns.acquire(UNLIMITED, hour));
        client.settle();
        assertTrue(refused.stream().allMatch(CompletableFuture::isCompletedExceptionally));
        ZkLease write = client.acquire(new LockTarget(Recipe.WRITE, new LockPath("/rw")).heldAtMost(HOUR));
        CompletableFuture<ZkLease> read = write.downgrade(Recipe.READ);
        client.settle();
        read.get(5, TimeUnit.SECONDS).abandon();
        cancelled.forEach(each -> assertTrue(each.cancel(false)));
        client.settle();
        assertEquals(before, client.clock.waiting.size());
    }

    /** The body whose limit has passed may still run. */
    @Test
    void nextWriterWaitsForTheDeletion_whenTheLimitOfAReaderHasPassed() throws Exception {
        ZkLease write = client.take(WRITER);
        CompletableFuture<Optional<ZkLease>> limited = client.turns.acquire(READER.heldAtMost(LIMIT), FOREVER);
        CompletableFuture<Optional<ZkLease>> other = client.turns.acquire(READER, FOREVER);
        client.settle();
        write.abandon();
        client.settle();
        assertEquals(granted(limited).token(), granted(other).token());
        CompletableFuture<Optional<ZkLease>> next = client.turns.acquire(WRITER, FOREVER);
        steps(client, LIMIT);
        assertFalse(granted(limited).isValid());
        granted(other).abandon();
        assertFalse(next.isDone(), "it holds beside that body");
        client.settle();
        granted(next).ensureValid();
    }

    /** Those of its heartbeats, its deadline and its deletions. */
    @Test
    void noTimerIsLeft_whenTheSessionOfAHolderHasEnded() throws Exception {
        TurningClient borrower = new TurningClient(true);
        ZkLease lease = acquireOn(borrower);
        assertTrue(borrower.clock.waiting.size() >= 2, "heartbeat and deadline");
        SimulatedStore store = borrower.loseTheConnection();
        leader.closeSession(store.session());
        borrower.settle();
        assertFalse(lease.isValid());
        borrower.runCallbacks();
        assertEquals(Set.of(), borrower.clock.waiting);
    }

    @Test
    void observerSeesTheGrantBeforeTheLoss_whenTheLimitIsShorterThanATick() throws Exception {
        assertFalse(client.acquire(UNLIMITED.heldAtMost(Duration.ofNanos(1))).isValid());
        assertEquals(List.of("granted", "HELD_TOO_LONG after 0 ms"), client.events);
    }

    /**
     * The thread that finds the loss first is kept from interrupting the body. The serial executor is busy as it finds
     * the loss, so the node is deleted in another thread.
     */
    @Test
    void nodeIsKeptUntilTheBodyIsInterrupted_whenTwoThreadsFindTheLoss() throws Exception {
        CountDownLatch mayInterrupt = new CountDownLatch(1);
        CompletableFuture<Lease> held = new CompletableFuture<>();
        // Each thread waits before this one moves requests and responses, for which the simulation has no lock.
        Mutex mutex = new EngineLockClient(client.engine, Optional.empty())
                .mutex("/m")
                .heldAtMost(LIMIT);
        Thread body =
                new Thread(() -> assertThrows(
                        LeaseLostException.class,
                        () -> mutex.run(OnLoss.INTERRUPT, lease -> {
                            held.complete(lease);
                            new CountDownLatch(1).await();
                        }))) {
                    @Override
                    public void interrupt() {
                        Uninterruptibles.awaitUninterruptibly(mayInterrupt);
                        super.interrupt();
                    }
                };
        body.start();
        Eventually.holds("the body's thread waits for the lease", SOON, () -> isAt(body, "CallerWait"));
        client.settle();
        Eventually.holds("the body waits", SOON, () -> held.isDone() && isAt(body, "CountDownLatch"));
        client.settle();
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch mayDelete = new CountDownLatch(1);
        Thread deleter = new Thread(() -> client.engine.context().execute(() -> {
            busy.countDown();
            Uninterruptibles.awaitUninterruptibly(mayDelete);
        }));
        deleter.start();
        busy.await();
        client.clock.ahead = LIMIT;
        Thread finder = new Thread(held.join()::isValid);
        finder.start();
        Eventually.holds("the loss is found", SOON, () -> client.events.size() == 1 && isAt(finder, "CountDownLatch"));
        mayDelete.countDown();
        Eventually.holds("the deletion waits", SOON, () -> isAt(deleter, "BodyInterruption") || !deleter.isAlive());
        client.settle();
        assertEquals(1, nodes());
        mayInterrupt.countDown();
        finder.join();
        body.join();
        deleter.join();
        client.settle();
        assertEquals(0, nodes());
    }

    /** Returns whether the thread waits for an object of this class. */
    private static boolean isAt(Thread thread, String type) {
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
        return info != null && info.getLockName() != null && info.getLockName().contains(type);
    }

    // ---- the grace

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void clientClosesAtTheReconnect_whenItsHolderReleasesWithoutAServer(boolean borrowing) throws Exception {
        TurningClient closing = new TurningClient(borrowing);
        ZkLease lease = acquireOn(closing);
        closing.close(HOUR);
        closing.loseTheConnection();
        assertTrue(lease.isValid());
        CompletableFuture<ReleaseOutcome> released = lease.releaseAsync().toCompletableFuture();
        closing.runCallbacks();
        assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
        assertFalse(closing.closed);
        assertEquals(1, nodes());
        closing.settle();
        assertTrue(closing.closed);
        assertEquals(0, nodes());
    }

    /** The age of a borrowed session's connection is unknown at first, so nothing is granted before a margin. */
    private ZkLease acquireOn(TurningClient by) throws Exception {
        CompletableFuture<Optional<ZkLease>> asked = by.engine.acquire(List.of(UNLIMITED), FOREVER);
        by.settle();
        steps(by, SESSION);
        return granted(asked);
    }

    @Test
    void nodeIsDeletedBeforeAnOwnersCloseEnds_whenTheGracePassesOnABorrowedHandle() throws Exception {
        TurningClient closing = new TurningClient(true);
        ZkLease lease = acquireOn(closing);
        CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
        closing.close(LIMIT);
        steps(closing, LIMIT);
        assertFalse(lease.isValid());
        assertFalse(closing.closed);
        assertEquals(1, nodes());
        closing.runCallbacks();
        assertFalse(closing.closed, "its deletion is on its way");
        closing.settle();
        assertEquals(LossCause.CLIENT_CLOSED, lost.getNow(null));
        assertTrue(closing.closed);
        assertEquals(0, nodes());
    }

    /** A node with a child cannot be deleted. */
    @Test
    void borrowingClientCloses_onceADeletionThatTheServerRefusedIsDone() throws Exception {
        TurningClient closing = new TurningClient(true);
        ZkLease lease = acquireOn(closing);
        String child = lease.nodePaths().get(0) + "/child";
        leader.commit(List.of(Tree.Effect.Created.of(child, new byte[0], Tree.NO_OWNER)), 0);
        lease.abandon();
        closing.settle();
        closing.close(Duration.ZERO);
        assertFalse(closing.closed);
        leader.delete(child);
        steps(closing, SESSION.dividedBy(2));
        assertTrue(closing.closed);
        assertEquals(0, nodes());
    }

    @Test
    void nodeIsKeptUntilTheLastReaderIsNotified_whenTheClientClosesWithTwo() throws Exception {
        List<ZkLease> readers = List.of(client.take(READER), client.take(READER));
        List<CompletableFuture<LossCause>> lost = readers.stream()
                .map(reader -> reader.lost().toCompletableFuture())
                .toList();
        client.settle();
        assertEquals(1, nodes());
        client.runCallbacks();
        client.close(Duration.ZERO);
        client.callbacks.remove().run();
        client.settle();
        assertEquals(1, lost.stream().filter(CompletableFuture::isDone).count(), "notified");
        assertEquals(1, nodes());
        assertFalse(client.closed);
        client.runCallbacks();
        client.settle();
        assertEquals(2, lost.stream().filter(CompletableFuture::isDone).count(), "notified");
        assertEquals(0, nodes());
        assertTrue(client.closed);
    }

    /** A release is no loss, so no notice of one has to come before the deletion. */
    @Test
    void clientClosesWithoutANotice_whenAHolderThatAwaitsALossReleasesAsItCloses() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
        client.settle();
        client.engine.context().execute(() -> {
            client.engine.close();
            lease.abandon();
        });
        client.settle();
        assertFalse(lost.isDone());
        assertEquals(0, nodes());
        assertTrue(client.closed);
    }

    @Test
    void nothingIsLeftOnABorrowedHandle_whenTheCreateIsOnItsWayAsTheGraceBegins() throws Exception {
        TurningClient closing = new TurningClient(true);
        ZkLease lease = acquireOn(closing);
        CompletableFuture<Optional<ZkLease>> asked = closing.engine.acquire(List.of(UNLIMITED), FOREVER);
        closing.store().takeRequest();
        closing.close(HOUR);
        assertTrue(asked.isCompletedExceptionally());
        assertEquals(1, nodes());
        assertFalse(closing.closed);
        lease.abandon();
        closing.settle();
        assertTrue(closing.closed);
    }

    /** The holder keeps the client from closing. */
    @Test
    void tryIsAnswered_whenTheGraceBeginsWhileItsNodeIsDeleted() throws Exception {
        ZkLease others = acquireOn(new TurningClient(false));
        ZkLease lease = client.acquire(new LockTarget(Recipe.MUTEX, new LockPath("/other")));
        CompletableFuture<Optional<ZkLease>> tried = client.engine.acquire(List.of(UNLIMITED), new WaitPolicy.Never());
        client.settleUntilNext(RequestMatch.delete());
        assertFalse(tried.isDone());
        client.engine.context().execute(() -> client.engine.close(HOUR));
        assertTrue(tried.isDone());
        assertTrue(lease.isValid());
        assertEquals("/m", others.path());
    }

    /** The creation of the levels is a part of the create, which has no answer until they exist. */
    @Test
    void borrowingClientCloses_whenItsRequestHasCreatedTheLevelsAboveAPath() throws Exception {
        TurningClient closing = new TurningClient(true);
        LockTarget below = new LockTarget(Recipe.MUTEX, new LockPath("/x/y/m"));
        CompletableFuture<Optional<ZkLease>> asked = closing.engine.acquire(List.of(below), FOREVER);
        closing.settle();
        assertEquals(1, leader.tree().get("/x/y/m").children().size());
        closing.close(Duration.ZERO);
        assertTrue(asked.isCompletedExceptionally());
        assertTrue(closing.closed);
    }

    /** The server has created the first level, and the client does not know. A level that has had no child stays. */
    @Test
    void noLevelIsLeftOnABorrowedHandle_whenTheClientClosesWhileTheyAreCreated() throws Exception {
        TurningClient closing = new TurningClient(true);
        LockTarget below = new LockTarget(Recipe.MUTEX, new LockPath("/x/y/m"));
        CompletableFuture<Optional<ZkLease>> asked = closing.engine.acquire(List.of(below), FOREVER);
        BoundedLoop.until(() -> leader.tree().has("/x"), () -> closing.step(server));
        closing.close(Duration.ZERO);
        assertTrue(asked.isCompletedExceptionally());
        assertTrue(closing.closed);
        BoundedLoop.until(() -> Nodes.deserted(leader.tree()).isEmpty(), () -> Nodes.deserted(leader.tree())
                .forEach(leader::delete));
        assertNull(leader.tree().find("/x"));
    }

    /** No request is on its way, so no response comes after the end of the session. */
    @Test
    void borrowingClientCloses_whenTheSessionEndsBeforeItsNodeCanBeDeleted() throws Exception {
        TurningClient closing = new TurningClient(true);
        ZkLease lease = acquireOn(closing);
        SimulatedStore store = closing.loseTheConnection();
        store.refused();
        closing.engine.context().execute(closing.engine::close);
        assertFalse(lease.isValid());
        assertFalse(closing.closed);
        assertTrue(store.outgoing.isEmpty());
        leader.closeSession(store.session());
        closing.settle();
        assertTrue(closing.closed);
    }

    @Test
    void borrowingClientClosesAtOnce_whenItsSessionHasEndedBefore() throws Exception {
        TurningClient closing = new TurningClient(true);
        SimulatedStore store = closing.loseTheConnection();
        leader.closeSession(store.session());
        closing.settle();
        assertEquals(SessionState.EXPIRED, stateOf(closing));
        closing.close(HOUR);
        assertTrue(closing.closed);
        assertEquals(SessionState.CLOSED, stateOf(closing));
    }

    /** It looks for the node on each later connection of the handle, but that concerns no caller. */
    @Test
    void borrowingClientIsClosed_whileItLooksForTheNodeOfALostCreate() throws Exception {
        TurningClient closing = new TurningClient(true);
        CompletableFuture<Optional<ZkLease>> asked = closing.engine.acquire(List.of(UNLIMITED), FOREVER);
        closing.cut();
        closing.settle();
        steps(closing, SESSION);
        granted(asked).abandon();
        closing.settle();
        closing.close(Duration.ZERO);
        assertTrue(closing.closed);
        assertEquals(SessionState.CLOSED, stateOf(closing));
    }

    private static SessionState stateOf(TurningClient client) {
        return client.engine.context().events().view().state();
    }

    @ParameterizedTest
    @CsvSource({"3600, 3", "3, 3600"})
    void graceThatEndsFirstCounts_whenTwoAreGiven(int first, int second) throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        client.close(Duration.ofSeconds(first));
        client.close(Duration.ofSeconds(second));
        steps(client, LIMIT.minusMillis(1));
        assertTrue(lease.isValid());
        steps(client, Duration.ofMillis(1));
        client.runCallbacks();
        assertEquals(LossCause.CLIENT_CLOSED, lease.lost().toCompletableFuture().getNow(null));
        assertTrue(client.closed);
    }

    /** The session stays until the second of them has its answer as well. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void everyReleaseWithinTheGraceIsAnswered_whenTheLastHoldersReleaseTogether(int first) throws Exception {
        List<ZkLease> held = List.of(client.acquire("/a"), client.acquire("/b"));
        client.close(HOUR);
        List<CompletableFuture<ReleaseOutcome>> released = Stream.of(held.get(first), held.get(1 - first))
                .map(lease -> lease.releaseAsync().toCompletableFuture())
                .toList();
        client.settle();
        client.runCallbacks();
        assertEquals(
                List.of(ReleaseOutcome.RELEASED, ReleaseOutcome.RELEASED),
                released.stream().map(each -> each.getNow(null)).toList());
        assertTrue(client.closed);
    }

    @Test
    void clientClosesAtTheLimit_whenItPassesWithinTheGrace() throws Exception {
        ZkLease lease = client.acquire(LIMITED);
        client.close(HOUR);
        steps(client, LIMIT);
        client.runCallbacks();
        assertEquals(LossCause.HELD_TOO_LONG, lease.lost().toCompletableFuture().getNow(null));
        assertTrue(client.closed);
        assertEquals(0, nodes());
    }

    @Test
    void clientClosesWithoutANewSession_whenItsSessionExpiresWithinTheGrace() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        client.close(HOUR);
        SimulatedStore store = client.store();
        leader.closeSession(store.session());
        store.cut();
        client.settle();
        client.runCallbacks();
        assertEquals(
                LossCause.SESSION_EXPIRED, lease.lost().toCompletableFuture().getNow(null));
        assertTrue(client.closed);
        assertEquals(store, client.store());
    }

    @Test
    void clientClosesAtTheEndOfItsSession_whenARestOfTheGraceIsLeft() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        client.close(HOUR);
        SimulatedStore store = client.loseTheConnection();
        lease.abandon();
        leader.closeSession(store.session());
        assertFalse(client.closed);
        client.settle();
        assertTrue(client.closed);
    }

    /** Its node is deleted with the session, so the close has nothing to wait for. */
    @Test
    void clientClosesAtTheEndOfItsSession_whenTheOwnerOfALostLeaseIsNotNotifiedYet() throws Exception {
        CompletableFuture<LossCause> lost = client.acquire(UNLIMITED).lost().toCompletableFuture();
        client.settle();
        client.close(Duration.ZERO);
        assertFalse(client.closed);
        SimulatedStore store = client.loseTheConnection();
        leader.closeSession(store.session());
        client.settle();
        assertTrue(client.closed);
        assertFalse(lost.isDone());
    }

    @Test
    void clientClosesAtOnce_whenNothingIsHeldAsTheGraceBegins() {
        client.close(HOUR);
        assertTrue(client.closed);
    }

    /** In an outage no deletion is answered: a client that waited for one would take the whole grace. */
    @Test
    void clientClosesAtOnceWithoutAServer_whenNothingIsHeldAsTheGraceBegins() throws Exception {
        ZkLease others = acquireOn(new TurningClient(false));
        CompletableFuture<Optional<ZkLease>> waiting = client.engine.acquire(List.of(UNLIMITED), FOREVER);
        client.settle();
        assertEquals(2, nodes());
        client.loseTheConnection();
        client.engine.context().execute(() -> client.engine.close(HOUR));
        assertTrue(waiting.isCompletedExceptionally());
        assertTrue(client.closed);
        assertEquals("/m", others.path());
    }

    @Test
    void clientClosesAtOnceWithoutAServer_whenItsOnlyLeaseIsLostAsTheGraceBegins() throws Exception {
        loseTheLeaseWithTheConnection();
        client.engine.context().execute(() -> client.engine.close(HOUR));
        client.runCallbacks();
        assertTrue(client.closed);
    }

    /** The release is waited for while its lease would be valid, and not for the rest of the grace. */
    @Test
    void clientClosesAtTheDeadlineOfTheReleasedLease_whenNoServerTakesItsRelease() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        Duration left = lease.remaining();
        SimulatedStore unused = client.loseTheConnection();
        lease.abandon();
        client.engine.context().execute(() -> client.engine.close(HOUR));
        assertFalse(client.closed, "a server may take the release");
        SimulatedTime time = leader.time();
        long deadline = time.nanos() + left.toNanos();
        while (time.nextAt() <= deadline) {
            time.runNext();
        }
        assertTrue(client.closed);
    }

    /** Its session is closed instead, which deletes the node. */
    @Test
    void clientEndsItsSessionAtOnce_whenItsNodeCannotBeDeletedAsItCloses() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        client.loseTheConnection();
        client.engine.context().execute(client.engine::close);
        assertFalse(lease.isValid());
        assertEquals(SessionState.CLOSED, stateOf(client));
    }

    /** ZooKeeper's client connects no more, so the deletion is not sent. */
    @Test
    void borrowingClientCloses_whenALoginIsRefusedBeforeItsNodeCanBeDeleted() throws Exception {
        TurningClient closing = new TurningClient(true);
        ZkLease lease = acquireOn(closing);
        closing.loseTheConnection();
        closing.engine.context().execute(closing.engine::close);
        assertFalse(lease.isValid());
        assertFalse(closing.closed);
        closing.listener().loginRefused();
        assertTrue(closing.closed);
    }

    /** Its node can be deleted only with the next connection. */
    @Test
    void borrowingClientCloses_whenItIsClosedAgainWithAGraceBeforeItsNodeIsDeleted() throws Exception {
        TurningClient closing = new TurningClient(true);
        ZkLease lease = acquireOn(closing);
        closing.loseTheConnection();
        closing.engine.context().execute(closing.engine::close);
        closing.engine.context().execute(() -> closing.engine.close(HOUR));
        assertFalse(lease.isValid());
        assertFalse(closing.closed);
        assertEquals(1, nodes());
        closing.settle();
        assertTrue(closing.closed);
        assertEquals(0, nodes());
    }

    /** They report losses to the holders. */
    @Test
    void threadsOfTheClientEnd_whenItsLastHolderHasReleasedWithinTheGrace() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        Runnable threadsEnd = () -> ended.set(true);
        EngineLockClient closing = new EngineLockClient(client.engine, "", threadsEnd, Optional.empty(), 0);
        ZkLease lease = client.acquire(UNLIMITED);
        client.engine.context().execute(() -> closing.close(HOUR));
        client.settle();
        assertFalse(ended.get());
        lease.abandon();
        client.settle();
        assertTrue(ended.get());
        assertTrue(client.clock.closed, "it has a thread");
    }

    /** Returns a thread that closes the client with a grace, once it waits for that or has ended without a wait. */
    private Thread closing(Runnable before) throws InterruptedException {
        Thread closing = new Thread(() -> {
            before.run();
            client.engine.close(HOUR);
        });
        closing.setDaemon(true);
        closing.start();
        Eventually.holds("it waits or ends", SOON, () -> isAt(closing, "CallerWait") || !closing.isAlive());
        return closing;
    }

    /** A lease that was acquired asynchronously belongs to no thread. */
    @Test
    void closeWaits_whenItsThreadHasAcquiredAsynchronously() throws Exception {
        CompletableFuture<ZkLease> held = new CompletableFuture<>();
        Thread closing = closing(() -> {
            var unused = client.engine
                    .acquire(List.of(UNLIMITED), FOREVER)
                    .thenAccept(lease -> held.complete(lease.orElseThrow()));
            client.settle();
        });
        assertTrue(closing.isAlive(), "it did not wait");
        held.get(5, TimeUnit.SECONDS).abandon();
        client.settle();
        assertTrue(client.closed);
        closing.join();
    }

    /** It would wait for itself. Both hold by one node. */
    @Test
    void closeDoesNotWait_whenItsThreadReadsBesideAnother() throws Exception {
        ZkLease first = client.take(READER);
        Thread closing = closing(() -> {
            try {
                client.turns.acquire(READER, FOREVER).await(true).orElseThrow().ensureValid();
            } catch (Exception unexpected) {
                throw new IllegalStateException(unexpected);
            }
        });
        assertFalse(closing.isAlive(), "it waits for itself");
        assertTrue(first.isValid());
    }

    /** Its request is on its way as it closes, and holds nothing. */
    @Test
    void closeWaits_whenItsThreadHasGivenUpARequest() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        Thread closing = closing(() -> {
            CompletableFuture<Optional<ZkLease>> asked = client.engine.acquire(List.of(UNLIMITED), FOREVER);
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, asked::get);
            assertTrue(asked.cancel(false));
        });
        assertTrue(closing.isAlive(), "it did not wait");
        lease.abandon();
        client.settle();
        assertTrue(client.closed);
        closing.join();
    }

    /** A pool of the application may run callbacks, and later a task that closes the client. */
    @Test
    void closeWaits_whenItsThreadHasRunACallback() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        Thread closing = closing(() -> {
            client.engine.context().callBack(() -> {});
            client.runCallbacks();
        });
        assertTrue(closing.isAlive(), "it did not wait");
        lease.abandon();
        client.settle();
        assertTrue(client.closed);
        closing.join();
    }

    @Test
    void clientClosesAtOnce_whenAnOperatorDeletesTheLastNodeWithinTheGrace() throws Exception {
        ZkLease lease = client.acquire(UNLIMITED);
        client.close(HOUR);
        leader.delete("/m/" + leader.tree().get("/m").children().get(0));
        var unused = lease.nodeGone(0); // as a guarded write finds out
        client.runCallbacks();
        assertEquals(LossCause.NODE_DELETED, lease.lost().toCompletableFuture().getNow(null));
        client.settle();
        assertTrue(client.closed);
    }
}
