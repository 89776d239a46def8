// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.explore.Laws.Woken;
import io.latchkey.zk.explore.Spreads.Entry;
import io.latchkey.zk.explore.Spreads.Outcome;
import io.latchkey.zk.explore.Spreads.Prospect;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The worlds of a {@link Universe} in groups: all that can have been reached when the server had one history. A history
 * is what changed the server, in order: nodes that came and went, capacities; not what was read, and when.
 *
 * <p><b>Why this leaves nothing out.</b> A step either is within one session: then it depends on that session and the
 * server, and changes that session only ({@link Universe#move}). Or it is an entry in the server's history: it depends
 * on the server and the session that takes it, changes both, and every other session by what its watches see
 * ({@link Universe#told}), whatever the others are in. So what one session may have come to by the end of a history does
 * not depend on what the others have come to, and the worlds at the end of a history are the server with every choice of
 * one situation from the {@link Spreads spread} of each session: no more and no fewer. By induction: at the beginning it
 * is so; steps within sessions keep it so, as a spread has all that they lead to; an entry takes the taker's situations
 * that can take it to those it leads to, and each situation of each other session to what its watches make of it.
 * {@code HistoriesTest} compares the groups with the worlds one by one.
 *
 * <p>A spread is met in many histories and a group in many orders of steps, so that few are left of either.
 *
 * <p><b>Laws.</b> Those that speak of one session are checked for every situation in its spread; those that speak of
 * several, for all choices from theirs. A schedule without an end would come back to a group, or go on within one
 * session: both are looked for.
 *
 * <p>Sessions that want the same are numbered by the order in which their nodes come: every other history is one of
 * these with the names exchanged.
 */
final class Histories implements Space<Entry> {
    private final Scope scope;
    private final Universe universe;
    private final Laws laws;
    private final Values<Outcome> outcomes = new Values<>();
    private final List<Spreads> sessions = new ArrayList<>();
    private final int[] initial;
    private final Set<List<Integer>> holdersChecked = new HashSet<>();

    Histories(Scope scope) {
        this.scope = scope;
        this.universe = new Universe(scope);
        this.laws = new Laws(scope);
        this.initial = universe.initial().clone();
        for (int s = 0; s < initial.length - 1; s++) {
            Spreads spreads = new Spreads(universe, laws, outcomes);
            sessions.add(spreads);
            initial[1 + s] = spreads.of(initial[0], List.of(initial[1 + s]));
        }
    }

    @Override
    public Set<Reached> reached() {
        return universe.reached();
    }

    Scope scope() {
        return scope;
    }

    Universe universe() {
        return universe;
    }

    Server server(int[] group) {
        return universe.server(group[0]);
    }

    /** The sessions that are no longer as in the beginning, one bit each. */
    int arrived(int[] group) {
        int arrived = 0;
        for (int s = 1; s < group.length; s++) {
            arrived |= group[s] == initial[s] ? 0 : 1 << s;
        }
        return arrived;
    }

    /** The group of these situations. */
    int[] group(int server, List<Set<Integer>> situations) {
        int[] group = new int[1 + situations.size()];
        group[0] = server;
        for (int s = 0; s < situations.size(); s++) {
            group[1 + s] = sessions.get(s).of(server, List.copyOf(situations.get(s)));
        }
        return group;
    }

    /** The situations of each session that make up the worlds of a group. */
    List<List<Integer>> spreads(int[] group) {
        List<List<Integer>> all = new ArrayList<>();
        for (int s = 0; s < sessions.size(); s++) {
            all.add(sessions.get(s).get(group[1 + s]));
        }
        return all;
    }

    @Override
    public int[] initial() {
        return initial;
    }

    @Override
    public List<Entry> steps(int[] group) {
        List<Entry> entries = new ArrayList<>();
        for (int s = 0; s < sessions.size(); s++) {
            if (!isTwinOfFormer(group, s)) {
                entries.addAll(prospect(group, s).entries());
            }
        }
        for (Step step : universe.operators(group[0])) {
            Move move = universe.move(group[0], Universe.NOBODY, step);
            entries.add(new Entry(Universe.NOBODY, outcomes.number(Outcome.of(move)), List.of(), List.of(), step));
        }
        return entries;
    }

    private boolean isTwinOfFormer(int[] group, int session) {
        return session > 0
                && group[1 + session] == initial[1 + session]
                && group[session] == initial[session]
                && scope.areTwins(session - 1, session);
    }

    private Prospect prospect(int[] group, int session) {
        return sessions.get(session).prospect(group[0], group[1 + session]);
    }

    @Override
    public int[] after(int[] group, Entry entry) {
        Outcome outcome = outcomes.get(entry.outcome());
        for (int change : outcome.changes()) {
            if (universe.change(change) instanceof Change.Gone gone) {
                checkWoken(group, entry, gone);
            }
        }
        int[] next = new int[group.length];
        next[0] = outcome.server();
        for (int s = 0; s < sessions.size(); s++) {
            next[1 + s] = s == entry.session()
                    ? sessions.get(s).of(outcome.server(), entry.leads())
                    : sessions.get(s).told(group[1 + s], entry.outcome());
        }
        return next;
    }

    // ---- what must be true

    private void checkWoken(int[] group, Entry entry, Change.Gone gone) {
        List<Set<Woken>> all = new ArrayList<>();
        for (int s = 0; s < sessions.size(); s++) {
            Spreads spreads = sessions.get(s);
            List<Integer> situations = s == entry.session() ? entry.takers() : spreads.get(group[1 + s]);
            all.add(spreads.woken(group[0], situations, gone));
        }
        checkWoken(universe.server(group[0]), gone, all, new ArrayList<>());
    }

    private void checkWoken(Server server, Change.Gone gone, List<Set<Woken>> all, List<Woken> chosen) {
        if (chosen.size() == all.size()) {
            laws.checkWoken(server, gone, chosen);
            return;
        }
        for (Woken one : all.get(chosen.size())) {
            chosen.add(one);
            checkWoken(server, gone, all, chosen);
            chosen.remove(chosen.size() - 1);
        }
    }

    @Override
    public void check(int[] group) {
        List<Prospect> prospects = new ArrayList<>();
        for (int s = 0; s < sessions.size(); s++) {
            prospects.add(prospect(group, s));
        }
        checkHolders(group[0], prospects);
        if (prospects.stream().allMatch(Prospect::quiet)) {
            prospects.forEach(session -> session.overlooked().ifPresent(Histories::fail));
        }
        if (prospects.stream().allMatch(Prospect::free) && prospects.stream().anyMatch(Prospect::deprived)) {
            throw Laws.deadlock(universe.server(group[0]));
        }
        if (prospects.stream().allMatch(Prospect::idle)) {
            laws.checkEmpty(universe.server(group[0]));
            prospects.forEach(session -> session.leftover().ifPresent(Histories::fail));
        }
    }

    private static void fail(Violation found) {
        throw found;
    }

    /** All that may hold may hold at once, and any of them. */
    private void checkHolders(int server, List<Prospect> prospects) {
        List<Integer> key = new ArrayList<>();
        key.add(server);
        prospects.forEach(session -> key.add(session.granted()));
        if (!holdersChecked.add(key)) {
            return;
        }
        for (Server.Tree tree : universe.server(server).trees()) {
            List<Server.Node> may = tree.nodes().stream()
                    .filter(node -> (key.get(1 + node.session()) >> node.request() & 1) != 0)
                    .toList();
            for (int some = 0; some < 1 << may.size(); some++) {
                List<Server.Node> holders = new ArrayList<>();
                for (int i = 0; i < may.size(); i++) {
                    if ((some >> i & 1) != 0) {
                        holders.add(may.get(i));
                    }
                }
                Laws.checkHolders(holders);
            }
        }
    }

    @Override
    public String describe(int[] before, Entry entry) {
        return Tale.of(
                entry.step(),
                universe.server(before[0]),
                session -> universe.client(entry.takers().get(0)));
    }
}
