// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.Request;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Mutexes whose waiters in this client stand in one line per path, behind one node in the server's queue, and pass the lease of that node
 * on: no request goes over the wire then. After a number of turns, or a time, the node is given back as any other. Meanwhile
 * the next one has been queueing since the first of these turns, so other clients that came before that go first.
 *
 * <p>Why two never hold: a lease is passed on only by the call that ended it, on the serial executor, while the machine of the node's
 * request says that it holds. To the server, and to other clients, it is one request that holds for longer
 * (docs/protocol.md, "Local turns").
 */
public final class LocalHandOff {
    private final Engine engine;
    private final int most;
    private final Duration longest;
    /** Paths for which somebody waits. Confined to the serial executor, as all below. */
    private final Map<String, Line> lines = new HashMap<>();

    /**
     * @param most how many turns a node is good for
     * @param longest no turn begins later than that after the first
     */
    public LocalHandOff(Engine engine, int most, Duration longest) {
        this.engine = engine;
        this.most = most;
        this.longest = longest;
    }

    /** As {@link Engine#acquire} for a mutex. Who does not wait for others asks the server for itself. */
    public CompletableFuture<Optional<ZkLease>> acquire(LockTarget mutex, WaitPolicy patience) {
        if (patience instanceof WaitPolicy.Never) {
            return engine.acquire(List.of(mutex), patience);
        }
        Turn turn = new Turn(engine, engine.context().signalsOf(List.of(mutex)));
        turn.signals().requested();
        engine.context()
                .serially(() -> lines.computeIfAbsent(mutex.path(), Line::new).join(turn, patience));
        return turn;
    }

    /** What one caller waits for; done early if it gives up. */
    private static final class Turn extends AcquireFuture {
        Turn(Engine engine, RequestEvents signals) {
            super(engine.context(), engine::heldByCallerOf, signals, () -> {});
        }

        void notGranted(@Nullable Throwable error) {
            if (error == null) {
                signals().notGranted(LockObserver.AcquireFailure.TIMED_OUT);
            } else {
                signals()
                        .notGranted(
                                isCancelled()
                                        ? LockObserver.AcquireFailure.CANCELLED
                                        : LockObserver.AcquireFailure.EXCEPTION);
            }
        }

        /** Says whether it still wanted the lease. */
        boolean take(ZkLease lease) {
            lease.goesTo(signals());
            boolean taken = complete(Optional.of(lease));
            if (!taken) {
                signals().released();
            }
            return taken;
        }
    }

    /** Those who wait for one path. While anybody does, a request of theirs waits at the server. */
    private final class Line {
        private final String path;
        /** In their order; each may leave from where it stands. */
        private final Set<Turn> waiting = new LinkedHashSet<>();

        private @Nullable CompletableFuture<Optional<ZkLease>> asked;
        /** Counts what was asked: an answer to what was given up concerns nobody. */
        private int asks;
        /** The one whose lease is out. */
        private @Nullable Node node;

        Line(String path) {
            this.path = path;
        }

        void join(Turn turn, WaitPolicy patience) {
            int before = waiting.size() + (node == null ? 0 : 1);
            if (before > 0) {
                turn.signals().queued(before);
            }
            waiting.add(turn);
            patience.limit(engine.context().sessionTimeout()).ifPresent(limit -> {
                Clock.Timer timer = engine.context().time().after(limit, () -> turn.complete(Optional.empty()));
                var unused = turn.whenComplete((lease, error) -> timer.cancel());
            });
            var unused = turn.whenComplete((lease, error) -> {
                if (error != null || lease.isEmpty()) {
                    turn.notGranted(error);
                    engine.context().serially(() -> leave(turn));
                }
            });
            ask();
        }

        private void leave(Turn turn) {
            if (waiting.remove(turn)) {
                endIfIdle();
            }
        }

        /** While a lease is out, a request that nobody waits for stays where it is, for whoever comes next. */
        private void endIfIdle() {
            if (!waiting.isEmpty() || node != null) {
                return;
            }
            lines.remove(path, this);
            CompletableFuture<Optional<ZkLease>> unwanted = asked;
            asked = null;
            if (unwanted != null) {
                unwanted.cancel(false);
            }
        }

        private void ask() {
            if (asked == null && !waiting.isEmpty()) {
                // With a lease out, those that wait were told their place in this line when they joined it.
                RequestEvents first = waiting.iterator().next().signals();
                List<LockTarget> mutex = first.members();
                RequestEvents signals = first.ofPart(mutex, node == null);
                CompletableFuture<Optional<ZkLease>> asking =
                        engine.start(new Request(engine.context(), engine, mutex, new WaitPolicy.Forever(), signals));
                asked = asking;
                int number = ++asks;
                var unused =
                        asking.whenComplete((lease, error) -> engine.context().serially(() -> {
                            if (asked == null || number != asks) {
                                if (error == null) {
                                    lease.ifPresent(ZkLease::abandon);
                                }
                                return;
                            }
                            asked = null;
                            if (error == null) {
                                granted(lease.orElseThrow());
                            } else {
                                refused(error);
                            }
                        }));
            }
        }

        private void refused(Throwable error) {
            List<Turn> told = List.copyOf(waiting);
            waiting.clear();
            endIfIdle();
            told.forEach(turn -> turn.completeExceptionally(error));
        }

        private void granted(ZkLease first) {
            if (!first.isValid()) {
                // Lost on its way here: it will not end once more, and nobody is to wait for that.
                ask();
                endIfIdle();
                return;
            }
            node = new Node(this);
            first.passOnTo(node);
            if (!hand(first)) {
                first.abandon();
            }
        }

        /** Gives a lease to the first who still wants one; says whether there was one. */
        boolean hand(ZkLease lease) {
            boolean taken = false;
            while (!taken && !waiting.isEmpty()) {
                Iterator<Turn> first = waiting.iterator();
                Turn next = first.next();
                first.remove();
                taken = next.take(lease);
            }
            ask();
            return taken;
        }

        void ended(Node over) {
            if (over.equals(node)) {
                node = null;
                endIfIdle();
            }
        }
    }

    /** A node of the server's queue whose lease is passed on. */
    private final class Node implements ZkLease.Successor {
        private final Line line;
        private final long since = engine.context().time().nanos();
        private int turns = 1;

        Node(Line line) {
            this.line = line;
        }

        /** On the serial executor, in the call that ends a lease. */
        @Override
        public boolean takesOver(ZkLease.Holder request) {
            boolean goesOn = turns < most
                    && engine.context().time().nanos() - since < longest.toNanos()
                    && !request.isAskedToRelease();
            if (goesOn && !line.waiting.isEmpty()) {
                turns++;
                ZkLease next = request.passOn();
                if (next.isValid() && line.hand(next)) {
                    return true;
                }
                next.handOver();
            }
            return false;
        }

        /** Given back or lost. */
        @Override
        public void ended() {
            line.ended(this);
        }
    }
}
