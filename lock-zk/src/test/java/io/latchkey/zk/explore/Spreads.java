// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.explore.Laws.Woken;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The spreads of one session, each with a number. A spread is all that the session may have come to after one history of
 * the server: whatever it can do by itself, it may or may not have done.
 */
final class Spreads {
    private final Universe universe;
    private final Laws laws;
    private final Values<Outcome> outcomes;
    private final Values<List<Integer>> spreads = new Values<>();
    private final LongMap numbersOfPlans = new LongMap();
    private final List<Plan> plans = new ArrayList<>();
    private final LongMap numbersOfProspects = new LongMap();
    private final List<Prospect> prospects = new ArrayList<>();
    private final LongMap told = new LongMap();

    /** What a step that is not within one session leaves: the server, and what watches may see. */
    record Outcome(int server, List<Integer> changes) {
        static Outcome of(Move move) {
            List<Integer> changes = new ArrayList<>();
            for (int change : move.changes) {
                changes.add(change);
            }
            return new Outcome(move.server, List.copyOf(changes));
        }

        int[] seen() {
            return changes.stream().mapToInt(i -> i).toArray();
        }
    }

    /** What the session can do next in one of its situations. */
    private record Plan(List<Integer> within, List<Deed> deeds) {}

    /** A step that others may see: of the session in this situation, and what it then is in. */
    private record Deed(int outcome, int from, int to, Step step) {}

    /**
     * A step that others may see.
     *
     * @param outcome what it leaves of the server
     * @param takers situations in which the session may take it
     * @param leads to these
     * @param step one of those that leave this
     */
    record Entry(int session, int outcome, List<Integer> takers, List<Integer> leads, Step step) {}

    /**
     * What a spread means while the server is as it is.
     *
     * @param quiet whether nothing may be on its way
     * @param free whether nothing may be on its way, and it holds nothing
     * @param deprived whether it may wait and be free
     * @param idle whether all may be over
     * @param granted requests, one bit each, that may be held
     * @param overlooked a wait without need, with nothing on its way to the session
     * @param leftover what it leaves behind when all is over
     */
    record Prospect(
            List<Entry> entries,
            boolean quiet,
            boolean free,
            boolean deprived,
            boolean idle,
            int granted,
            Optional<Violation> overlooked,
            Optional<Violation> leftover) {}

    Spreads(Universe universe, Laws laws, Values<Outcome> outcomes) {
        this.universe = universe;
        this.laws = laws;
        this.outcomes = outcomes;
    }

    int size() {
        return spreads.size();
    }

    /** The situations. */
    List<Integer> get(int spread) {
        return spreads.get(spread);
    }

    /** All that can come of these situations while others see nothing. */
    int of(int server, List<Integer> situations) {
        Map<Integer, Boolean> met = new TreeMap<>();
        situations.forEach(client -> goOn(server, client, met));
        return spreads.number(List.copyOf(met.keySet()));
    }

    /** What a session does by itself comes to an end. */
    private void goOn(int server, int client, Map<Integer, Boolean> met) {
        Boolean done = met.putIfAbsent(client, false);
        if (done == null) {
            plan(server, client).within().forEach(next -> goOn(server, next, met));
            met.put(client, true);
        } else if (!done) {
            throw new Violation("a schedule without an end");
        }
    }

    private Plan plan(int server, int client) {
        int number = numbersOfPlans.get(server, client);
        if (number == LongMap.NONE) {
            number = plans.size();
            plans.add(newPlan(server, client));
            numbersOfPlans.put(server, client, number);
        }
        return plans.get(number);
    }

    private Plan newPlan(int server, int client) {
        laws.checkTurn(universe.server(server), universe.client(client));
        List<Step> steps = new ArrayList<>();
        universe.addSteps(server, client, steps);
        List<Integer> within = new ArrayList<>();
        List<Deed> deeds = new ArrayList<>();
        for (Step step : steps) {
            Move move = universe.move(server, client, step);
            if (move.server == server && move.changes.length == 0) {
                within.add(move.client);
            } else {
                deeds.add(new Deed(outcomes.number(Outcome.of(move)), client, move.client, step));
            }
        }
        return new Plan(List.copyOf(within), List.copyOf(deeds));
    }

    /** What the spread becomes by what others do. */
    int told(int spread, int outcome) {
        int after = told.get(spread, outcome);
        if (after == LongMap.NONE) {
            Outcome done = outcomes.get(outcome);
            int[] seen = done.seen();
            after = of(
                    done.server(),
                    spreads.get(spread).stream()
                            .map(client -> universe.told(client, seen))
                            .toList());
            told.put(spread, outcome, after);
        }
        return after;
    }

    Prospect prospect(int server, int spread) {
        int number = numbersOfProspects.get(server, spread);
        if (number == LongMap.NONE) {
            number = prospects.size();
            prospects.add(newProspect(server, spread));
            numbersOfProspects.put(server, spread, number);
        }
        return prospects.get(number);
    }

    private Prospect newProspect(int server, int spread) {
        boolean quiet = false;
        boolean free = false;
        boolean deprived = false;
        boolean idle = false;
        int granted = 0;
        Optional<Violation> overlooked = Optional.empty();
        Optional<Violation> leftover = Optional.empty();
        for (int client : spreads.get(spread)) {
            Universe.Facts facts = universe.facts(client);
            granted |= facts.granted;
            if (facts.quiet) {
                quiet = true;
                boolean waits = !laws.waiting(universe.server(server), universe.client(client))
                        .isEmpty();
                free |= facts.granted == 0;
                deprived |= facts.granted == 0 && waits;
                overlooked = overlooked.or(() ->
                        Violation.of(() -> laws.checkOverlooked(universe.server(server), universe.client(client))));
            }
            if (facts.idle) {
                idle = true;
                leftover = leftover.or(() -> Violation.of(() -> laws.checkNoWatch(universe.client(client))));
            }
        }
        return new Prospect(entries(server, spread), quiet, free, deprived, idle, granted, overlooked, leftover);
    }

    private List<Entry> entries(int server, int spread) {
        Map<Integer, List<Deed>> byOutcome = new LinkedHashMap<>();
        for (int client : spreads.get(spread)) {
            for (Deed deed : plan(server, client).deeds()) {
                byOutcome
                        .computeIfAbsent(deed.outcome(), outcome -> new ArrayList<>())
                        .add(deed);
            }
        }
        List<Entry> entries = new ArrayList<>();
        byOutcome.forEach((outcome, deeds) -> entries.add(new Entry(
                deeds.get(0).step().session(),
                outcome,
                deeds.stream().map(Deed::from).toList(),
                deeds.stream().map(Deed::to).toList(),
                deeds.get(0).step())));
        return List.copyOf(entries);
    }

    /** Whom the going of a node may wake of the session, when it is in one of these situations. */
    Set<Woken> woken(int server, List<Integer> situations, Change.Gone gone) {
        Set<Woken> all = new HashSet<>();
        for (int client : situations) {
            all.add(laws.woken(universe.server(server), universe.client(client), gone));
        }
        return all;
    }
}
