// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.recipe.LockTarget;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What must be true at the end of a history, whatever each client has come to. A choice that breaks a rule is played
 * whole.
 */
final class HistoryRules {
    private final Scenario scenario;
    private final Set<Reduction> reductions;
    private final Reached reached;
    private long choices;
    private long ends;

    HistoryRules(Scenario scenario, Set<Reduction> reductions, Reached reached) {
        this.scenario = scenario;
        this.reductions = reductions;
        this.reached = reached;
    }

    /** How many choices of situations of all clients were checked against each other. */
    long choices() {
        return choices;
    }

    /** How many choices, at which somebody waits when nothing is on its way, were played to the end. */
    long ends() {
        return ends;
    }

    void check(History history) {
        checkHolds(history, new ArrayList<>(), new ArrayList<>(), history.deletions);
        checkTokens(history);
        checkThatNobodySleeps(history);
        checkEnds(history, new ArrayList<>(), history.deletions);
    }

    private Together together(History history, List<Situation> chosen) {
        return new Together(scenario, history, chosen, reductions);
    }

    private void checkHolds(History history, List<Hold> held, List<Situation> chosen, int faults) {
        if (faults > scenario.faults()) {
            return;
        }
        if (chosen.size() == scenario.clients()) {
            choices++;
            if (!Hold.agree(held)) {
                throw new Found(together(history, chosen).failure("nobody holds beside whom it excludes"));
            }
            return;
        }
        history.spreads.get(chosen.size()).holds.forEach((hold, situation) -> {
            boolean stands = hold.stands(history.nodes);
            held.add(stands ? hold : Hold.NOTHING);
            chosen.add(situation);
            checkHolds(history, held, chosen, faults + situation.faults);
            held.remove(held.size() - 1);
            chosen.remove(chosen.size() - 1);
        });
    }

    private void checkTokens(History history) {
        for (int i = 0; i < scenario.clients(); i++) {
            for (var grant : history.spreads.get(i).news.entrySet()) {
                for (int j = 0; j < scenario.clients(); j++) {
                    if (j != i) {
                        checkToken(history, i, grant.getKey(), grant.getValue(), j);
                    }
                }
            }
        }
    }

    private void checkToken(History history, int client, Granted now, Situation situation, int other) {
        history.spreads.get(other).granted.forEach((granted, its) -> {
            choices++;
            int faults = history.faults()
                    - history.spreads.get(client).least().faults
                    - history.spreads.get(other).least().faults
                    + situation.faults
                    + its.faults;
            if (faults <= scenario.faults() && granted.stream().anyMatch(now::isBehind)) {
                List<Situation> chosen = history.least();
                chosen.set(client, situation);
                chosen.set(other, its);
                throw new Found(together(history, chosen).failure("tokens grow"));
            }
        });
    }

    /**
     * Where nothing is on its way nobody waits who may hold. Who waits for the same waits for the same nodes, those of
     * its that are there; and of those who rest one is as good as another, since all are connected.
     */
    private void checkThatNobodySleeps(History history) {
        Law law = new Law(treeAt(history));
        for (int i = 0; i < scenario.clients(); i++) {
            Map<List<List<Wish>>, Situation> waiting = new LinkedHashMap<>();
            for (Situation situation : history.spreads.get(i).resting) {
                if (!situation.state.waiting.isEmpty()) {
                    waiting.merge(situation.state.waiting, situation, (a, b) -> a.faults <= b.faults ? a : b);
                }
            }
            for (Situation situation : waiting.values()) {
                for (List<Wish> wishes : situation.state.waiting) {
                    if (mayHold(law, history, i, wishes)) {
                        checkThatItDoesNotSleep(history, i, situation);
                    }
                }
            }
        }
    }

    /**
     * Whether the leader's tree lets the client hold all of it; or its node is gone, of which a waiter for a mutex must
     * know.
     */
    private static boolean mayHold(Law law, History history, int client, List<Wish> wishes) {
        for (Wish wish : wishes) {
            List<String> own = history.nodesOf(client, wish.path());
            if (own.isEmpty()) {
                return wishes.size() == 1 && wish.sort() == Ticket.Sort.WRITE;
            }
            if (own.size() > 1 || !law.mayHold(own.get(0))) {
                return false;
            }
        }
        return true;
    }

    private void checkThatItDoesNotSleep(History history, int client, Situation waiting) {
        List<Situation> chosen = new ArrayList<>();
        int faults = history.deletions;
        for (int j = 0; j < scenario.clients(); j++) {
            Optional<Situation> other = j == client
                    ? Optional.of(waiting)
                    : history.spreads.get(j).resting.stream()
                            .min(Comparator.comparingInt(situation -> situation.faults));
            other.ifPresent(chosen::add);
            faults += other.map(situation -> situation.faults).orElse(0);
        }
        if (chosen.size() == scenario.clients() && faults <= scenario.faults()) {
            choices++;
            together(history, chosen).calm().ifPresent(rule -> {
                throw new Found(together(history, chosen).failure(rule));
            });
        }
    }

    /** What the leader's tree has come to. */
    private Tree treeAt(History history) {
        Leader leader = new Leader(new SimulatedTime(), scenario.ends().expiry());
        Map<String, LockTarget> members = new TreeMap<>();
        for (Scenario.Plan plan : scenario.plans()) {
            for (Task task : plan.tasks()) {
                task.members().forEach(member -> members.put(member.path(), member));
            }
        }
        members.forEach(
                (path, member) -> leader.make(path, member.recipe().purpose().bytes()));
        history.events.forEach(event -> leader.happens(event.changes()));
        return leader.tree();
    }

    /** Where no client has a step left that is no fault, everything is healed and all must come to an end. */
    private void checkEnds(History history, List<Situation> chosen, int faults) {
        if (faults > scenario.faults()) {
            return;
        }
        int client = chosen.size();
        if (client == scenario.clients()) {
            boolean allGone = history.nodes.isEmpty() && chosen.stream().allMatch(situation -> situation.state.gone);
            if (!allGone) {
                ends++;
                Together together = together(history, chosen);
                together.finish(reached).ifPresent(rule -> {
                    throw new Found(together.failure(rule));
                });
            }
            return;
        }
        // Who is gone is of no concern to others: one is as good as another.
        Situation gone = null;
        for (Situation end : history.spreads.get(client).ends) {
            if (!end.state.gone) {
                checkEnd(history, chosen, end, faults);
            } else if (gone == null || gone.faults > end.faults) {
                gone = end;
            }
        }
        if (gone != null) {
            checkEnd(history, chosen, gone, faults);
        }
    }

    private void checkEnd(History history, List<Situation> chosen, Situation end, int faults) {
        chosen.add(end);
        checkEnds(history, chosen, faults + end.faults);
        chosen.remove(chosen.size() - 1);
    }
}
