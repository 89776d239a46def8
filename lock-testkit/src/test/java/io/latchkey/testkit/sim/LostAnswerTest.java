// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A client performs an operation whose response is lost, and another one at once, without a connection: the handle
 * sends the latter before the barrier, and before the requests that Latchkey repeats. All pairs; the connection breaks
 * at the first, second or third request, before or after the server has carried it out, and one attempt to connect or
 * two fail, with the barrier. Then all of both clients are served, holders do not exclude each other, no lease is lost,
 * and nothing is left.
 */
@Timeout(120)
class LostAnswerTest {
    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final int SOON_SECONDS = 10;
    private static final int MOST_REQUESTS = 3;
    /** A little more: the barrier of the first attempt has failed, and the one of the second is under way. */
    private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(1_050);

    /** What the client does. */
    private enum Deed {
        RELEASE {
            @Override
            void carryOut(Scene scene) {
                scene.writing().ifPresent(scene::release);
            }
        },
        DOWNGRADE {
            @Override
            void carryOut(Scene scene) {
                scene.writing().ifPresent(scene::downgrade);
            }
        },
        CANCEL {
            @Override
            void carryOut(Scene scene) {
                scene.queued.cancel(false);
            }
        },
        WRITE {
            @Override
            void carryOut(Scene scene) {
                scene.ask(scene.document(scene.mine).writeLock(), "/rw");
            }
        },
        READ {
            @Override
            void carryOut(Scene scene) {
                scene.ask(scene.document(scene.mine).readLock());
            }
        },
        FREE_MUTEX {
            @Override
            void carryOut(Scene scene) {
                scene.ask(scene.mine.mutex("/free"), "/free");
            }
        },
        NEW_PATH {
            @Override
            void carryOut(Scene scene) {
                scene.ask(scene.mine.mutex("/new/path"), "/new/path");
            }
        },
        MULTI_LOCK {
            @Override
            void carryOut(Scene scene) {
                Acquirable both = scene.mine.multiLock(
                        scene.mine.mutex("/free"), scene.document(scene.mine).writeLock());
                scene.ask(both, "/free", "/rw");
            }
        };

        abstract void carryOut(Scene scene);
    }

    static Stream<Arguments> pairs() {
        return Stream.of(Deed.values())
                .flatMap(first -> Stream.of(Deed.values()).map(second -> Arguments.of(first, second)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void allRequestsAreServed_whenTheNextIsSentBeforeTheBarrier(Deed first, Deed second) throws Exception {
        for (int number = 1; number <= MOST_REQUESTS; number++) {
            for (boolean after : new boolean[] {true, false}) {
                for (boolean anotherAttempt : new boolean[] {true, false}) {
                    try (Scene scene = new Scene()) {
                        scene.play(first, second, number, after, anotherAttempt);
                    } catch (AssertionError failed) {
                        throw new AssertionError(
                                "connection lost " + (after ? "after" : "before") + " request " + number
                                        + (anotherAttempt ? ", a second attempt to connect failed" : ""),
                                failed);
                    }
                }
            }
        }
    }

    /** A lease, and the paths of which it excludes others. */
    private record Held(Lease lease, List<String> excludes) {}

    /** Two clients. The first holds a lock to write, and has a request behind it; the other one's stand behind that. */
    private static final class Scene implements AutoCloseable {
        private final SimulatedLocks locks = SimulatedLocks.start(SESSION);
        final LockClient mine = locks.client("mine");
        private final LockClient other = locks.client("other");
        /** Tells whether the client knows that the connection is lost. */
        private final Lease elsewhere;

        final Lease held;
        final CompletableFuture<Lease> queued;
        private final List<CompletableFuture<?>> done = new ArrayList<>();
        private final List<CompletableFuture<Boolean>> downgrades = new ArrayList<>();
        private final AtomicBoolean lost = new AtomicBoolean();
        /** Confined to itself as a monitor. */
        private final List<Held> holding = new ArrayList<>();

        Scene() throws Exception {
            elsewhere = soon(mine.mutex("/elsewhere").acquireAsync());
            soon(mine.mutex("/free").acquireAsync()).close();
            held = soon(document(mine).writeLock().acquireAsync());
            holding.add(new Held(held, List.of("/rw")));
            queued = asking(document(mine).writeLock(), "/rw");
            ask(document(other).readLock());
            ask(document(other).writeLock(), "/rw");
        }

        ReadWriteLock document(LockClient client) {
            return client.readWriteLock("/rw");
        }

        void ask(Acquirable lock, String... excludes) {
            var unused = asking(lock, excludes);
        }

        private CompletableFuture<Lease> asking(Acquirable lock, String... excludes) {
            CompletableFuture<Lease> asking = lock.acquireAsync();
            done.add(asking.thenAccept(lease -> holds(lease, List.of(excludes))).exceptionally(cancelled -> null));
            return asking;
        }

        private void holds(Lease lease, List<String> excludes) {
            synchronized (holding) {
                holding.add(new Held(lease, excludes));
            }
        }

        void release(Lease lease) {
            synchronized (holding) {
                holding.removeIf(each -> each.lease().equals(lease));
            }
            done.add(lease.releaseAsync().thenAccept(outcome -> {
                if (outcome == ReleaseOutcome.LOST) {
                    lost.set(true);
                }
            }));
        }

        /** What the first client holds to write: the request behind its holder has it as soon as that releases. */
        Optional<Lease> writing() {
            if (held.state() != LeaseState.RELEASED) {
                return Optional.of(held);
            }
            return Optional.ofNullable(queued.isCompletedExceptionally() ? null : queued.getNow(null));
        }

        /** Waits for a server, so another thread does it. */
        void downgrade(Lease write) {
            CompletableFuture<Boolean> over = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                try {
                    Lease read = document(mine).downgrade(write);
                    synchronized (holding) {
                        holding.removeIf(each -> each.lease().equals(write));
                    }
                    holds(read, List.of());
                } catch (LockException | IllegalStateException released) {
                    // By the other deed.
                }
                over.complete(true);
            });
            thread.setDaemon(true);
            thread.start();
            while (!over.isDone() && thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            downgrades.add(over);
        }

        void play(Deed first, Deed second, int number, boolean after, boolean anotherAttempt) throws Exception {
            RequestMatch any = RequestMatch.any();
            Fault broken = after ? locks.cutAfter(mine, any, number) : locks.cutBefore(mine, any, number);
            locks.refuse(mine);
            first.carryOut(this);
            if (broken.struck().isDone()) {
                assertEquals(LeaseState.SUSPECT, elsewhere.state());
            }
            if (anotherAttempt) {
                locks.advance(BETWEEN_ATTEMPTS);
            }
            second.carryOut(this);
            assertExclusion();
            locks.heal(mine);
            for (CompletableFuture<Boolean> each : downgrades) {
                each.get(SOON_SECONDS, TimeUnit.SECONDS);
            }
            while (!done.stream().allMatch(CompletableFuture::isDone) || isHeld()) {
                if (!isHeld()) {
                    locks.advance(SESSION); // a list that was lost is asked for behind heartbeats
                    assertTrue(isHeld(), () -> "no request is served, of " + locks.nodesUnder("/"));
                }
                releaseOne();
                locks.advance(Duration.ZERO);
                assertExclusion();
            }
            assertEquals(LeaseState.HELD, elsewhere.state());
            elsewhere.close();
            assertEquals(
                    List.of(),
                    locks.nodesUnder("/").stream()
                            .filter(ServerNode::isEphemeral)
                            .toList());
            assertEquals(List.of(), locks.watches());
        }

        private boolean isHeld() {
            synchronized (holding) {
                return !holding.isEmpty();
            }
        }

        private void releaseOne() {
            Lease next;
            synchronized (holding) {
                next = holding.get(0).lease();
            }
            release(next);
        }

        private void assertExclusion() {
            synchronized (holding) {
                List<String> excluded = new ArrayList<>();
                for (Held each : holding) {
                    if (each.lease().isValid()) {
                        excluded.addAll(each.excludes());
                    }
                }
                assertEquals(excluded.stream().distinct().toList(), excluded, () -> "two hold: " + holding);
                assertEquals(
                        List.of(),
                        holding.stream()
                                .filter(each -> each.lease().state() == LeaseState.LOST)
                                .toList());
                assertFalse(lost.get(), "a release found its node gone");
            }
        }

        private static Lease soon(CompletableFuture<Lease> asked) throws Exception {
            return asked.get(SOON_SECONDS, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            locks.close();
        }
    }
}
