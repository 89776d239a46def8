// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.request.ZkLease;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One client of a scenario with a server of its own, in a world where what all others do is an entry of the leader's
 * log. See {@link Histories}.
 */
final class Alone {
    private final World world;
    private final Client client;
    private final Server server;
    private final Leader leader;
    private final Set<String> paths;
    private final Inside inside;
    /** What workers have begun. */
    private int begun;

    private final Options options;

    /** The transactions that were there when it began. */
    private final long first;
    /** The transactions that are entries of the history. */
    private long[] entries = new long[16];

    private int count;
    /** How much of the history it is in. */
    private int length;

    private @Nullable ZkLease lastLease;
    /** What the last step granted, if it is one lease with one node. */
    private Passage.@Nullable Grant news;
    /** Whether the last step granted anything. */
    private boolean granted;
    /** Whether it took what is for the leader. */
    private boolean wrote;
    /** Whether there was no more to apply, and nothing had come of it. */
    private boolean appliedAll;

    private final Set<Reduction> reductions;

    Alone(Scenario scenario, int index, Set<String> paths, Inside inside, Reached reached, Set<Reduction> reductions) {
        this.inside = inside;
        this.reductions = reductions;
        this.world = new World(alone(scenario, index), reached, null, index);
        this.client = world.clients().get(0);
        this.server = world.servers().get(0);
        this.leader = world.leader();
        this.paths = paths;
        this.first = leader.tree().zxid();
        this.options = new Options(client, server, this::isGone, reductions);
    }

    private static Scenario alone(Scenario scenario, int index) {
        List<Scenario.Plan> plans = scenario.plans().stream()
                .filter(plan -> plan.client() == index)
                .map(plan -> new Scenario.Plan(0, plan.tasks()))
                .toList();
        return new Scenario(1, 1, plans, scenario.ends(), scenario.faults(), 0, scenario.start());
    }

    /** The paths that a client uses. */
    static Set<String> paths(Scenario scenario, int index) {
        Set<String> paths = new HashSet<>();
        for (Scenario.Plan plan : scenario.plans()) {
            if (plan.client() == index) {
                plan.tasks().forEach(task -> task.members().forEach(member -> paths.add(member.path())));
            }
        }
        return paths;
    }

    // ---- what happens

    /** Somebody else does something; what it does at other paths is not to be seen. */
    void happens(Event event) {
        length++;
        List<Tree.Effect> seen = event.at(paths);
        if (!seen.isEmpty()) {
            leader.happens(seen);
            enter(leader.tree().zxid());
            applyWhatChangesNothing();
        }
    }

    /** Makes a step of its own, and says what became of it. */
    Passage pass(int step) {
        int appliedBefore = applied();
        int faultsBefore = world.faultsLeft();
        List<List<Tree.Effect>> changes = take(step);
        return new Passage(
                new State(this),
                reach(step, changes),
                applied() - appliedBefore,
                faultsBefore - world.faultsLeft(),
                changes,
                news);
    }

    private Passage.Reach reach(int step, List<List<Tree.Effect>> changes) {
        if (Move.move(step) == Move.FIRE && !changes.isEmpty()) {
            throw new IllegalStateException("no timer asks the leader by itself, see Options.steps");
        }
        boolean asksTheLeader =
                switch (Move.move(step)) {
                    case TAKE_MESSAGE, FIRE, BEGIN, RELEASE, CONNECT, BREAK, LOSE_ANSWERS -> false;
                    case TAKE_REQUEST -> wrote;
                    case APPLY -> appliedAll;
                    default -> true;
                };
        return asksTheLeader || granted || !changes.isEmpty() ? Passage.Reach.ALL : Passage.Reach.APPLIED;
    }

    /** Makes a step of its own; returns what it changed at the leader, one entry for each transaction. */
    List<List<Tree.Effect>> take(int step) {
        int before = leader.log().size();
        begun += Move.move(step) == Move.BEGIN ? 1 : 0;
        int told = client.port().messages();
        wrote = client.port().nextIsWrite();
        take(world, step);
        while (Options.goesOnApplying(client, server, step, told, reductions)) {
            take(world, step);
        }
        appliedAll = !server.lags() && client.port().messages() == told;
        List<List<Tree.Effect>> changes = new ArrayList<>(0);
        for (Tree.Txn txn : leader.log().subList(before, leader.log().size())) {
            if (!txn.changes().isEmpty()) {
                length++;
                enter(txn.zxid());
                changes.add(txn.changes());
            }
        }
        applyWhatChangesNothing();
        int next = Options.atOnce(client, 0, reductions);
        while (next >= 0) {
            take(world, next);
            next = Options.atOnce(client, 0, reductions);
        }
        news = news();
        return changes;
    }

    private static void take(World world, int step) {
        if (!world.take(step)) {
            throw new IllegalStateException("not possible: " + Move.move(step));
        }
    }

    private void enter(long zxid) {
        if (count == entries.length) {
            entries = Arrays.copyOf(entries, count * 2);
        }
        entries[count++] = zxid;
    }

    /**
     * A transaction that changes nothing is applied at once when its turn comes. That it is applied later would only
     * make its answer, and those behind it, come later; what they say is the same, since nothing else is applied in
     * between.
     */
    private void applyWhatChangesNothing() {
        while (server.lags()) {
            Tree.Txn next = leader.log().get((int) server.tree().zxid());
            if (!next.changes().isEmpty() || next.ended() != 0) {
                return;
            }
            take(world, Move.APPLY.of(0));
        }
    }

    /** What the last step has granted. */
    private Passage.@Nullable Grant news() {
        granted = false;
        for (Worker worker : client.workers()) {
            ZkLease lease = worker.lease();
            if (lease != null && !lease.equals(lastLease)) {
                lastLease = lease;
                granted = true;
                List<LockTarget> members = worker.task().members();
                if (members.size() == 1 && world.oracle().stands(worker, lease)) {
                    return new Passage.Grant(members.get(0), lease.nodePaths().get(0));
                }
            }
        }
        return null;
    }

    // ---- what it is in

    int length() {
        return length;
    }

    Options options() {
        return options;
    }

    /** A zxid by the number of entries up to it: how many transactions changed nothing is nobody's business. */
    private long place(long zxid) {
        if (zxid <= first) {
            return zxid;
        }
        int entriesUpTo = count;
        while (entriesUpTo > 0 && entries[entriesUpTo - 1] > zxid) {
            entriesUpTo--;
        }
        return first + entriesUpTo;
    }

    /** How many entries of the log its server has applied. */
    private int applied() {
        return (int) Math.max(0, place(server.tree().zxid()) - first);
    }

    /**
     * Of what it has come to, and what is on its way. What is to be applied yet is the history's business, but for ends
     * of sessions that had no node, and for whose own nodes will be.
     */
    Fingerprint fingerprint() {
        Ranks ranks = new Ranks(this::place, first, place(server.tree().zxid()));
        Fingerprint print = new Fingerprint(ranks);
        SimulatedPort port = client.port();
        List<Object> roots = new ArrayList<>(8);
        roots.add(begun);
        roots.add(client.nextId());
        roots.add(client.engine());
        for (Worker worker : client.workers()) {
            roots.add(worker.waits());
            roots.add(worker.lease());
        }
        roots.addAll(port.asked());
        roots.add(client.time().pending());
        inside.addTo(print, roots);
        print.add(port.isUp() ? 1 : 0);
        print.add(leader.sessions().opened());
        print.add(leader.hasSession(port.session()) ? 1 : 0);
        for (int i = (int) server.tree().zxid(); i < leader.log().size(); i++) {
            Tree.Txn txn = leader.log().get(i);
            if (txn.changes().isEmpty() && txn.ended() != 0) {
                print.addZxid(txn.zxid());
            }
            for (Tree.Effect change : txn.changes()) {
                if (change instanceof Tree.Effect.Created created && !Event.isElsewhere(created.owner())) {
                    print.add(created.owner());
                }
            }
        }
        print.add(options.ends() ? -1 : -2);
        port.addTo(print, Fingerprint.Zxids.COUNT);
        server.tree().addInOrderTo(print);
        ranks.addTo(print);
        return print;
    }

    Hold hold() {
        return Hold.of(client.workers(), leader);
    }

    Set<SimulatedPort.Watch> watches() {
        return client.port().watches();
    }

    /** What each worker that waits waits for. */
    List<List<Wish>> waiting() {
        List<List<Wish>> waiting = new ArrayList<>(0);
        for (Worker worker : client.workers()) {
            if (worker.waits()) {
                waiting.add(worker.wishes());
            }
        }
        return waiting.isEmpty() ? List.of() : waiting;
    }

    private boolean isDone() {
        for (Worker worker : client.workers()) {
            if (!worker.isDone()) {
                return false;
            }
        }
        return true;
    }

    boolean isGone() {
        SimulatedPort port = client.port();
        return isDone()
                && port.isQuiet()
                && port.watches().isEmpty()
                && leader.tree().ephemeralsOf(port.session()).isEmpty();
    }

    /** Whether its session can be ended, and by a fault that has been paid for. */
    boolean isLosing() {
        return client.port().isLosing();
    }

    boolean sessionLives() {
        return leader.hasSession(client.port().session());
    }
}
