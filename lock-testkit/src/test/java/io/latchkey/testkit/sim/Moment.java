// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;

/** What the leader has carried out, and who holds what beside whom. */
record Moment(String history, List<Hold> holds) {
    static Moment of(History history, List<Hold> holds) {
        StringBuilder name = new StringBuilder();
        history.events.forEach(event -> addTo(name, event.changes()));
        return new Moment(name.toString(), holds);
    }

    static Moment of(World world) {
        StringBuilder name = new StringBuilder();
        for (Tree.Txn txn : world.leader().log()) {
            boolean ofRequests =
                    txn.changes().stream().anyMatch(change -> !Tree.ROOT.equals(Tree.parent(change.path())));
            if (ofRequests) {
                addTo(name, txn.changes());
            }
        }
        Set<String> nodes = Set.copyOf(world.leader().tree().ephemerals());
        List<Hold> holds = world.clients().stream()
                .map(client -> Hold.of(client.workers(), world.leader()))
                .map(hold -> hold.stands(nodes) ? hold : Hold.NOTHING)
                .toList();
        return new Moment(name.toString(), holds);
    }

    private static void addTo(StringBuilder name, List<Tree.Effect> changes) {
        for (Tree.Effect change : changes) {
            name.append(change.getClass().getSimpleName()).append(change.path());
            if (change instanceof Tree.Effect.DataSet set) {
                name.append(set.data().length);
            }
        }
        name.append(';');
    }

    /** Every moment that the scenario comes to. */
    static Set<Moment> all(Scenario scenario, long most, Set<Reduction> reductions) {
        return all(scenario, most, reductions, Moment::of);
    }

    /** The same without how it came there: which nodes are there, and who holds what. */
    static Set<Moment> ends(Scenario scenario, long most, Set<Reduction> reductions) {
        return all(scenario, most, reductions, (history, holds) -> new Moment(history.nodes.toString(), holds));
    }

    private static Set<Moment> all(
            Scenario scenario, long most, Set<Reduction> reductions, BiFunction<History, List<Hold>, Moment> shape) {
        Set<Moment> all = new HashSet<>();
        Histories.Report report = Histories.run(
                scenario,
                most,
                reductions,
                history -> forEachChoice(scenario, history, (holds, of) -> all.add(shape.apply(history, holds))));
        if (!report.complete()) {
            throw new AssertionError(report.toString());
        }
        return all;
    }

    /** Every choice of what the clients may hold at the end of the history, and of situations in which they do. */
    static void forEachChoice(Scenario scenario, History history, BiConsumer<List<Hold>, List<Situation>> consumer) {
        choose(scenario, history, List.of(), history.deletions, consumer);
    }

    private static void choose(
            Scenario scenario,
            History history,
            List<Situation> chosen,
            int faults,
            BiConsumer<List<Hold>, List<Situation>> consumer) {
        if (faults > scenario.faults()) {
            return;
        }
        if (chosen.size() == scenario.clients()) {
            List<Hold> holds = chosen.stream()
                    .map(each -> each.state.hold.stands(history.nodes) ? each.state.hold : Hold.NOTHING)
                    .toList();
            consumer.accept(holds, chosen);
            return;
        }
        for (Situation situation : history.spreads.get(chosen.size()).holds.values()) {
            List<Situation> more = new ArrayList<>(chosen);
            more.add(situation);
            choose(scenario, history, more, faults + situation.faults, consumer);
        }
    }

    /** The same whichever of two clients is called the first. */
    String withoutNames() {
        String asItIs = history + holds;
        String exchanged = exchanged(history + List.of(holds.get(1), holds.get(0)));
        return asItIs.compareTo(exchanged) <= 0 ? asItIs : exchanged;
    }

    /** Ids of nodes begin with the number of the client, counted from 1. */
    private static String exchanged(String text) {
        return text.replace("-00000001", "-first")
                .replace("-00000002", "-00000001")
                .replace("-first", "-00000002");
    }
}
