// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.explore.Spreads.Entry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Visits every state of the server's tree, and of who has come there, once, with all that each session may have come to
 * in any of the {@link Histories} that lead to it.
 *
 * <p>That takes more worlds in than there are: a session as one history leaves it beside another as only a different
 * history leaves that. All worlds that there are remain among them, so what is true of all these is true of those; should
 * something be found that breaks a law, {@link Histories} tell whether it can happen.
 *
 * <p>Every entry makes the tree older: a node came or went, the capacity changed, a word was written. So trees are
 * visited by their age, each when all that lead to it have been.
 */
final class Trees {
    private final Histories histories;
    private final Consumer<int[]> visitor;
    private final TreeMap<Integer, Map<Tree, Arrival>> byAge = new TreeMap<>();
    private Optional<Way> latest = Optional.empty();
    private int trees;
    private long entries;

    /** A tree and the sessions whose nodes have come, one bit each, also those that are gone again. */
    private record Tree(int server, int arrived) {}

    /** What leads to a tree: the situations of the sessions, and the first way that was found. */
    private static final class Arrival {
        final List<Set<Integer>> situations = new ArrayList<>();
        final Optional<Way> way;

        Arrival(Optional<Way> way) {
            this.way = way;
        }
    }

    private record Way(Arrival former, int server, Entry entry) {}

    private Trees(Histories histories, Consumer<int[]> visitor) {
        this.histories = histories;
        this.visitor = visitor;
    }

    /** Checks every tree of the scope. */
    static Explorer.Result explore(Scope scope) {
        Histories histories = new Histories(scope);
        return visit(histories, histories::check);
    }

    /** Shows every tree to the visitor, with the situations that it takes together. */
    static Explorer.Result visit(Histories histories, Consumer<int[]> visitor) {
        return new Trees(histories, visitor).explore();
    }

    private Explorer.Result explore() {
        arrive(histories.initial(), Optional.empty());
        while (!byAge.isEmpty()) {
            for (Map.Entry<Tree, Arrival> tree :
                    byAge.pollFirstEntry().getValue().entrySet()) {
                trees++;
                Optional<Violation> found =
                        Violation.of(() -> visit(tree.getKey().server(), tree.getValue()));
                if (found.isPresent()) {
                    return result(Optional.of(text(found.get())));
                }
            }
        }
        return result(Optional.empty());
    }

    private void visit(int server, Arrival arrival) {
        int[] group = histories.group(server, arrival.situations);
        latest = arrival.way;
        visitor.accept(group);
        for (Entry entry : histories.steps(group)) {
            entries++;
            latest = Optional.of(new Way(arrival, server, entry));
            arrive(histories.after(group, entry), latest);
        }
    }

    private void arrive(int[] group, Optional<Way> way) {
        Map<Tree, Arrival> alike = byAge.computeIfAbsent(histories.server(group).age(), age -> new HashMap<>());
        Tree tree = new Tree(group[0], histories.arrived(group));
        Arrival arrival = alike.computeIfAbsent(tree, first -> new Arrival(way));
        List<List<Integer>> spreads = histories.spreads(group);
        for (int s = 0; s < spreads.size(); s++) {
            if (arrival.situations.size() == s) {
                arrival.situations.add(new TreeSet<>());
            }
            arrival.situations.get(s).addAll(spreads.get(s));
        }
    }

    private Explorer.Result result(Optional<String> fault) {
        return new Explorer.Result(trees, entries, histories.reached(), fault);
    }

    private String text(Violation found) {
        List<String> lines = new ArrayList<>();
        for (Optional<Way> way = latest; way.isPresent(); way = way.get().former().way) {
            lines.add(
                    histories.describe(new int[] {way.get().server()}, way.get().entry()));
        }
        Collections.reverse(lines);
        return Explorer.text(histories.scope(), lines, found);
    }
}
