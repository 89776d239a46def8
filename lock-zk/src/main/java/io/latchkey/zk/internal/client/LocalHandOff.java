// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.Request;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The local turns: waiters of this client for the same lock share nodes in the server's queue and pass a node's lease
 * on, without a request to the server. Readers hold by one node at the same time. After a number of turns, or a time,
 * the node is released. The client's next request is in the queue by then, and other clients ahead of it hold first.
 *
 * <p>Callers that exclude each other never hold at the same time. A lease is passed on only by the call that ended the
 * last one, on the serial executor, while the state machine of the node's request holds. A reader joins only readers,
 * with no waiter before it. For the server and for other clients it is one request that holds for longer
 * (docs/protocol.md, "Local turns").
 *
 * <p>The class is long because the waiters of a lock and its nodes decide together which turn comes next.
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
        LocalWaiter waiter = new LocalWaiter(core.context(), lock);
        waiter.signals().requested();
        Key key = new Key(lock.path(), lock.recipe().purpose(), lock.recipe().permits());
        core.context().execute(() -> queuesOf(core)
                .computeIfAbsent(key, unused -> new LocalQueue(core, key))
                .join(waiter, waitPolicy));
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

    /** The waiters and the nodes of one lock. While there are waiters, requests of theirs wait at the server. */
    private final class LocalQueue {
        private final ClientCore core;
        private final Key key;
        /** In order; each may leave at any time. */
        private final Set<LocalWaiter> waiting = new LinkedHashSet<>();
        /** Those of them that exclude all others. */
        private final Set<LocalWaiter> writers = new LinkedHashSet<>();
        /** The requests at the server for the next of the waiters, in order. */
        private final List<Asked> asked = new ArrayList<>(1);
        /** The nodes whose leases have owners now. */
        private final List<Node> nodes = new ArrayList<>(1);

        LocalQueue(ClientCore core, Key key) {
            this.core = core;
            this.key = key;
        }

        /** Returns the number of nodes by which this client can hold the lock at the same time. */
        private int room() {
            int capacity = core.context()
                    .knownCapacity(key.path())
                    .orElse(key.purpose().declared());
            return Math.max(1, capacity / key.permits());
        }

        void join(LocalWaiter waiter, WaitPolicy waitPolicy) {
            var unused = waiter.whenComplete((lease, error) -> {
                if (error != null || lease.isEmpty()) {
                    waiter.notGranted(error);
                    core.context().execute(() -> leave(waiter));
                }
            });
            if (waiting.isEmpty() && join(waiter)) {
                askAhead(waiter);
                return;
            }
            if (isHeldAlone() || waiting.size() >= room()) {
                waiter.queued(waiting.size() + nodes.size());
            }
            waiting.add(waiter);
            if (waiter.recipe().sharing() == Recipe.Sharing.EXCLUSIVE) {
                writers.add(waiter);
            }
            waitPolicy.limit(core.context().sessionTimeout()).ifPresent(limit -> {
                Clock.Timer timer = core.context().time().after(limit, () -> waiter.complete(Optional.empty()));
                var unused2 = waiter.whenComplete((lease, error) -> timer.cancel());
            });
            ask();
        }

        /** Lets a reader hold beside others, and returns whether it does. */
        private boolean join(LocalWaiter waiter) {
            return waiter.reads() && nodes.stream().anyMatch(node -> node.admits(waiter));
        }

        private void leave(LocalWaiter waiter) {
            remove(waiter);
            joinAll();
            ask();
        }

        /** Lets the readers hold that are first, as far as they may. */
        void joinAll() {
            while (!waiting.isEmpty() && join(first())) {
                remove(first());
            }
        }

        void remove(LocalWaiter waiter) {
            writers.remove(waiter);
            waiting.remove(waiter);
        }

        LocalWaiter first() {
            return waiting.iterator().next();
        }

        /** Returns whether every other request waits until this client releases. */
        private boolean isHeldAlone() {
            return nodes.stream().anyMatch(node -> node.request.isExclusive());
        }

        /**
         * Adjusts the requests at the server to the waiters. A waiting request that no waiter needs is withdrawn, since
         * it would be in the way of other clients. Behind an exclusive node it is in no client's way, and stays for a
         * later waiter. Removes this queue if nothing is left.
         */
        private void ask() {
            if (!isHeldAlone()) {
                while (asked.size() > waiting.size() && !asked.get(asked.size() - 1).ahead) {
                    withdraw(asked.get(asked.size() - 1));
                }
            }
            List.copyOf(asked).stream().filter(one -> !suits(one)).forEach(this::withdraw);
            int wanted = Math.min(waiting.size(), room());
            List<LocalWaiter> next =
                    waiting.stream().limit(wanted).skip(asked.size()).toList();
            for (LocalWaiter waiter : next) {
                LocalWaiter served = needsExclusive() ? writers.iterator().next() : waiter;
                ask(served.recipe(), served.ofNode(), false);
            }
            if (waiting.isEmpty() && asked.isEmpty() && nodes.isEmpty()) {
                queues.remove(key, this);
            }
        }

        /**
         * Returns whether the next node has to be exclusive. Behind a node that serves readers and writers it is for
         * any writer that waits, so that it serves both again: between nodes of two kinds lies a round trip.
         */
        private boolean needsExclusive() {
            return !writers.isEmpty() && (isHeldAlone() || writers.contains(first()));
        }

        /**
         * Returns whether the first waiters need such a node. An exclusive one serves readers as well. But beside
         * shared nodes a reader waits for it longer than for a shared one.
         */
        private boolean suits(Asked one) {
            if (one.recipe.sharing() == Recipe.Sharing.SHARED) {
                return !needsExclusive();
            }
            return needsExclusive() || isHeldAlone() || (nodes.isEmpty() && !writers.isEmpty());
        }

        /** Readers do not wait for the next node if it is there before the turns of the last one are used up. */
        private void askAhead(LocalWaiter joined) {
            if (asked.isEmpty() && isRunningOut()) {
                ask(joined.recipe(), joined.ofNextNode(), true);
            }
        }

        /** Returns whether readers hold, by nodes that will serve few more. */
        private boolean isRunningOut() {
            return !nodes.isEmpty() && nodes.stream().allMatch(Node::isRunningOut);
        }

        private void ask(Recipe recipe, RequestEvents signals, boolean ahead) {
            Asked next = new Asked(
                    recipe,
                    ahead,
                    core.start(
                            new Request(core.context(), core, signals.members(), new WaitPolicy.Forever(), signals)));
            asked.add(next);
            var unused =
                    next.outcome.whenComplete((lease, error) -> core.context().execute(() -> {
                        boolean wanted = asked.remove(next);
                        if (error == null) {
                            // Also if it was withdrawn as it was granted: a waiter may have come since.
                            granted(lease.orElseThrow());
                        } else if (wanted) {
                            refused(error);
                        }
                    }));
        }

        private void withdraw(Asked unwanted) {
            asked.remove(unwanted);
            unwanted.outcome.cancel(false);
        }

        private void refused(Throwable error) {
            List<LocalWaiter> failed = List.copyOf(waiting);
            waiting.clear();
            writers.clear();
            ask();
            failed.forEach(waiter -> waiter.completeExceptionally(error));
        }

        private void granted(ZkLease first) {
            // A lease that was lost on its way here does not end again, so no waiter must wait for its end.
            if (first.isValid()) {
                boolean early = waiting.isEmpty() && isRunningOut();
                Node node = new Node(this, first.request());
                nodes.add(node);
                first.request().passOnTo(node);
                if (early) {
                    node.keep(first);
                } else if (!node.serves(first)) {
                    first.abandon();
                }
            }
            ask();
        }

        void ended(Node over) {
            nodes.remove(over);
            if (nodes.stream().allMatch(Node::isSpare)) {
                nodes.forEach(Node::abandon);
            }
            ask();
        }
    }

    /** A request at the server. No record: the platform would keep what compares records of this class. */
    private static final class Asked {
        private final Recipe recipe;
        /** Whether it was made without a waiter. It is not withdrawn for that: its creation is on its way. */
        private final boolean ahead;

        private final CompletableFuture<Optional<ZkLease>> outcome;

        Asked(Recipe recipe, boolean ahead, CompletableFuture<Optional<ZkLease>> outcome) {
            this.recipe = recipe;
            this.ahead = ahead;
            this.outcome = outcome;
        }
    }

    /** A node of the server's queue whose lease is passed on. */
    private final class Node implements ZkLease.Successor {
        private final LocalQueue queue;
        private final ZkLease.Holder request;
        private final long since;
        private int turns;
        /** Whether the holders are readers, which others may join. */
        private boolean read;
        /** The lease of a node without holders, for the first of the readers that the node before has no turn for. */
        private @Nullable ZkLease spare;

        Node(LocalQueue queue, ZkLease.Holder request) {
            this.queue = queue;
            this.request = request;
            this.since = now();
        }

        private boolean hasTurns() {
            return turns == 0 || (turns < most && now() - since < longest.toNanos());
        }

        private long now() {
            return queue.core.context().time().nanos();
        }

        /** Returns whether there is a turn left for {@code waiter}. */
        private boolean hasTurnFor(LocalWaiter waiter) {
            return hasTurns() && (request.isExclusive() || waiter.recipe().sharing() == Recipe.Sharing.SHARED);
        }

        /**
         * Passes the lease to the first caller that still waits, and lets readers behind it join. Returns whether there
         * was one.
         */
        boolean serves(ZkLease lease) {
            boolean taken = false;
            // A caller that gave up may have had a limit that has passed.
            while (!taken && !queue.waiting.isEmpty() && hasTurnFor(queue.first()) && lease.isValid()) {
                LocalWaiter next = queue.first();
                queue.remove(next);
                taken = next.take(lease);
                read = next.reads();
            }
            if (taken) {
                turns++;
                queue.joinAll();
            }
            return taken;
        }

        /** Keeps the lease of a shared node for a reader, while others hold by the node before. */
        void keep(ZkLease lease) {
            spare = lease;
            read = true;
        }

        boolean isSpare() {
            return spare != null;
        }

        /** Gives up a lease that no reader has taken. */
        void abandon() {
            if (spare != null) {
                ZkLease unused = spare;
                spare = null;
                unused.abandon();
            }
        }

        /** Returns whether it is open to readers alone, and half used up. Behind others a request waits anyway. */
        boolean isRunningOut() {
            return read && !request.isExclusive() && turns > most / 2;
        }

        /** Lets a reader hold beside the present holders, if these are readers and others may hold by the node. */
        boolean admits(LocalWaiter reader) {
            if (!read || !hasTurnFor(reader) || !request.mayPassOn()) {
                return false;
            }
            ZkLease lease = spare == null ? request.newLease() : spare;
            spare = null;
            if (!lease.isValid()) {
                return false;
            }
            turns++;
            if (!reader.take(lease)) {
                lease.abandon();
            }
            return true;
        }

        /** Called on the serial executor by the call that ends the last lease. */
        @Override
        public boolean takesOver() {
            ZkLease next = request.newLease();
            boolean taken = serves(next);
            if (taken) {
                queue.ask();
            } else {
                request.takeBack(next);
            }
            return taken;
        }

        @Override
        public boolean mayBeJoined() {
            return read;
        }

        @Override
        public void downgraded() {
            queue.ask();
        }

        /** The node was released or lost. */
        @Override
        public void ended() {
            queue.ended(this);
        }
    }
}
