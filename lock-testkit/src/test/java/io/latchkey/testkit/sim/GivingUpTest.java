// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.testkit.RequestMatch;
import io.latchkey.testkit.ServerNode;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.zk.Layout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests of every kind that are given up at a random moment: by time-out, cancel and interrupt, among neighbours of their own client and
 * of another, with faults and without. Where nothing fails it has left the queue at once. Afterwards both clients are served at once,
 * the servers have no request and no watch, and the observer was told of an end.
 */
@Timeout(120)
class GivingUpTest {
    private static final Duration SESSION = Duration.ofSeconds(6);
    /** For each door and way, with faults and without. */
    private static final int TIMES = Integer.getInteger("latchkey.giving-up.times", 20);
    /** More requests than any of these sends before it waits. */
    private static final int MOST_REQUESTS = 6;

    private static final int SOON_SECONDS = 10;

    /** How a request is given up. */
    private enum Way {
        TIME_OUT,
        CANCEL,
        INTERRUPT
    }

    /** A caller's request. */
    private interface Asked {
        /** By time-out, cancel or interrupt; the caller's call has ended on return. */
        void giveUp() throws Exception;

        /** What was granted is released; to be called when nothing keeps that from being done. */
        void end() throws Exception;
    }

    /** One that was made with a future. */
    private record AskedByFuture(CompletableFuture<?> answer, SimulatedLocks locks, Duration time) implements Asked {
        @Override
        public void giveUp() {
            if (time.isZero()) {
                answer.cancel(false);
            } else {
                locks.advance(time);
            }
            assertTrue(answer.isDone(), "time is up");
        }

        @Override
        public void end() {
            if (!answer.isCompletedExceptionally()) {
                Object granted = answer.join();
                Optional<?> lease = granted instanceof Optional<?> maybe ? maybe : Optional.of(granted);
                lease.map(Lease.class::cast).ifPresent(GivingUpTest::release);
            }
        }
    }

    private static void release(Lease lease) {
        var unused = lease.releaseAsync();
    }

    /** What a thread does to acquire, and then to release. */
    private interface Acquiring {
        boolean acquire() throws Exception;

        void release();
    }

    /** One that a thread waits for. */
    private static final class AskedByThread implements Asked {
        private final SimulatedLocks locks;
        private final Duration time;
        private final CompletableFuture<Boolean> answer = new CompletableFuture<>();
        private final CompletableFuture<Boolean> over = new CompletableFuture<>();
        private final Thread thread;

        /** @param time zero if it is to be interrupted */
        AskedByThread(SimulatedLocks locks, Duration time, Acquiring acquiring) {
            this.locks = locks;
            this.time = time;
            this.thread = new Thread(() -> run(acquiring), "latchkey-gives-up");
            thread.setDaemon(true);
            thread.start();
            while (!over.isDone() && !isParked()) {
                Thread.onSpinWait();
            }
        }

        private boolean isParked() {
            Thread.State state = thread.getState();
            return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        }

        private void run(Acquiring acquiring) {
            try {
                boolean granted = acquiring.acquire();
                answer.complete(granted);
                if (granted) {
                    acquiring.release();
                }
            } catch (InterruptedException gaveUp) {
                answer.complete(false);
            } catch (LockOwnershipLostException lost) {
                // By a fault, before the release.
            } catch (Exception unexpected) {
                answer.completeExceptionally(unexpected);
            }
            over.complete(true);
        }

        @Override
        public void giveUp() throws Exception {
            if (time.isZero()) {
                thread.interrupt();
            } else {
                locks.advance(time);
            }
            answer.get(SOON_SECONDS, TimeUnit.SECONDS);
        }

        @Override
        public void end() throws Exception {
            over.get(SOON_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static Acquiring acquiring(Acquirable lock, Duration time) {
        return new Acquiring() {
            private Optional<Lease> lease = Optional.empty();

            @Override
            public boolean acquire() throws Exception {
                lease = time.isZero() ? Optional.of(lock.acquire()) : lock.tryAcquire(time);
                return lease.isPresent();
            }

            @Override
            public void release() {
                lease.ifPresent(GivingUpTest::release);
            }
        };
    }

    private static Acquiring acquiring(Lock view, Duration time) {
        return new Acquiring() {
            @Override
            public boolean acquire() throws Exception {
                if (time.isZero()) {
                    view.lockInterruptibly();
                    return true;
                }
                return view.tryLock(time.toNanos(), TimeUnit.NANOSECONDS);
            }

            @Override
            public void release() {
                view.unlock();
            }
        };
    }

    static Stream<Arguments> doorsAndWays() {
        return Stream.of(Door.values()).flatMap(door -> Stream.of(Way.values()).map(way -> Arguments.of(door, way)));
    }

    @ParameterizedTest
    @MethodSource("doorsAndWays")
    void requestLeavesNothing_whenItIsGivenUp(Door door, Way way) throws Exception {
        for (long seed = 0; seed < TIMES; seed++) {
            new Run(door, seed, false).play(run -> run.ask(way));
        }
    }

    @ParameterizedTest
    @MethodSource("doorsAndWays")
    void requestLeavesNothing_whenItIsGivenUpAmongFaults(Door door, Way way) throws Exception {
        for (long seed = 0; seed < TIMES; seed++) {
            new Run(door, seed, true).play(run -> run.ask(way));
        }
    }

    @ParameterizedTest
    @MethodSource("io.latchkey.testkit.sim.GivingUpTest#layoutsWithDowngrades")
    void downgradeLeavesNothing_whenItsLeaseIsReleased(Layout layout) throws Exception {
        Door door = layout == Layout.LATCHKEY ? Door.READ : Door.READ_BESIDE_CURATOR;
        for (long seed = 0; seed < 3L * TIMES; seed++) {
            new Run(door, seed, true).playWithoutABlocker(Run::downgrade);
        }
    }

    static Stream<Layout> layoutsWithDowngrades() {
        return Stream.of(Layout.LATCHKEY, Layout.CURATOR);
    }

    /** What is asked for in a run, and given up. */
    private interface Asking {
        Asked ask(Run run) throws Exception;
    }

    /** One request among others. */
    private static final class Run {
        private final Door door;
        private final long seed;
        private final boolean faults;
        private final SplittableRandom random;
        private final SimulatedLocks locks = SimulatedLocks.start(SESSION);
        private final CompletableFuture<Broken> told = new CompletableFuture<>();
        private final CompletableFuture<Boolean> closed = new CompletableFuture<>();
        private final LockClient mine;
        private final LockClient other;
        /** Those that stand before it or behind it; what they are granted is released at once. */
        private final List<CompletableFuture<?>> neighbours = new ArrayList<>();

        private final List<String> steps = new ArrayList<>();

        Run(Door door, long seed, boolean faults) {
            this.door = door;
            this.seed = seed;
            this.faults = faults;
            this.random = new SplittableRandom(seed);
            this.mine = door.described(locks.builder().observer(rules())).build();
            this.other = door.described(locks.builder()).build();
        }

        private ObserverRules rules() {
            return new ObserverRules(told::complete) {
                @Override
                public void sessionChanged(SessionState state) {
                    if (state == SessionState.CLOSED) {
                        checkThatAllHaveEnded();
                        closed.complete(true);
                    }
                    super.sessionChanged(state);
                }
            };
        }

        void play(Asking asking) throws Exception {
            play(asking, Optional.of(anyClient()));
        }

        void playWithoutABlocker(Asking asking) throws Exception {
            play(asking, Optional.empty());
        }

        private void play(Asking asking, Optional<LockClient> holder) throws Exception {
            try (locks) {
                if (random.nextBoolean()) {
                    door.asked(other)
                            .acquireAsync()
                            .get(SOON_SECONDS, TimeUnit.SECONDS)
                            .close();
                }
                Optional<Lease> held = Optional.empty();
                if (holder.isPresent() && random.nextInt(4) > 0) {
                    held = Optional.of(door.blocker(holder.get()).acquireAsync().get(SOON_SECONDS, TimeUnit.SECONDS));
                    neighbours(2);
                }
                List<ServerNode> before = requests();
                Asked asked = asking.ask(this);
                boolean alone = held.isPresent() && random.nextBoolean();
                pass();
                if (!alone) {
                    neighbours(2);
                }
                if (!alone && random.nextInt(3) == 0) {
                    step("the holder releases");
                    held.ifPresent(GivingUpTest::release);
                    pass();
                }
                step("given up");
                asked.giveUp();
                boolean keepsItsPlace = door == Door.LOCAL_TURNS && holder.equals(Optional.of(mine));
                if (alone && !faults && !keepsItsPlace) {
                    locks.advance(Duration.ZERO);
                    assertEquals(before, requests(), "left the queue");
                }
                pass();
                step("all is well");
                locks.heal(mine);
                held.ifPresent(GivingUpTest::release);
                locks.advance(faults ? SESSION.multipliedBy(2) : Duration.ZERO);
                asked.end();
                locks.advance(Duration.ZERO);
                assertNothingIsLeft();
                served(other);
                served(mine);
                locks.advance(Duration.ZERO);
                assertNothingIsLeft();
                mine.close();
                closed.get(SOON_SECONDS, TimeUnit.SECONDS);
                assertTrue(!told.isDone(), () -> told.join().getMessage());
            } catch (AssertionError | ExecutionException | RuntimeException failed) {
                throw new AssertionError(
                        door + ", seed " + seed + (faults ? " with faults" : "") + ": " + steps, failed);
            }
        }

        Asked ask(Way way) {
            prepareFault();
            Acquirable lock = door.asked(mine);
            Duration time = way == Way.TIME_OUT ? Duration.ofMillis(random.nextInt(1, 8_000)) : Duration.ZERO;
            if (way == Way.CANCEL || (way == Way.TIME_OUT && random.nextBoolean())) {
                return new AskedByFuture(time.isZero() ? lock.acquireAsync() : lock.tryAcquireAsync(time), locks, time);
            }
            Optional<Lock> view = door.view(mine).filter(there -> random.nextBoolean());
            return new AskedByThread(
                    locks, time, view.map(there -> acquiring(there, time)).orElseGet(() -> acquiring(lock, time)));
        }

        /** A downgrade, which is given up when the lease is released that is to be downgraded. */
        Asked downgrade() throws Exception {
            Lease write = door.blocker(mine).acquireAsync().get(SOON_SECONDS, TimeUnit.SECONDS);
            neighbours(2);
            prepareFault();
            CompletableFuture<Lease> read = new CompletableFuture<>();
            AskedByThread asked = new AskedByThread(locks, Duration.ZERO, new Acquiring() {
                @Override
                public boolean acquire() {
                    try {
                        return read.complete(mine.readWriteLock("/rw").downgrade(write));
                    } catch (LeaseLostException | IllegalStateException released) {
                        return false;
                    }
                }

                @Override
                public void release() {
                    GivingUpTest.release(read.join());
                }
            });
            return new Asked() {
                @Override
                public void giveUp() {
                    release(write);
                }

                @Override
                public void end() throws Exception {
                    asked.end();
                }
            };
        }

        private LockClient anyClient() {
            return random.nextInt(3) == 0 ? mine : other;
        }

        private void step(String what) {
            steps.add(what);
        }

        private void neighbours(int most) {
            for (int n = random.nextInt(most + 1); n > 0; n--) {
                boolean blocks = random.nextBoolean();
                LockClient client = anyClient();
                step("a neighbour asks");
                neighbours.add((blocks ? door.blocker(client) : door.asked(client))
                        .acquireAsync()
                        .thenCompose(Lease::releaseAsync));
            }
        }

        /** Of the request's client, before it asks. */
        private void prepareFault() {
            if (!faults) {
                return;
            }
            int number = random.nextInt(1, MOST_REQUESTS);
            int kind = random.nextInt(7);
            step("fault " + kind + " at request " + number);
            if (random.nextBoolean()) {
                locks.refuse(mine);
            }
            switch (kind) {
                case 0 -> locks.cutBefore(mine, RequestMatch.any(), number);
                case 1, 2 -> locks.cutAfter(mine, RequestMatch.any(), number);
                case 3 -> {
                    AtomicInteger left = new AtomicInteger(number);
                    locks.holdAnswers(
                            mine, RequestMatch.of("from number " + number, any -> left.decrementAndGet() < 0));
                }
                case 4 -> locks.holdEvents(mine);
                case 5 -> locks.cutOff(mine);
                default -> locks.disconnect(mine);
            }
        }

        /** Some time, and what can happen in it. */
        private void pass() {
            if (random.nextInt(3) == 0) {
                Duration time = Duration.ofMillis(random.nextInt(10_000));
                step(time + " pass");
                locks.advance(time);
            }
            if (faults && random.nextInt(6) == 0) {
                step("the session is ended");
                locks.expire(mine);
            }
            if (faults && random.nextInt(4) == 0) {
                step("healed");
                locks.heal(mine);
            }
            if (faults && random.nextInt(6) == 0) {
                step("disconnected");
                locks.disconnect(mine);
            }
        }

        private void served(LockClient client) throws Exception {
            CompletableFuture<Lease> next = door.asked(client).acquireAsync();
            locks.advance(Duration.ZERO);
            assertTrue(next.isDone(), () -> "not served, of " + locks.nodesUnder("/"));
            next.get().close();
        }

        private void assertNothingIsLeft() {
            assertEquals(
                    List.of(),
                    neighbours.stream().filter(each -> !each.isDone()).toList());
            assertEquals(List.of(), requests());
            assertEquals(List.of(), locks.watches());
        }

        private List<ServerNode> requests() {
            return locks.nodesUnder("/").stream()
                    .filter(ServerNode::isEphemeral)
                    .toList();
        }
    }
}
