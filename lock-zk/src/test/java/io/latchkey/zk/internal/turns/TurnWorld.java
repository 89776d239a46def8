// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.turns;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A lock with its queue at the server, the callers of one client that takes turns, and requests of another client. Each
 * event is a step of its own, so that a test may play them in any order. The laws are checked after each.
 */
final class TurnWorld {
    enum Kind {
        READER,
        WRITER,
        PERMIT
    }

    private static final int MOST = 2;

    private final int room;
    private final boolean permits;
    private final List<Caller> callers = new ArrayList<>();
    /** In the order of their creation. */
    private final List<Entry> queue = new ArrayList<>();

    private final List<Entry> others = new ArrayList<>();
    private final List<Entry> unanswered = new ArrayList<>();
    private final Map<Entry, Runnable> deferred = new LinkedHashMap<>();
    private final TurnQueue<Lease> turns;
    private long now;
    private boolean wakes;
    private int left;
    private int grants;

    /** @param calls how many calls the callers make together */
    TurnWorld(int room, int calls, List<Kind> callers, List<Kind> others) {
        this.left = calls;
        this.room = room;
        this.permits = callers.contains(Kind.PERMIT);
        this.turns = new TurnQueue<>(new Port(), permits, MOST, Duration.ofHours(1));
        for (Kind kind : callers) {
            this.callers.add(new Caller(kind, (char) ('a' + this.callers.size())));
        }
        others.forEach(kind -> this.others.add(new Entry(kind, null)));
    }

    // ---- what may happen

    /** Returns the events that are possible now, by their names. */
    Map<String, Runnable> events() {
        Map<String, Runnable> all = new TreeMap<>();
        for (Caller caller : callers) {
            if (caller.waits) {
                all.put("give up " + caller, caller::giveUp);
            } else if (caller.lease != null) {
                all.put("release " + caller, caller::release);
                if (caller.kind == Kind.WRITER && caller.lease.node.exclusive) {
                    all.put("downgrade " + caller, caller::downgrade);
                }
            } else if (left > 0) {
                all.put("call " + caller, caller::call);
            }
        }
        for (Entry entry : unanswered) {
            if (holds(entry)) {
                all.put("grant " + entry, () -> grant(entry));
                all.put("lose " + entry, () -> lose(entry));
            }
        }
        for (Entry entry : queue) {
            if (entry.asked == null) {
                if (holds(entry)) {
                    all.put("leave " + entry, () -> queue.remove(entry));
                }
            } else if (!unanswered.contains(entry)) {
                all.put("evict " + entry, () -> delete(entry));
                if (entry.mayPassOn) {
                    all.put("ask to release " + entry, () -> {
                        entry.mayPassOn = false;
                        entry.successor.changed();
                    });
                }
            }
        }
        deferred.forEach((entry, task) -> all.put("end " + entry, () -> {
            deferred.remove(entry);
            task.run();
        }));
        if (!others.isEmpty()) {
            all.put("other", () -> {
                Entry next = others.remove(0);
                next.since = grants;
                queue.add(next);
            });
        }
        if (wakes) {
            all.put("time", this::timePasses);
        }
        return all;
    }

    void timePasses() {
        now += TurnQueue.PATIENCE.toNanos();
        wakes = false;
        turns.look();
    }

    /** Returns whether the server has granted it. */
    private boolean holds(Entry entry) {
        List<Entry> before = queue.subList(0, queue.indexOf(entry));
        return switch (entry.kind) {
            case PERMIT -> before.size() < room;
            case WRITER -> before.isEmpty();
            case READER -> before.stream().noneMatch(each -> each.kind == Kind.WRITER);
        };
    }

    private void grant(Entry entry) {
        unanswered.remove(entry);
        Lease first = new Lease(entry);
        entry.leases.add(first);
        Optional<TurnQueue<Lease>.SharedNode> node = turns.granted(entry.asked, entry, first);
        if (node.isPresent()) {
            entry.successor = node.get();
            node.get().begin(first);
        }
    }

    /** The node is gone before the turns hear of its grant. */
    private void lose(Entry entry) {
        unanswered.remove(entry);
        queue.remove(entry);
        Lease lost = new Lease(entry);
        lost.valid = false;
        assertTrue(turns.granted(entry.asked, entry, lost).isEmpty(), "a lost lease is passed on");
    }

    /** The node is gone, and all its leases are lost. */
    private void delete(Entry entry) {
        queue.remove(entry);
        deferred.remove(entry);
        entry.leases.forEach(lease -> {
            lease.valid = false;
            callers.stream().filter(each -> each.lease == lease).forEach(each -> each.lease = null);
        });
        entry.leases.clear();
        entry.successor.ended();
    }

    // ---- laws

    /** Fails if a law is broken in this state. */
    void check() {
        List<Caller> holders =
                callers.stream().filter(each -> each.lease != null).toList();
        long writers = holders.stream().filter(each -> each.lease.excludes).count();
        if (permits) {
            assertTrue(holders.size() <= room, "more permits than there are");
        } else {
            assertTrue(writers == 0 || holders.size() == 1, "a writer holds beside others");
        }
        for (Caller holder : holders) {
            assertTrue(queue.contains(holder.lease.node) && holds(holder.lease.node), "a lease without a node");
        }
        List<Entry> mine = queue.stream().filter(each -> each.asked != null).toList();
        long waiters = callers.stream().filter(each -> each.waits).count();
        List<Entry> asked = mine.stream().filter(unanswered::contains).toList();
        long needed =
                asked.stream().filter(each -> !each.ahead && !each.withdrawn).count();
        assertTrue(needed <= room, "more requests than can hold");
        long ahead =
                asked.stream().filter(each -> each.ahead && !each.withdrawn).count();
        assertTrue(ahead <= 1, "more than one node is made ahead");
        long kept = mine.stream().filter(each -> !each.withdrawn).count();
        assertTrue(!permits || kept <= 2L * room, "more nodes than can hold and come next");
        boolean alone = permits
                ? mine.size() - asked.size() >= room
                : mine.stream().anyMatch(each -> !unanswered.contains(each) && each.exclusive);
        assertTrue(needed <= waiters || alone, "a request without a waiter is in the way");
        assertTrue(
                waiters == 0 || wakes || !asked.isEmpty() || mine.size() > asked.size() || !deferred.isEmpty(),
                "a waiter waits for nothing");
        assertTrue(
                waiters == 0
                        || !asked.isEmpty()
                        || !deferred.isEmpty()
                        || mine.stream().anyMatch(each -> each.mayPassOn),
                "a waiter waits for nodes that are not passed on");
        for (Entry entry : mine) {
            boolean isHeld = unanswered.contains(entry) || deferred.containsKey(entry) || !entry.leases.isEmpty();
            assertTrue(isHeld, "a node that no one holds is left");
        }
    }

    /** Lets all come to an end: no one calls or gives up any more. Fails if someone starves or something is left. */
    void drain() {
        for (int round = 0; round < 100; round++) {
            Map<String, Runnable> possible = events();
            possible.keySet()
                    .removeIf(name -> name.startsWith("call")
                            || name.startsWith("give up")
                            || name.startsWith("evict")
                            || name.startsWith("lose")
                            || name.startsWith("ask to")
                            || name.equals("other")
                            || name.startsWith("downgrade"));
            if (possible.isEmpty()) {
                break;
            }
            // Time last: nothing else may need it.
            String next = possible.keySet().stream()
                    .filter(name -> !name.equals("time"))
                    .findFirst()
                    .orElse("time");
            possible.get(next).run();
            check();
        }
        assertTrue(callers.stream().noneMatch(each -> each.waits || each.lease != null), "someone starves");
        assertTrue(queue.isEmpty() && unanswered.isEmpty(), () -> "left: " + queue);
    }

    /** If time passes and no one calls, no request is left that no one needs. */
    void checkNothingLingers() {
        for (int looks = 0; looks < 3 && wakes; looks++) {
            timePasses();
        }
        long waiters = callers.stream().filter(each -> each.waits).count();
        long lingering = unanswered.stream()
                .filter(each -> !each.ahead && !each.withdrawn)
                .count();
        assertTrue(lingering <= waiters, "a request lingers");
        assertTrue(!wakes || waiters > 0, "it wakes for nothing");
    }

    /** Returns how many turns of this client have begun since the other client's first request, at most. */
    long turnsThatOthersWait() {
        return queue.stream()
                .filter(each -> each.asked == null && !holds(each))
                .mapToLong(Entry::turnsMeanwhile)
                .max()
                .orElse(0);
    }

    @Override
    public String toString() {
        return left + " " + callers + " " + queue + " " + turns + others.size() + deferred.keySet() + wakes;
    }

    // ---- parts

    /** A request of either client, and then its node. */
    private final class Entry implements TurnQueue.Place<Lease>, TurnQueue.Request {
        private final TurnQueue.NodeRequest asked;
        private final List<Lease> leases = new ArrayList<>();
        private long since;
        private Kind kind;
        private boolean exclusive;
        private boolean ahead;
        private boolean withdrawn;
        private boolean mayPassOn = true;
        private TurnQueue.Successor successor;

        Entry(Kind kind, TurnQueue.NodeRequest asked) {
            this.kind = kind;
            this.asked = asked;
            this.exclusive = kind == Kind.WRITER;
        }

        /** Turns of this client that have begun since the request. */
        private long turnsMeanwhile() {
            return grants - since;
        }

        @Override
        public boolean isExclusive() {
            return exclusive;
        }

        @Override
        public boolean mayPassOn() {
            return mayPassOn;
        }

        @Override
        public Lease newLease() {
            Lease next = new Lease(this);
            leases.add(next);
            return next;
        }

        @Override
        public void takeBack(Lease lease) {
            leases.remove(lease);
        }

        /** What is granted already is still given to the client, which may use it or not. */
        @Override
        public void withdraw() {
            withdrawn = true;
            if (!holds(this)) {
                queue.remove(this);
                unanswered.remove(this);
            }
        }

        @Override
        public String toString() {
            return (asked == null ? (holds(this) ? "o" : "o" + turnsMeanwhile() + '-') : "n")
                    + kind.name().charAt(0)
                    + (exclusive ? "x" : "")
                    + (ahead ? "+" : "")
                    + (withdrawn ? "w" : "")
                    + (mayPassOn ? "" : "a")
                    + (unanswered.contains(this) ? "?" : "")
                    + queue.indexOf(this)
                    + leases.size();
        }
    }

    private final class Lease implements TurnQueue.Turn {
        private final Entry node;
        private boolean valid = true;
        private boolean excludes;

        Lease(Entry node) {
            this.node = node;
        }

        @Override
        public boolean isValid() {
            return valid;
        }

        @Override
        public void abandon() {
            end();
        }

        /** As the state machine of a request does: the last lease to end passes the node on or deletes it. */
        void end() {
            valid = false;
            node.leases.remove(this);
            if (!node.leases.isEmpty() || (node.mayPassOn && node.successor.takesOver())) {
                return;
            }
            if (node.successor.mayBeJoined()) {
                deferred.put(node, () -> {
                    if (node.leases.isEmpty() && !(node.mayPassOn && node.successor.takesOver())) {
                        delete(node);
                    }
                });
            } else {
                delete(node);
            }
        }
    }

    private final class Caller implements TurnQueue.Caller<Lease> {
        private final Kind kind;
        private final char name;
        private boolean waits;
        private Lease lease;

        Caller(Kind kind, char name) {
            this.kind = kind;
            this.name = name;
        }

        void call() {
            left--;
            waits = true;
            turns.call(this);
        }

        void giveUp() {
            waits = false;
            turns.leave(this);
        }

        void release() {
            Lease held = lease;
            lease = null;
            held.end();
        }

        void downgrade() {
            lease.excludes = false;
            lease.node.exclusive = false;
            lease.node.kind = Kind.READER;
            lease.node.mayPassOn = false;
            lease.node.successor.changed();
        }

        @Override
        public boolean reads() {
            return kind == Kind.READER;
        }

        @Override
        public boolean excludes() {
            return kind == Kind.WRITER;
        }

        @Override
        public void queued(int position) {
            assertTrue(position > 0);
        }

        @Override
        public boolean take(Lease next) {
            if (waits) {
                waits = false;
                lease = next;
                lease.excludes = kind == Kind.WRITER;
                grants++;
            }
            return lease == next;
        }

        @Override
        public void refuse(Throwable error) {
            waits = false;
        }

        @Override
        public String toString() {
            return name
                    + (kind == Kind.READER ? "r" : "")
                    + (waits ? "?" : "")
                    + (lease == null ? "" : "@" + queue.indexOf(lease.node));
        }
    }

    private final class Port implements TurnQueue.Port<Lease> {
        @Override
        public TurnQueue.Request ask(TurnQueue.Caller<Lease> of, boolean ahead, TurnQueue.NodeRequest made) {
            Entry entry = new Entry(((Caller) of).kind, made);
            entry.ahead = ahead;
            queue.add(entry);
            unanswered.add(entry);
            return entry;
        }

        @Override
        public void wake(long nanos) {
            assertTrue(!wakes, "one timer is enough");
            wakes = true;
        }

        @Override
        public void isEmpty() {
            assertTrue(callers.stream().noneMatch(each -> each.waits || each.lease != null), "it is not empty");
        }

        @Override
        public long now() {
            return now;
        }

        @Override
        public int room() {
            return room;
        }

        @Override
        public boolean roomIsKnown() {
            return true;
        }
    }
}
