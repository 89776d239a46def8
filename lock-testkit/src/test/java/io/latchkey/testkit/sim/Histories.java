// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Plays a scenario over the shipped engine in every order of its steps, one client at a time. Every client has a server
 * of its own.
 *
 * <p><b>Why this leaves nothing out.</b> Clients know of each other by the leader's log alone. A step either is within
 * one client and its server: then it depends on these and on the log, and changes these only. Or it makes an entry in
 * the log: it depends on the log and on the client that makes it, and all others are as they were, with more to be
 * applied. So what a client may have come to by the end of one history of the log does not depend on what the others
 * have come to, and the worlds at the end of a history are every choice of one {@link Situation} from each client's
 * {@link Spread}, if their faults are no more than there may be. Clients that share a server are among them: it shows
 * them what servers of their own would show if they happened to be at the same place. {@code SmallHistoriesTest}
 * compares with worlds that are played whole, one by one, and every choice that breaks a rule or comes to an end where
 * somebody still waits is played whole as well.
 *
 * <p><b>What is not played twice</b> in one spread: what leaves a client, its server and what is between them alike,
 * field by field ({@link Inside}), with zxids counted by what changes something, since nobody can tell how many
 * transactions changed nothing ({@link Alone}). When others make the history longer what was possible stays so: only
 * the steps that a longer history changes are played then: what has come is applied, the leader is written to, or the
 * session ends ({@link Growth}).
 *
 * <p><b>What is left out since something else comes to the same:</b> {@link Reduction}.
 */
final class Histories {
    private final Scenario scenario;
    private final long most;
    private final Set<Reduction> reductions;
    private final Reached reached = new Reached();
    private final Inside inside = new Inside();
    private final List<Set<String>> paths = new ArrayList<>();
    private final List<Passages> passages = new ArrayList<>();
    private final HistoryRules rules;
    private final Consumer<History> visitor;

    /** Of the histories that were visited. */
    private final Fingerprints ends = new Fingerprints();

    private long histories;
    private long alike;
    private long situations;
    private long played;

    /**
     * What became of it.
     *
     * @param histories different ones of the leader's log
     * @param alike histories besides that ended like one of these
     * @param situations of single clients at the ends of histories
     * @param choices of situations of all clients that were checked against each other
     * @param ends choices at which somebody waits when nothing is on its way, played to the end
     * @param played how often a client was played from the start
     */
    record Report(
            Scenario scenario,
            long histories,
            long alike,
            long situations,
            long choices,
            long ends,
            long played,
            boolean complete,
            Duration busy,
            Reached reached,
            Optional<Exhaustive.Failure> failure) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%s: %,d histories and %,d like these, %,d situations, %,d choices, %,d ends, %,d played, %.1f s of one core",
                    complete ? "no state left" : "NOT COMPLETE",
                    histories,
                    alike,
                    situations,
                    choices,
                    ends,
                    played,
                    busy.toNanos() / 1e9);
        }
    }

    private static final class Enough extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private Histories(Scenario scenario, long most, Set<Reduction> reductions, Consumer<History> visitor) {
        this.scenario = scenario;
        this.most = most;
        this.reductions = reductions;
        this.rules = new HistoryRules(scenario, reductions, reached);
        this.visitor = visitor;
        for (int i = 0; i < scenario.clients(); i++) {
            paths.add(Alone.paths(scenario, i));
            passages.add(new Passages(reductions.contains(Reduction.PASSAGES)));
        }
    }

    /** Plays until nothing is left, a rule is broken, or there have been so many situations. */
    static Report run(Scenario scenario, long most) {
        return run(scenario, most, Reduction.ALL, history -> {});
    }

    /** The same with some of the reductions, and shows every history when it is complete. */
    static Report run(Scenario scenario, long most, Set<Reduction> reductions, Consumer<History> visitor) {
        return new Histories(scenario, most, reductions, visitor).run();
    }

    private Report run() {
        long busy = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        Optional<Exhaustive.Failure> failure = Optional.empty();
        boolean complete = true;
        try {
            History root = new History(paths);
            for (int i = 0; i < scenario.clients(); i++) {
                Situation begins = new Situation(new State(fresh(i)));
                root.spreads.add(new Spread(null));
                root.spreads.get(i).note(begins);
                root.arrived.add(begins);
            }
            for (int i = 0; i < scenario.clients(); i++) {
                growth(root, i).begin(List.of(root.arrived.get(i)));
            }
            completed(root);
        } catch (Found found) {
            failure = Optional.of(found.failure);
        } catch (Enough enough) {
            complete = false;
        }
        return new Report(
                scenario,
                histories,
                alike,
                situations,
                rules.choices(),
                rules.ends(),
                played,
                complete && failure.isEmpty(),
                Duration.ofNanos(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - busy),
                reached,
                failure);
    }

    private Alone fresh(int client) {
        played++;
        return new Alone(scenario, client, paths.get(client), inside, reached, reductions);
    }

    // ---- histories

    private void visit(History former, History history) {
        int author = history.author();
        for (int i = 0; i < scenario.clients(); i++) {
            Spread spread = new Spread(i == author ? null : former.spreads.get(i));
            history.spreads.add(spread);
            if (i == author) {
                history.arrived.forEach(spread::note);
            } else {
                Spread before = former.spreads.get(i);
                before.holds.values().forEach(spread::note);
                before.granted.values().forEach(spread::note);
                spread.news.clear();
            }
        }
        for (int i = 0; i < scenario.clients(); i++) {
            if (budget(history, i) < history.spreads.get(i).least().faults) {
                return;
            }
        }
        for (int i = 0; i < scenario.clients(); i++) {
            Growth growth = growth(history, i);
            if (i == author) {
                growth.begin(history.arrived);
            } else {
                growth.goOn(former.spreads.get(i));
            }
        }
        completed(history);
    }

    private void completed(History history) {
        histories++;
        history.arrived.clear();
        history.spreads.forEach(spread -> situations += spread.size());
        if (situations > most) {
            throw new Enough();
        }
        if (does(Reduction.HISTORIES_ALIKE) && !ends.add(history.fingerprint())) {
            alike++;
            history.next.clear();
            return;
        }
        rules.check(history);
        visitor.accept(history);
        if (history.faults() < scenario.faults()) {
            for (String node : history.nodes) {
                history.then(Event.OPERATOR, List.of(List.of(Tree.Effect.Deleted.of(node))));
            }
        }
        for (History next : List.copyOf(history.next.values())) {
            visit(history, next);
        }
        history.next.clear();
    }

    /** How many faults the client may have come by, if the others have come by as few as they can. */
    private int budget(History history, int client) {
        return scenario.faults()
                - history.faults()
                + history.spreads.get(client).least().faults;
    }

    private Growth growth(History history, int client) {
        return new Growth(this, history, client, budget(history, client));
    }

    // ---- for growths

    Set<String> paths(int client) {
        return paths.get(client);
    }

    Passages passages(int client) {
        return passages.get(client);
    }

    Set<Reduction> reductions() {
        return reductions;
    }

    boolean does(Reduction reduction) {
        return reductions.contains(reduction);
    }

    boolean isTwinOfOneThatIsToBeHeard(History history, int client) {
        if (!does(Reduction.TWINS) || history.hasHeard(client)) {
            return false;
        }
        for (int before = 0; before < client; before++) {
            if (!history.hasHeard(before) && plan(before).equals(plan(client))) {
                return true;
            }
        }
        return false;
    }

    private List<List<Task>> plan(int client) {
        return scenario.plans().stream()
                .filter(plan -> plan.client() == client)
                .map(Scenario.Plan::tasks)
                .toList();
    }

    Alone play(History history, int client, Situation situation) {
        Alone alone = fresh(client);
        List<Event> events = history.events;
        for (Situation at : situation.steps()) {
            while (alone.length() < at.length) {
                alone.happens(events.get(alone.length()));
            }
            alone.take(at.step);
        }
        while (alone.length() < history.length()) {
            alone.happens(events.get(alone.length()));
        }
        return alone;
    }

    Found broken(History history, int client, Situation from, int step, Broken broken) {
        List<Situation> chosen = history.least();
        chosen.set(client, from);
        return new Found(
                new Together(scenario, history, chosen, reductions).failure(broken.getMessage(), client, step));
    }
}
