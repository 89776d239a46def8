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
 * The local turns of mutexes: the waiters of this client for one path share one node in the server's queue and pass its
 * lease on, without a request to the server. After a number of turns, or a time, the node is released. The client's
 * next request has been in the queue since the first of these turns, so other clients ahead of that request hold first.
 *
 * <p>Two callers never hold at the same time. A lease is passed on only by the call that ended it, on the serial
 * executor, while the state machine of the node's request holds. For the server and for other clients it is one request
 * that holds for longer (docs/protocol.md, "Local turns").
 */
public final class LocalHandOff {
    private final Engine engine;
    private final int most;
    private final Duration longest;
    /** The paths with waiters. Confined to the serial executor, like all below. */
    private final Map<String, LocalQueue> queues = new HashMap<>();

    /**
     * @param most the maximum number of turns for a node
     * @param longest the longest time from the first turn to the beginning of the last
     */
    public LocalHandOff(Engine engine, int most, Duration longest) {
        this.engine = engine;
        this.most = most;
        this.longest = longest;
    }

    /** Acquires a mutex as {@link Engine#acquire} does. A try that does not wait has a request of its own. */
    public CompletableFuture<Optional<ZkLease>> acquire(LockTarget mutex, WaitPolicy waitPolicy) {
        if (waitPolicy instanceof WaitPolicy.Never) {
            return engine.acquire(List.of(mutex), waitPolicy);
        }
        LocalWaiter waiter = new LocalWaiter(engine, engine.context().signalsOf(List.of(mutex)));
        waiter.signals().requested();
        engine.context().execute(() -> queues.computeIfAbsent(mutex.path(), LocalQueue::new)
                .join(waiter, waitPolicy));
        return waiter;
    }

    /** The lease that one caller waits for; complete early if the caller gives up. */
    private static final class LocalWaiter extends AcquireFuture {
        LocalWaiter(Engine engine, RequestEvents signals) {
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

        /** Passes the lease to the caller, and returns whether the caller still waited. */
        boolean take(ZkLease lease) {
            lease.goesTo(signals());
            boolean taken = complete(Optional.of(lease));
            if (!taken) {
                signals().released();
            }
            return taken;
        }
    }

    /** The waiters for one path. While there are any, a request of theirs waits at the server. */
    private final class LocalQueue {
        private final String path;
        /** In order; each may leave at any time. */
        private final Set<LocalWaiter> waiting = new LinkedHashSet<>();

        private @Nullable CompletableFuture<Optional<ZkLease>> asked;
        /** The number of requests so far, by which the response to an abandoned one is recognised. */
        private int asks;
        /** The node whose lease has an owner now. */
        private @Nullable Node node;

        LocalQueue(String path) {
            this.path = path;
        }

        void join(LocalWaiter waiter, WaitPolicy waitPolicy) {
            int before = waiting.size() + (node == null ? 0 : 1);
            if (before > 0) {
                waiter.signals().queued(before);
            }
            waiting.add(waiter);
            waitPolicy.limit(engine.context().sessionTimeout()).ifPresent(limit -> {
                Clock.Timer timer = engine.context().time().after(limit, () -> waiter.complete(Optional.empty()));
                var unused = waiter.whenComplete((lease, error) -> timer.cancel());
            });
            var unused = waiter.whenComplete((lease, error) -> {
                if (error != null || lease.isEmpty()) {
                    waiter.notGranted(error);
                    engine.context().execute(() -> leave(waiter));
                }
            });
            ask();
        }

        private void leave(LocalWaiter waiter) {
            if (waiting.remove(waiter)) {
                endIfIdle();
            }
        }

        /**
         * Removes this queue if it has no waiter. While a lease has an owner, a request without a waiter stays for the
         * next waiter.
         */
        private void endIfIdle() {
            if (!waiting.isEmpty() || node != null) {
                return;
            }
            queues.remove(path, this);
            CompletableFuture<Optional<ZkLease>> unwanted = asked;
            asked = null;
            if (unwanted != null) {
                unwanted.cancel(false);
            }
        }

        private void ask() {
            if (asked == null && !waiting.isEmpty()) {
                // With a node held, the waiters learned their position when they joined.
                RequestEvents first = waiting.iterator().next().signals();
                List<LockTarget> mutex = first.members();
                RequestEvents signals = first.ofPart(mutex, node == null);
                CompletableFuture<Optional<ZkLease>> asking =
                        engine.start(new Request(engine.context(), engine, mutex, new WaitPolicy.Forever(), signals));
                asked = asking;
                int number = ++asks;
                var unused =
                        asking.whenComplete((lease, error) -> engine.context().execute(() -> {
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
            List<LocalWaiter> failed = List.copyOf(waiting);
            waiting.clear();
            endIfIdle();
            failed.forEach(waiter -> waiter.completeExceptionally(error));
        }

        private void granted(ZkLease first) {
            if (!first.isValid()) {
                // The lease was lost on its way here. It does not end again, so no waiter must wait for its end.
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

        /** Passes the lease to the first caller that still waits, and returns whether there was one. */
        boolean hand(ZkLease lease) {
            boolean taken = false;
            while (!taken && !waiting.isEmpty()) {
                Iterator<LocalWaiter> first = waiting.iterator();
                LocalWaiter next = first.next();
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
        private final LocalQueue queue;
        private final long since = engine.context().time().nanos();
        private int turns = 1;

        Node(LocalQueue queue) {
            this.queue = queue;
        }

        /** Called on the serial executor by the call that ends a lease. */
        @Override
        public boolean takesOver(ZkLease.Holder request) {
            boolean goesOn = turns < most
                    && engine.context().time().nanos() - since < longest.toNanos()
                    && !request.isAskedToRelease();
            if (goesOn && !queue.waiting.isEmpty()) {
                turns++;
                ZkLease next = request.passOn();
                if (next.isValid() && queue.hand(next)) {
                    return true;
                }
                next.handOver();
            }
            return false;
        }

        /** The node was released or lost. */
        @Override
        public void ended() {
            queue.ended(this);
        }
    }
}
