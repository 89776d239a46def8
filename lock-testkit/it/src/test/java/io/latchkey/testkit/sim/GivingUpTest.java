// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.SessionState;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Requests of every kind that are given up at a random moment: by time-out, cancel and interrupt, among neighbours of
 * their own client and of another, with faults and without. Without faults a request has left the queue at once.
 * Afterwards both clients are served at once, the servers have no request and no watch, and the observer got an end for
 * each request.
 */
@Tag("slow")
@Timeout(120)
class GivingUpTest {
    private static final Duration SESSION = Duration.ofSeconds(6);
    /** For each entry point and way, with faults and without. */
    private static final int TIMES = Integer.getInteger("latchkey.giving-up.times", 20);
    /** More requests than any of these sends before it waits. */
    private static final int MOST_REQUESTS = 6;

    /** More tasks than a free semaphore's request has in turn. */
    private static final int SOON_SECONDS = 10;

    /** How a request is given up. */
    private enum Way {
        TIME_OUT,
        CANCEL,
        INTERRUPT
    }

    /**
     * A caller's request.
     *
     * @param givingUp by time-out, cancel or interrupt
     * @param call ends with that
     * @param end releases what was granted; when nothing keeps that from being done
     */
    private record PendingAcquire(Runnable givingUp, CompletableFuture<?> call, Runnable end) {}

    private static void release(Lease lease) {
        var unused = lease.releaseAsync();
    }

    private static <T> T soon(CompletionStage<T> due) throws Exception {
        return due.toCompletableFuture().get(SOON_SECONDS, TimeUnit.SECONDS);
    }

    /** A thread that waits for a lock, and releases it at once. */
    private static final class WaitingCall {
        private final CompletableFuture<Boolean> call = new CompletableFuture<>();
        private final CompletableFuture<Boolean> over = new CompletableFuture<>();
        private final Thread thread;

        /** @param acquiring returns how to release, if it has acquired */
        WaitingCall(Callable<Optional<Runnable>> acquiring) {
            thread = new Thread(() -> run(acquiring), "latchkey-gives-up");
            thread.setDaemon(true);
            thread.start();
            while (!over.isDone() && !awaitsOutcome()) {
                Thread.onSpinWait();
            }
        }

        /** Returns whether it waits for a future, and not for a lock of a queue on the way to its request. */
        private boolean awaitsOutcome() {
            return LockSupport.getBlocker(thread) instanceof ForkJoinPool.ManagedBlocker;
        }

        private void run(Callable<Optional<Runnable>> acquiring) {
            try {
                Optional<Runnable> granted = acquiring.call();
                call.complete(true);
                granted.ifPresent(Runnable::run);
            } catch (InterruptedException | LockOwnershipLostException givenUpOrLost) {
                call.complete(true);
            } catch (Exception unexpected) {
                call.completeExceptionally(unexpected);
                over.completeExceptionally(unexpected);
            }
            over.complete(true);
        }

        void end() {
            over.orTimeout(SOON_SECONDS, TimeUnit.SECONDS).join();
        }
    }

    private static Callable<Optional<Runnable>> acquiring(Acquirable lock, Optional<Duration> time) {
        return () -> (time.isPresent() ? lock.tryAcquire(time.get()) : Optional.of(lock.acquire()))
                .<Runnable>map(lease -> () -> release(lease));
    }

    private static Callable<Optional<Runnable>> acquiring(Lock view, Optional<Duration> time) {
        return () -> {
            if (time.isEmpty()) {
                view.lockInterruptibly();
            } else if (!view.tryLock(time.get().toNanos(), TimeUnit.NANOSECONDS)) {
                return Optional.empty();
            }
            return Optional.of(view::unlock);
        };
    }

    @ParameterizedTest
    @EnumSource
    void requestLeavesNothing_whenItIsGivenUp(EntryPoint entryPoint) throws Exception {
        for (Way way : Way.values()) {
            for (long seed = 0; seed < 2L * TIMES; seed++) {
                Run run = new Run(entryPoint, seed, seed % 2 == 1);
                run.play(() -> run.ask(way), true);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"READ", "READ_BESIDE_CURATOR"})
    void downgradeLeavesNothing_whenItsLeaseIsReleased(EntryPoint entryPoint) throws Exception {
        for (long seed = 0; seed < 3L * TIMES; seed++) {
            Run run = new Run(entryPoint, seed, true);
            run.play(run::downgrade, false);
        }
    }

    /** One request among others. */
    private static final class Run {
        private final EntryPoint entryPoint;
        private final long seed;
        private final boolean faults;
        private final SplittableRandom random;
        private final SimulatedLocks locks = SimulatedLocks.start(SESSION);
        private final CompletableFuture<BrokenRuleError> told = new CompletableFuture<>();
        private final CompletableFuture<Boolean> closed = new CompletableFuture<>();
        private final LockClient mine;
        private final LockClient other;
        /** The requests ahead of it or behind it; their leases are released at once. */
        private final List<CompletableFuture<?>> neighbours = new ArrayList<>();

        private final List<String> steps = new ArrayList<>();

        Run(EntryPoint entryPoint, long seed, boolean faults) {
            this.entryPoint = entryPoint;
            this.seed = seed;
            this.faults = faults;
            this.random = new SplittableRandom(seed);
            this.mine = entryPoint.described(locks.builder().observer(rules())).build();
            this.other = entryPoint.described(locks.builder()).build();
        }

        private ObserverRules rules() {
            return new ObserverRules(told::complete) {
                @Override
                public void sessionChanged(SessionState state) {
                    super.sessionChanged(state);
                    if (state == SessionState.CLOSED) {
                        closed.complete(true);
                    }
                }
            };
        }

        /**
         * @param blocked whether another request usually holds at the time
         */
        void play(Callable<PendingAcquire> asking, boolean blocked) throws Exception {
            try (locks) {
                if (random.nextBoolean()) {
                    soon(entryPoint.asked(other).acquireAsync()).close();
                }
                LockClient holder = anyClient();
                Optional<Lease> held = Optional.empty();
                if (blocked && random.nextInt(4) > 0) {
                    held = Optional.of(soon(entryPoint.blocker(holder).acquireAsync()));
                    neighbours(2);
                }
                List<ServerNode> before = requests();
                PendingAcquire asked = asking.call();
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
                asked.givingUp().run();
                soon(asked.call());
                boolean keepsItsPlace = entryPoint.keepsPlaceBehindItsOwn() && holder.equals(mine);
                if (alone && !faults && !keepsItsPlace) {
                    locks.advance(Duration.ZERO);
                    assertEquals(before, requests(), "left the queue");
                }
                pass();
                step("all is well");
                locks.heal(mine);
                held.ifPresent(GivingUpTest::release);
                locks.advance(faults ? SESSION.multipliedBy(2) : Duration.ZERO);
                asked.end().run();
                locks.advance(Duration.ZERO);
                assertNothingIsLeft();
                served(other);
                served(mine);
                locks.advance(Duration.ZERO);
                assertNothingIsLeft();
                mine.close();
                soon(closed);
                assertFalse(told.isDone(), () -> told.join().getMessage());
            } catch (AssertionError | Exception failed) {
                throw new AssertionError(
                        entryPoint + ", seed " + seed + (faults ? " with faults" : "") + ": " + steps + ": " + failed,
                        failed);
            }
        }

        PendingAcquire ask(Way way) {
            step(way.name());
            prepareFault();
            Acquirable lock = entryPoint.asked(mine);
            Optional<Duration> time =
                    way == Way.TIME_OUT ? Optional.of(Duration.ofMillis(random.nextInt(1, 8_000))) : Optional.empty();
            if (way == Way.CANCEL) {
                CompletableFuture<Lease> asked = lock.acquireAsync();
                return new PendingAcquire(() -> asked.cancel(false), asked.handle((lease, cancelled) -> true), () -> {
                    if (!asked.isCancelled()) {
                        release(asked.join());
                    }
                });
            } else if (time.isPresent() && random.nextBoolean()) {
                CompletableFuture<Optional<Lease>> asked = lock.tryAcquireAsync(time.get());
                return new PendingAcquire(() -> locks.advance(time.get()), asked, () -> asked.join()
                        .ifPresent(GivingUpTest::release));
            }
            WaitingCall waiting = new WaitingCall(entryPoint
                    .view(mine)
                    .filter(view -> random.nextBoolean())
                    .map(view -> acquiring(view, time))
                    .orElseGet(() -> acquiring(lock, time)));
            Runnable givingUp = time.isPresent() ? () -> locks.advance(time.get()) : waiting.thread::interrupt;
            return new PendingAcquire(givingUp, waiting.call, waiting::end);
        }

        /** A downgrade, which is given up when the lease is released that is to be downgraded. */
        PendingAcquire downgrade() throws Exception {
            Lease write = soon(entryPoint.blocker(mine).acquireAsync());
            neighbours(2);
            prepareFault();
            WaitingCall waiting = new WaitingCall(() -> {
                try {
                    Lease read = mine.readWriteLock("/rw").downgrade(write);
                    return Optional.of(() -> release(read));
                } catch (LeaseLostException | IllegalStateException released) {
                    return Optional.empty();
                }
            });
            return new PendingAcquire(() -> release(write), CompletableFuture.completedFuture(true), waiting::end);
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
                neighbours.add((blocks ? entryPoint.blocker(client) : entryPoint.asked(client))
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
            CompletableFuture<Lease> next = entryPoint.asked(client).acquireAsync();
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
