// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.Request;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.turns.TurnQueue;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The local turns: waiters of this client for the same lock share nodes in the server's queue and pass a node's lease
 * on, without a request to the server. Readers hold by one node at the same time. After a number of turns, or a time,
 * the node is released. {@link TurnQueue} decides; this class carries it out.
 *
 * <p>Callers that exclude each other never hold at the same time. A lease is passed on only by the call that ended the
 * last one, on the serial executor, while the state machine of the node's request holds. A reader joins only readers,
 * with no waiter before it. For the server and for other clients it is one request that holds for longer
 * (docs/protocol.md, "Local turns").
 */
public final class LocalHandOff {
    private final Engine engine;
    private final int most;
    private final Duration longest;
    /** The locks with waiters or holders. Confined to the serial executor, like all below. */
    private final Map<Key, LocalQueue> queues = new HashMap<>();
    /** The core that they belong to. */
    private @Nullable ClientCore of;

    /** The requests that may use each other's nodes; readers may use those of writers, but not the other way round. */
    private record Key(LockPath path, PathData purpose, int permits) {}

    /**
     * @param most the maximum number of turns for a node
     * @param longest the longest time from the first turn to the beginning of the last
     */
    public LocalHandOff(Engine engine, int most, Duration longest) {
        this.engine = engine;
        this.most = most;
        this.longest = longest;
    }

    /** Acquires a lock as {@link Engine#acquire} does. A try that does not wait has a request of its own. */
    public AcquireFuture acquire(LockTarget lock, WaitPolicy waitPolicy) {
        ClientCore core = engine.core();
        if (waitPolicy instanceof WaitPolicy.Never) {
            return core.acquire(List.of(lock), waitPolicy);
        }
        LocalWaiter waiter = new LocalWaiter(core.context(), lock, waitPolicy);
        Key key = new Key(lock.path(), lock.recipe().purpose(), lock.recipe().permits());
        core.context().executeWithRoom(() -> queuesOf(core)
                .computeIfAbsent(key, unused -> new LocalQueue(core, key))
                .call(waiter, waitPolicy));
        return waiter;
    }

    /** A core that replaces a failed one begins without waiters. */
    private Map<Key, LocalQueue> queuesOf(ClientCore core) {
        if (!core.equals(of)) {
            of = core;
            queues.clear();
        }
        return queues;
    }

    /** Carries out the decisions about one lock. */
    private final class LocalQueue implements TurnQueue.Port<ZkLease> {
        private final ClientCore core;
        private final Key key;
        private final TurnQueue<ZkLease> turns;

        LocalQueue(ClientCore core, Key key) {
            this.core = core;
            this.key = key;
            this.turns = new TurnQueue<>(this, key.purpose().kind() == Kind.SEMAPHORE, most, longest);
        }

        void call(LocalWaiter waiter, WaitPolicy waitPolicy) {
            var unused = waiter.whenComplete((lease, error) -> {
                if (error != null || lease.isEmpty()) {
                    core.context().execute(() -> turns.leave(waiter));
                }
            });
            turns.call(waiter);
            if (!waiter.isDone()) {
                waitPolicy.limit(core.context().sessionTimeout()).ifPresent(limit -> {
                    Clock.Timer timer = core.context().clock().after(limit, waiter::timeUp);
                    var unused2 = waiter.whenComplete((lease, error) -> timer.cancel());
                });
            }
        }

        @Override
        public TurnQueue.Request ask(TurnQueue.Caller<ZkLease> of, boolean ahead, TurnQueue.NodeRequest made) {
            LocalWaiter waiter = (LocalWaiter) of;
            RequestEvents events = ahead ? waiter.ofNextNode() : waiter.ofNode();
            CompletableFuture<Optional<ZkLease>> outcome =
                    core.start(new Request(core.context(), core, new WaitPolicy.Forever(), events));
            var unused = outcome.whenComplete((lease, error) -> core.context().execute(() -> {
                if (error == null) {
                    granted(made, lease.orElseThrow());
                } else {
                    turns.refused(made, error);
                }
            }));
            return () -> outcome.cancel(false);
        }

        private void granted(TurnQueue.NodeRequest made, ZkLease first) {
            turns.granted(made, first.request(), first).ifPresent(node -> {
                first.request().passOnTo(node);
                node.begin(first);
            });
        }

        @Override
        public void wake(long nanos) {
            Clock.Timer unused = core.context().clock().after(Duration.ofNanos(nanos), () -> core.context()
                    .execute(turns::look));
        }

        @Override
        public void isEmpty() {
            queues.remove(key, this);
        }

        @Override
        public long now() {
            return core.context().clock().nanos();
        }

        @Override
        public int room() {
            if (key.purpose().kind() != Kind.SEMAPHORE) {
                return 1; // the path may have been a semaphore's before
            }
            int capacity = core.context()
                    .knownCapacity(key.path())
                    .orElse(key.purpose().declared());
            return Math.max(1, capacity / key.permits());
        }

        @Override
        public boolean roomIsKnown() {
            return core.context().knownCapacity(key.path()).isPresent();
        }
    }
}
