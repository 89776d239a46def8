// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Fills the spread of one client at the end of one history: all that it may have come to by then. */
final class Growth {
    private final Histories histories;
    private final History history;
    private final int client;
    private final Spread spread;
    private final int budget;
    /** Steps that may be made later: those with fewer faults come first, so that what they lead to is known by then. */
    private final PriorityQueue<Later> later = new PriorityQueue<>(Comparator.comparingInt(Later::faults));

    private record Later(Situation from, int step, int faults) {}

    /** @param budget how many faults the client may have come by */
    Growth(Histories histories, History history, int client, int budget) {
        this.histories = histories;
        this.history = history;
        this.client = client;
        this.spread = history.spreads.get(client);
        this.budget = budget;
    }

    /** With those that have made the last entry. */
    void begin(List<Situation> arrived) {
        List<Situation> inOrder = new ArrayList<>(arrived);
        inOrder.sort(Comparator.comparingInt(situation -> situation.faults));
        for (Situation situation : inOrder) {
            if (situation.faults <= budget && spread.add(situation)) {
                goOnFrom(situation, null);
            }
        }
        makeUp();
    }

    /** With those that were there before somebody else made it: what nobody sees leaves them as they are. */
    void goOn(Spread before) {
        List<Tree.Effect> seen = history.newsAt(histories.paths(client));
        for (Situation situation : before.upToDate) {
            if (concerns(seen, situation)) {
                later(situation, Move.APPLY.of(0), 0);
            } else {
                keep(situation, spread.upToDate);
            }
        }
        keepUnlessConcerned(seen, before.ends, spread.ends);
        keepUnlessConcerned(seen, before.resting, spread.resting);
        before.writing.forEach(situation -> {
            keep(situation, spread.writing);
            later(situation, Move.TAKE_REQUEST.of(0), 0);
        });
        before.roots.forEach(situation -> {
            keep(situation, spread.roots);
            endSession(situation);
        });
        makeUp();
    }

    private boolean concerns(List<Tree.Effect> seen, Situation situation) {
        return histories.does(Reduction.UNSEEN_TRANSACTIONS) ? situation.state.isConcernedBy(seen) : !seen.isEmpty();
    }

    private void keepUnlessConcerned(List<Tree.Effect> seen, List<Situation> before, List<Situation> in) {
        for (Situation situation : before) {
            if (!concerns(seen, situation)) {
                keep(situation, in);
            }
        }
    }

    private void keep(Situation situation, List<Situation> in) {
        if (situation.faults <= budget) {
            in.add(situation);
        }
    }

    private void later(Situation from, int step, int cost) {
        if (from.faults + cost <= budget) {
            later.add(new Later(from, step, from.faults + cost));
        }
    }

    private void makeUp() {
        Later next = later.poll();
        while (next != null) {
            if (Move.move(next.step()) == Move.TAKE_REQUEST) {
                // Any step that may be a write.
                for (int step : next.from().state.writing) {
                    take(next.from(), step, null);
                }
            } else {
                take(next.from(), next.step(), null);
            }
            next = later.poll();
        }
    }

    /**
     * All that can come next.
     *
     * @param at who is in that situation, if somebody is
     */
    private void goOnFrom(Situation from, @Nullable Alone at) {
        State state = from.state;
        boolean applies = from.applies(history.log(client), histories.reductions());
        if (state.writes) {
            spread.writing.add(from);
        }
        if (!applies && !(state.losing && histories.does(Reduction.LOST_ANYWAY))) {
            spread.upToDate.add(from);
        }
        for (int fault : state.faults) {
            later(from, fault, state.losing ? 0 : 1);
        }
        if (from.root && state.sessionLives) {
            spread.roots.add(from);
            endSession(from);
        }
        if (!applies && Options.areOfWorkers(state.steps) && !state.losing) {
            spread.resting.add(from);
            if (state.steps.length == 0) {
                spread.ends.add(from);
            }
        }
        boolean isThere = at != null;
        for (int step : state.steps) {
            isThere &= !take(from, step, isThere ? at : null);
        }
        if (applies) {
            take(from, Move.APPLY.of(0), isThere ? at : null);
        }
    }

    private void endSession(Situation from) {
        if (!from.state.gone) {
            later(from, Move.END_SESSION.of(0), from.state.losing ? 0 : 1);
        }
    }

    /**
     * Makes a step, and all that can come of it before somebody else makes an entry.
     *
     * @param at who is in that situation, if somebody is
     * @return whether it was played, so that who was there is elsewhere by now
     */
    private boolean take(Situation from, int step, @Nullable Alone at) {
        Passages passages = histories.passages(client);
        Log log = history.log(client);
        Optional<Passage> known = passages.find(from, log, step);
        Alone alone = null;
        Passage passage;
        if (known.isPresent()) {
            passage = known.get();
        } else {
            alone = at == null ? histories.play(history, client, from) : at;
            passage = play(alone, from, step);
            passages.add(from, log, step, passage);
        }
        boolean root = !histories.does(Reduction.SESSION_ENDS) || concernsTheSession(from, step);
        Situation to = new Situation(from, step, history, client, passage, root);
        if (to.news != null && from.granted.stream().anyMatch(to.news::isBehind)) {
            throw histories.broken(history, client, from, step, new Broken("tokens grow", to.news.toString()));
        }
        if (!passage.changes().isEmpty()) {
            if (!histories.isTwinOfOneThatIsToBeHeard(history, client)) {
                history.then(client, passage.changes()).arrived.add(to);
            }
        } else if (spread.add(to)) {
            goOnFrom(to, alone);
        }
        return known.isEmpty();
    }

    private Passage play(Alone alone, Situation from, int step) {
        try {
            return alone.pass(step);
        } catch (Broken broken) {
            throw histories.broken(history, client, from, step, broken);
        } catch (RuntimeException bug) {
            throw histories.broken(history, client, from, step, Broken.by(bug));
        }
    }

    /** Whether it makes a difference that the session ends before the step: else it may as well end before it. */
    private static boolean concernsTheSession(Situation from, int step) {
        return switch (Move.move(step)) {
            case TAKE_REQUEST -> from.state.writes;
            case TAKE_MESSAGE, APPLY, BEGIN, RELEASE, BREAK -> false;
            default -> true;
        };
    }
}
