// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Threads of one client at once, over one simulation: thousands of rounds, in each of which every thread takes its step
 * at the same moment. Only the locks guard the data; after each round no request may be left at the server.
 *
 * <p>Without Lincheck, which needs a new simulation for each scenario, several milliseconds each: too few to meet a
 * race.
 */
@Tag("once")
@Tag("long")
@SuppressWarnings({"LockNotBeforeTry", "ThreadPriorityCheck"})
class ConcurrentCallsTest {
    /** {@code -Dlatchkey.races=20}: twenty times as many rounds. */
    private static final int TIMES = Integer.getInteger("latchkey.races", 1);

    private static final int ROUNDS_TO_A_CLOSE = 8;
    private static final int TURNS = 3;
    private static final int OTHERS = 8;
    /** About as long as a release takes. */
    private static final int LATEST_START = 800;

    private static final int MOST_SPINS = 200;
    private static final long PATIENCE_SECONDS = 20;
    private static final Duration TIMEOUT = Duration.ofMillis(1);
    private static final Duration LONG = Duration.ofHours(1);

    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final LockClient other = locks.client();

    /** What one thread does in a round. */
    @FunctionalInterface
    private interface Step {
        void take(SplittableRandom random) throws Exception;
    }

    /**
     * In each round, {@code before} in this thread, every step at once in a thread of its own, then {@code after}. A
     * step that hangs is cancelled.
     */
    private static void race(int rounds, Runnable before, Runnable after, Step... steps) throws Exception {
        AtomicInteger missing = new AtomicInteger();
        List<Callable<Boolean>> racing = new ArrayList<>();
        for (Step step : steps) {
            SplittableRandom random = new SplittableRandom(racing.size());
            racing.add(() -> {
                missing.decrementAndGet();
                while (missing.get() > 0) {
                    Thread.yield(); // a thread that is woken instead comes too late for the race
                }
                spin(random.nextInt(LATEST_START));
                step.take(random);
                return true;
            });
        }
        ExecutorService threads = Executors.newFixedThreadPool(steps.length);
        try {
            for (int round = 0; round < rounds * TIMES; round++) {
                before.run();
                missing.set(steps.length);
                for (Future<Boolean> step : threads.invokeAll(racing, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                    assertTrue(step.get());
                }
                after.run();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static Optional<Lease> now(Acquirable lock) {
        try {
            return lock.tryAcquire();
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    private static void spin(SplittableRandom random) {
        spin(random.nextInt(MOST_SPINS));
    }

    private static void spin(int times) {
        for (int left = times; left > 0; left--) {
            Thread.onSpinWait();
        }
    }

    // ---- the future of a request

    @Test
    void requestEndsOnceAndLeavesNoLease_whenGrantCancelTimeOutAndCloseMeet() throws Exception {
        meet(locks.builder());
    }

    @Test
    void localTurnEndsOnceAndLeavesNoLease_whenGrantCancelTimeOutAndCloseMeet() throws Exception {
        meet(locks.builder().localTurns(2, LONG));
    }

    private void meet(SimulatedLocks.ClientBuilder described) throws Exception {
        MeetingPoint meeting = new MeetingPoint(described);
        race(
                20_000,
                meeting::begin,
                meeting::check,
                meeting::release,
                meeting::cancel,
                meeting::timeOut,
                meeting::close);
    }

    /** In each round, a holder and a request behind it. */
    private final class MeetingPoint {
        private final SimulatedLocks.ClientBuilder described;
        private LockClient mine;
        private int round;
        private boolean closed;
        private Optional<Lease> held = Optional.empty();
        private CompletableFuture<Optional<Lease>> asked = new CompletableFuture<>();
        private boolean cancelled;

        MeetingPoint(SimulatedLocks.ClientBuilder described) {
            this.described = described;
            this.mine = described.build();
        }

        void begin() {
            if (closed) {
                mine = described.build();
            }
            round++;
            closed = round % ROUNDS_TO_A_CLOSE == 0;
            held = now((round % 2 == 0 ? mine : other).mutex("/m"));
            asked = mine.mutex("/m").tryAcquireAsync(TIMEOUT);
        }

        void check() {
            locks.advance(Duration.ZERO); // until callbacks have run
            assertTrue(asked.isDone());
            assertEquals(cancelled, asked.isCancelled());
            Optional<Lease> granted = asked.handle((lease, error) -> {
                        assertTrue(error == null || cancelled || (closed && error instanceof ClientClosedException));
                        return error == null ? lease : Optional.<Lease>empty();
                    })
                    .join();
            granted.ifPresent(
                    lease -> assertEquals(closed ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED, lease.release()));
            assertEquals(List.of(), locks.nodesUnder("/m"));
        }

        void release(SplittableRandom random) {
            ReleaseOutcome outcome = held.orElseThrow().release();
            assertTrue(outcome == ReleaseOutcome.RELEASED || closed, () -> "" + outcome);
        }

        void cancel(SplittableRandom random) {
            cancelled = asked.cancel(false);
        }

        void timeOut(SplittableRandom random) {
            locks.advance(TIMEOUT);
        }

        void close(SplittableRandom random) {
            if (closed) {
                mine.close();
            }
        }
    }

    // ---- holds of threads

    @Test
    void threadHoldsUntilItsLastUnlock_whenThreadsLockViewsAgainAndUnlockAtOnce() throws Exception {
        GuardedCounter guarded = new GuardedCounter(locks.client());
        race(10_000, () -> {}, guarded::check, guarded::use, guarded::use, guarded::use);
    }

    /** Two counts that are equal for all that hold, as nothing but the lock has it. */
    private final class GuardedCounter {
        private final ReadWriteLock views;
        /** Each thread holds them all for reading. */
        private final List<Lock> others = new ArrayList<>();

        private final AtomicInteger written = new AtomicInteger();
        private int first;
        private int second;

        GuardedCounter(LockClient client) {
            views = client.readWriteLock("/rw/guarded").asReadWriteLock();
            for (int other = 0; other < OTHERS; other++) {
                others.add(
                        client.readWriteLock("/rw/" + other).asReadWriteLock().readLock());
            }
        }

        void check() {
            List<ServerNode> requests = locks.nodesUnder("/rw").stream()
                    .filter(ServerNode::isEphemeral)
                    .toList();
            assertEquals(written.get(), first);
            assertEquals(written.get(), second);
            assertEquals(List.of(), requests);
        }

        void use(SplittableRandom random) {
            others.forEach(Lock::lock);
            int depth = 1 + random.nextInt(3);
            switch (random.nextInt(4)) {
                case 0 -> hold(views.readLock(), depth, () -> read(random));
                case 1 -> hold(views.writeLock(), depth, () -> write(random));
                case 2 -> downgrade(random);
                default -> assertThrows(IllegalMonitorStateException.class, views.writeLock()::unlock);
            }
            others.forEach(Lock::unlock);
        }

        /** Runs {@code step} at each depth, on the way back. */
        private void hold(Lock view, int depth, Runnable step) {
            view.lock();
            try {
                if (depth > 1) {
                    hold(view, depth - 1, step);
                }
                step.run();
            } finally {
                view.unlock();
            }
        }

        private void downgrade(SplittableRandom random) {
            views.writeLock().lock();
            try {
                write(random);
                views.readLock().lock();
            } finally {
                views.writeLock().unlock();
            }
            try {
                read(random);
            } finally {
                views.readLock().unlock();
            }
        }

        private void read(SplittableRandom random) {
            int seen = first;
            spin(random);
            assertEquals(seen, second);
        }

        private void write(SplittableRandom random) {
            written.incrementAndGet();
            first++;
            spin(random);
            second++;
            assertEquals(first, second);
        }
    }

    // ---- losses

    @Test
    void nodeOfALostLeaseIsDeleted_whenItsOwnerIsNotifiedAtTheSameTime() throws Exception {
        Loss loss = new Loss(locks.client().mutex("/l").heldAtMost(TIMEOUT));
        race(15_000, loss::begin, loss::check, random -> locks.advance(TIMEOUT), loss::look);
    }

    /** In each round, a lease whose limit passes, and whose owner awaits the notice of it. */
    private final class Loss {
        private final Acquirable lock;
        private Optional<Lease> held = Optional.empty();
        private CompletableFuture<LossCause> lost = new CompletableFuture<>();

        Loss(Acquirable lock) {
            this.lock = lock;
        }

        void begin() {
            held = now(lock);
            lost = held.orElseThrow().lost().toCompletableFuture();
        }

        void look(SplittableRandom random) {
            for (int looks = random.nextInt(MOST_SPINS); looks > 0; looks--) {
                var unused = held.orElseThrow().isValid();
            }
        }

        void check() {
            assertNothingLeft("/l");
            assertEquals(LossCause.HELD_TOO_LONG, lost.getNow(null));
        }
    }

    // ---- local turns

    @Test
    void turnsAreTakenOneByOneAndNoneIsLost_whenThreadsOfAClientAskAndGiveUpAtOnce() throws Exception {
        LockClient mine = locks.builder().localTurns(3, LONG).build();
        Turns turns = new Turns();
        race(8_000, () -> {}, turns::check, turns.of(mine), turns.of(mine), turns.of(mine), turns.of(other));
    }

    /** A node that serves writers and readers must be released although the reader that it is passed on to gives up. */
    @Test
    void nodesAreReleased_whenReadersAndWritersOfAClientGiveUpAtOnce() throws Exception {
        LockClient mine = locks.builder().localTurns(3, LONG).build();
        Step writes = random -> {
            for (int turn = 0; turn < TURNS; turn++) {
                Lease write = mine.readWriteLock("/rw").writeLock().acquire();
                spin(random);
                assertEquals(ReleaseOutcome.RELEASED, write.release());
            }
        };
        Step asksToRead = random -> {
            for (int turn = 0; turn < TURNS; turn++) {
                CompletableFuture<Lease> read =
                        mine.readWriteLock("/rw").readLock().acquireAsync();
                spin(random);
                if (!read.cancel(false)) {
                    read.join().close();
                }
            }
        };
        race(15_000, () -> {}, () -> assertNothingLeft("/rw"), writes, asksToRead);
    }

    private void assertNothingLeft(String path) {
        locks.advance(Duration.ZERO); // until callbacks have run
        assertEquals(List.of(), locks.nodesUnder(path));
    }

    /** A count that nothing but the lock guards. */
    private final class Turns {
        private final AtomicInteger served = new AtomicInteger();
        private int count;

        Step of(LockClient client) {
            return random -> {
                for (int turn = 0; turn < TURNS; turn++) {
                    CompletableFuture<Lease> asked = client.mutex("/t").acquireAsync();
                    spin(random);
                    if (random.nextBoolean() || !asked.cancel(false)) {
                        use(asked.join(), random);
                    }
                    use(client.mutex("/t").acquire(), random);
                }
            };
        }

        private void use(Lease lease, SplittableRandom random) {
            served.incrementAndGet();
            int before = count;
            spin(random);
            count = before + 1;
            assertEquals(ReleaseOutcome.RELEASED, lease.release());
        }

        void check() {
            assertNothingLeft("/t");
            assertEquals(served.get(), count);
        }
    }
}
