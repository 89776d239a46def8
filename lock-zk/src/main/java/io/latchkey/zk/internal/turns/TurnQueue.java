// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.turns;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Decides for one lock which caller of this client has the next turn, by which node, and how many requests stand in the
 * server's queue. Events come in, decisions go out; nothing here waits or sends. All methods are called in the steps of
 * one client, one after the other.
 *
 * <table>
 * <caption>The requests at the server</caption>
 * <tr><th>state</th><th>there is one for</th></tr>
 * <tr><td>no node has a turn left, or may be passed on</td><td>each waiter, up to {@linkplain Port#room the nodes that can hold at a time};
 *     for one waiter before that number is known</td></tr>
 * <tr><td>one node holds, and no other can</td><td>the first waiter</td></tr>
 * <tr><td>permits are held, others may be free</td><td>each waiter, unless this client has released permits within
 *     the last 50 ms: then as below</td></tr>
 * <tr><td>all permits are held by this client</td><td>each waiter beyond the next two turns of the nodes; each that has
 *     waited for {@link #PATIENCE}; each node that is half used up: whichever are most</td></tr>
 * <tr><td>a shared node is half used up</td><td>the readers to come, see {@link #call}</td></tr>
 * </table>
 *
 * A request that no waiter needs is withdrawn: at once if it is in the way of other clients, or if its caller gave up,
 * and otherwise after {@link #PATIENCE}.
 *
 * <p><b>Why permits have patience.</b> A caller that releases and asks again is missing for a moment. If that moment
 * withdraws a request or ends a node, and the return makes the next one, each turn costs requests. With patience a node
 * that ended in such a moment is made again only if a caller misses it for longer than a request takes. Then one more
 * caller waits than before, and moments in which none waits become rare.
 *
 * <p>The class is long because the waiters of a lock and its nodes decide together which turn comes next.
 *
 * @param <L> the leases
 */
public final class TurnQueue<L extends TurnQueue.Turn> {
    /** About as long as a request takes. A local turn that comes sooner costs less than a request. */
    public static final Duration PATIENCE = Duration.ofMillis(4);

    /** For how long a release shows that callers come and go: many turns of a busy lock. */
    private static final long CAREFUL = TimeUnit.MILLISECONDS.toNanos(50);

    /** A lease by a node that may serve several callers. */
    public interface Turn {
        boolean isValid();

        /** Ends it, as no caller takes it. */
        void abandon();
    }

    /** A node's request, which holds. */
    public interface Place<L> {
        /** Returns whether it excludes all others. A holder that downgrades no longer does. */
        boolean isExclusive();

        /** Returns whether another caller may hold by it. */
        boolean mayPassOn();

        /** Returns one more lease by the node. */
        L newLease();

        /** Ends a new lease that no caller took. */
        void takeBack(L lease);
    }

    /** A caller that waits. */
    public interface Caller<L> {
        /** Returns whether it may hold beside others like it by the same node. */
        boolean reads();

        /** Returns whether no other may hold beside it. */
        boolean excludes();

        /** Hears that others are ahead of it. */
        void queued(int position);

        /** Passes the lease to it, and returns whether it still waited. */
        boolean take(L lease);

        /** Its request was refused. */
        void refuse(Throwable error);
    }

    /** A request at the server. */
    public interface Request {
        void withdraw();
    }

    /** What takes over a node when its last lease is released. */
    public interface Successor {
        /** Takes the node over if it can, and returns whether it has. If so, nothing is released. */
        boolean takesOver();

        /** Returns whether calls that have begun may still hold by the node, although none of them waits yet. */
        boolean mayBeJoined();

        /** The node no longer excludes all others, or is no longer passed on. */
        void changed();

        /** The request has ended, whatever the cause. */
        void ended();
    }

    /** What the decisions lead to. */
    public interface Port<L> {
        /**
         * Makes a request. Its outcome is an event of this queue: {@link #granted} or {@link #refused}, never before
         * this returns.
         *
         * @param of the caller, whose kind and name it has
         * @param ahead whether it is made for those that come after it
         */
        Request ask(Caller<L> of, boolean ahead, NodeRequest made);

        /** Calls {@link #look} after the delay. */
        void wake(long nanos);

        /** Nothing is left of this queue. */
        void isEmpty();

        /** Returns the time, monotonic, in nanoseconds. */
        long now();

        /** Returns how many nodes of this lock can hold at a time, at least one; of permits as far as it is known. */
        int room();

        /** Returns whether that is known, and not only what this client declares. */
        boolean roomIsKnown();
    }

    /** A request at the server. No record: it is compared by identity. */
    public static final class NodeRequest {
        private final boolean exclusive;
        /** Whether it was made without a waiter. It is not withdrawn for that: its creation is on its way. */
        private final boolean ahead;

        private @Nullable Request request;

        NodeRequest(boolean exclusive, boolean ahead) {
            this.exclusive = exclusive;
            this.ahead = ahead;
        }
    }

    private final Port<L> port;
    private final boolean permits;
    private final int most;
    private final long longest;
    /** In order, with the time at which each came; each may leave at any time. */
    private final Map<Caller<L>, Long> waiting = new LinkedHashMap<>();
    /** Those of them that exclude all others. */
    private final Set<Caller<L>> writers = new LinkedHashSet<>();
    /** The requests at the server for the next of the waiters, in order. */
    private final List<NodeRequest> asked = new ArrayList<>(1);
    /** The nodes whose leases have owners now. */
    private final Set<SharedNode> nodes = new LinkedHashSet<>();
    /** How many of them are half used up. */
    private int runningOut;
    /** Whether there are more requests than waiters, and since when. */
    private boolean needless;

    private long needlessSince;
    /** Whether callers come and go, and when the last one went. */
    private boolean careful;

    private long lastRelease;
    private boolean wakes;

    /**
     * @param permits whether callers ask for permits of a semaphore, all for as many
     * @param most the maximum number of turns for a node
     * @param longest the longest time from the first turn to the beginning of the last
     */
    public TurnQueue(Port<L> port, boolean permits, int most, Duration longest) {
        this.port = port;
        this.permits = permits;
        this.most = most;
        this.longest = longest.toNanos();
    }

    // ---- events

    /** A caller comes. If a reader joins and turns run out, the request for the readers after it is made. */
    public void call(Caller<L> caller) {
        if (waiting.isEmpty() && join(caller)) {
            askAhead(caller);
            return;
        }
        if (isHeldAlone() || waiting.size() >= port.room()) {
            caller.queued(waiting.size() + nodes.size());
        }
        waiting.put(caller, port.now());
        if (caller.excludes()) {
            writers.add(caller);
        }
        ask();
    }

    /** A caller has given up, or its time is over. */
    public void leave(Caller<L> caller) {
        boolean waited = waiting.containsKey(caller);
        remove(caller);
        joinAll();
        if (waited) {
            withdrawNeedless();
        }
        ask();
    }

    /** Time has passed. */
    public void look() {
        wakes = false;
        ask();
    }

    /**
     * A request was granted, perhaps as it was withdrawn: a waiter may have come since.
     *
     * @param first its lease
     * @return the node, to be called when its lease ends; empty if that was lost already, so that it does not end again
     */
    public Optional<SharedNode> granted(NodeRequest request, Place<L> place, L first) {
        asked.remove(request);
        if (!first.isValid()) {
            ask();
            return Optional.empty();
        }
        return Optional.of(new SharedNode(place));
    }

    /** A request has failed. If it was not withdrawn, all that wait fail with it. */
    public void refused(NodeRequest request, Throwable error) {
        if (asked.remove(request)) {
            List<Caller<L>> failed = List.copyOf(waiting.keySet());
            waiting.clear();
            writers.clear();
            ask();
            failed.forEach(waiter -> waiter.refuse(error));
        }
    }

    // ---- callers

    /** Lets a reader hold beside others, and returns whether it does. */
    private boolean join(Caller<L> caller) {
        if (!caller.reads()) {
            return false;
        }
        for (SharedNode node : nodes) {
            if (node.admits(caller)) {
                return true;
            }
        }
        return false;
    }

    /** Lets the readers hold that are first, as far as they may. */
    private void joinAll() {
        while (!waiting.isEmpty() && join(first())) {
            remove(first());
        }
    }

    private void remove(Caller<L> caller) {
        writers.remove(caller);
        waiting.remove(caller);
    }

    private Caller<L> first() {
        return waiting.keySet().iterator().next();
    }

    // ---- requests at the server

    /** Returns whether every other request waits until this client releases. */
    private boolean isHeldAlone() {
        return permits ? nodes.size() >= port.room() : nodes.stream().anyMatch(node -> node.place.isExclusive());
    }

    /** Adjusts the requests at the server to the waiters. */
    private void ask() {
        boolean wasNeedless = needless;
        needless = asked.size() > waiting.size();
        if (needless && !wasNeedless) {
            needlessSince = port.now();
        }
        if (needless && (!isHeldAlone() || port.now() - needlessSince >= PATIENCE.toNanos())) {
            withdrawNeedless();
        }
        List.copyOf(asked).stream().filter(one -> !suits(one)).forEach(this::withdraw);
        int wanted = wanted();
        while (asked.size() < wanted) {
            ask(needsExclusive() ? writers.iterator().next() : waiterAt(asked.size()), false);
        }
        wakeIfDue();
        if (waiting.isEmpty() && asked.isEmpty() && nodes.isEmpty()) {
            port.isEmpty();
        }
    }

    private Caller<L> waiterAt(int index) {
        return index == 0
                ? first()
                : waiting.keySet().stream().skip(index).findFirst().orElseThrow();
    }

    /** Returns how many requests the waiters need. */
    private int wanted() {
        int useful = Math.min(waiting.size(), port.room());
        if (useful <= asked.size() || !permits || port.room() == 1) {
            return useful;
        }
        if (nodes.stream().noneMatch(SharedNode::servesMore)) {
            return nodes.isEmpty() && !port.roomIsKnown() ? 1 : useful;
        }
        boolean heldAlone = isHeldAlone();
        if (!heldAlone && !isCareful()) {
            return useful;
        }
        int beyond = Math.max(waiting.size() - 2 * nodes.size(), heldAlone ? runningOut : 0);
        return beyond >= useful ? useful : Math.max(beyond, impatient(useful));
    }

    /** Returns whether callers come and go: then each moment has another number of waiters. */
    private boolean isCareful() {
        careful &= port.now() - lastRelease < CAREFUL;
        return careful;
    }

    /** Returns how many waiters have lost their patience, {@code limit} at most: the first ones. */
    private int impatient(int limit) {
        long before = port.now() - PATIENCE.toNanos();
        int found = 0;
        for (long since : waiting.values()) {
            if (found == limit || since - before > 0) {
                break;
            }
            found++;
        }
        return found;
    }

    /** Sets the timer for waiters without a request and for requests without a waiter. */
    private void wakeIfDue() {
        boolean lacks = permits && asked.size() < Math.min(waiting.size(), port.room());
        boolean hasMore = waiting.size() < asked.size() && isHeldAlone();
        if (!wakes && (lacks || hasMore)) {
            wakes = true;
            port.wake(PATIENCE.toNanos());
        }
    }

    /** Withdraws what no waiter needs. */
    private void withdrawNeedless() {
        while (asked.size() > waiting.size() && !asked.get(asked.size() - 1).ahead) {
            withdraw(asked.get(asked.size() - 1));
        }
    }

    /**
     * Returns whether the next node has to be exclusive. Behind a node that serves readers and writers it is for any
     * writer that waits, so that it serves both again: between nodes of two kinds lies a round trip.
     */
    private boolean needsExclusive() {
        return !writers.isEmpty() && (isHeldAlone() || writers.contains(first()));
    }

    /**
     * Returns whether the first waiters need such a node. An exclusive one serves readers as well. But beside shared
     * nodes a reader waits for it longer than for a shared one.
     */
    private boolean suits(NodeRequest one) {
        if (!one.exclusive) {
            return !needsExclusive();
        }
        return needsExclusive() || isHeldAlone() || (nodes.isEmpty() && !writers.isEmpty());
    }

    /** Readers do not wait for the next node if it is there before the turns of the last one are used up. */
    private void askAhead(Caller<L> joined) {
        if (asked.isEmpty() && isRunningOut()) {
            ask(joined, true);
        }
    }

    /** Returns whether readers hold, by nodes that will serve few more. */
    private boolean isRunningOut() {
        return !nodes.isEmpty() && nodes.stream().allMatch(SharedNode::isRunningOut);
    }

    private void ask(Caller<L> of, boolean ahead) {
        NodeRequest next = new NodeRequest(of.excludes(), ahead);
        asked.add(next);
        next.request = port.ask(of, ahead, next);
    }

    private void withdraw(NodeRequest unwanted) {
        asked.remove(unwanted);
        if (unwanted.request != null) {
            unwanted.request.withdraw();
        }
    }

    /** Shows all that the next decisions depend on, with times as they count. */
    @Override
    public String toString() {
        long now = port.now();
        StringJoiner shown = new StringJoiner(" ", "[", "]");
        waiting.forEach((caller, since) -> shown.add(caller + (now - since < PATIENCE.toNanos() ? "" : "!")));
        asked.forEach(one -> shown.add((one.exclusive ? "X" : "S") + (one.ahead ? "+" : "")));
        nodes.forEach(node -> shown.add(node.place + "*" + node.turns + (node.read ? "r" : "")
                + (node.spare == null ? "" : "s") + (now - node.since < longest ? "" : "!")));
        return shown
                + (needless ? now - needlessSince < PATIENCE.toNanos() ? "-" : "--" : "")
                + (wakes ? "~" : "")
                + (isCareful() ? "c" : "");
    }

    /** A node of the server's queue whose lease is passed on. */
    public final class SharedNode implements Successor {
        private final Place<L> place;
        private final long since;
        private int turns;
        /** Whether the holders are readers, which others may join. */
        private boolean read;
        /** The lease of a node without holders, for the first of the readers that the node before has no turn for. */
        private @Nullable L spare;

        private SharedNode(Place<L> place) {
            this.place = place;
            this.since = port.now();
        }

        /** Serves the first caller by a node that has just been granted, or keeps it for readers to come. */
        public void begin(L first) {
            boolean early = waiting.isEmpty() && TurnQueue.this.isRunningOut();
            nodes.add(this);
            if (early) {
                spare = first;
                read = true;
            } else if (!serves(first)) {
                first.abandon();
            }
            ask();
        }

        /** Returns whether its next lease goes to a waiter. A holder that is asked to release, for one, ends the turns. */
        private boolean servesMore() {
            return hasTurns() && place.mayPassOn();
        }

        private boolean hasTurns() {
            return turns == 0 || (turns < most && port.now() - since < longest);
        }

        /** Returns whether there is a turn left for {@code waiter}. */
        private boolean hasTurnFor(Caller<L> waiter) {
            return hasTurns() && (place.isExclusive() || !waiter.excludes());
        }

        private void turnBegins() {
            turns++;
            runningOut += turns == most / 2 + 1 ? 1 : 0;
        }

        /**
         * Passes the lease to the first caller that still waits, and lets readers behind it join. Returns whether there
         * was one.
         */
        private boolean serves(L lease) {
            boolean taken = false;
            // A caller that gave up may have had a limit that has passed.
            while (!taken && !waiting.isEmpty() && hasTurnFor(first()) && lease.isValid()) {
                Caller<L> next = first();
                remove(next);
                taken = next.take(lease);
                read = next.reads();
            }
            if (taken) {
                turnBegins();
                joinAll();
            }
            return taken;
        }

        /** Gives up a lease that no reader has taken. */
        private void abandon() {
            if (spare != null) {
                L unused = spare;
                spare = null;
                unused.abandon();
            }
        }

        /** Returns whether it is open to readers alone, and half used up. Behind others a request waits anyway. */
        private boolean isRunningOut() {
            return read && !place.isExclusive() && turns > most / 2;
        }

        /** Lets a reader hold beside the present holders, if these are readers and others may hold by the node. */
        private boolean admits(Caller<L> reader) {
            if (!read || !hasTurnFor(reader) || !place.mayPassOn()) {
                return false;
            }
            L lease = spare == null ? place.newLease() : spare;
            spare = null;
            if (!lease.isValid()) {
                return false;
            }
            turnBegins();
            if (!reader.take(lease)) {
                lease.abandon();
            }
            return true;
        }

        // ---- events

        @Override
        public boolean takesOver() {
            careful = true;
            lastRelease = port.now();
            L next = place.newLease();
            boolean taken = serves(next);
            if (taken) {
                ask();
            } else {
                place.takeBack(next);
            }
            return taken;
        }

        @Override
        public boolean mayBeJoined() {
            return read;
        }

        @Override
        public void changed() {
            ask();
        }

        @Override
        public void ended() {
            if (nodes.remove(this)) {
                runningOut -= turns > most / 2 ? 1 : 0;
            }
            if (nodes.stream().allMatch(each -> each.spare != null)) {
                List.copyOf(nodes).forEach(SharedNode::abandon);
            }
            ask();
        }
    }
}
