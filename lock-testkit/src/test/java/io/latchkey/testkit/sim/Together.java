// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A choice of situations at the end of a history as one schedule of a whole world, with a server for each client. */
final class Together {
    private final Scenario scenario;
    private final History history;
    private final List<Set<String>> paths = new ArrayList<>();
    private final List<List<Situation>> left = new ArrayList<>();
    private final World world;
    private final List<Integer> steps = new ArrayList<>();
    /** Who wrote each transaction. */
    private final List<Integer> authors = new ArrayList<>();

    private final Set<Reduction> reductions;

    /** @param reductions those by which the situations were come to */
    Together(Scenario of, History history, List<Situation> chosen, Set<Reduction> reductions) {
        this.reductions = reductions;
        this.scenario =
                new Scenario(of.clients(), of.clients(), of.plans(), of.ends(), of.faults(), of.cancels(), of.start());
        this.history = history;
        this.world = new World(scenario, new Reached(), null);
        for (int i = 0; i < scenario.clients(); i++) {
            paths.add(Alone.paths(scenario, i));
            List<Situation> own = new ArrayList<>();
            chosen.get(i).steps().forEach(own::add);
            left.add(own);
        }
    }

    /** Plays all, and leaves it there. */
    World played() {
        play();
        return world;
    }

    /** Plays all, and looks whether somebody sleeps; returns the rule that is broken. */
    Optional<String> calm() {
        try {
            play();
            take(Move.CALM.of(0), Event.OPERATOR);
            return Optional.empty();
        } catch (Broken broken) {
            return Optional.of(broken.getMessage());
        }
    }

    /** Plays all, heals everything, and comes to an end; returns the rule that is broken. */
    Optional<String> finish(Reached reached) {
        try {
            play();
            world.finish();
            reached.add(world.leader().counters());
            return Optional.empty();
        } catch (Broken broken) {
            return Optional.of(broken.getMessage());
        } catch (RuntimeException bug) {
            return Optional.of(Broken.by(bug).getMessage());
        }
    }

    /** The failure, as a schedule of the whole world shows it. */
    Exhaustive.Failure failure(String rule, int client, int step) {
        try {
            play();
            make(client, step);
        } catch (Broken expected) {
            // The schedule is played once more below.
        }
        return asSchedule(rule);
    }

    Exhaustive.Failure failure(String rule) {
        if (steps.isEmpty()) {
            try {
                play();
            } catch (Broken expected) {
                // As above.
            }
        }
        return asSchedule(rule);
    }

    private Exhaustive.Failure asSchedule(String rule) {
        // Playing a schedule heals everything at its end: should somebody sleep before that, it shows in a calm.
        steps.add(Move.CALM.of(0));
        Schedule found = new Schedule(scenario, List.copyOf(steps));
        Optional<Broken> broken = found.play(new Reached());
        if (broken.isEmpty()) {
            throw new IllegalStateException(
                    "played whole it breaks nothing: " + rule + "\n" + String.join("\n", found.tell()));
        }
        return new Exhaustive.Failure(
                broken.get().getMessage(), found, new Shrinker(broken.get().rule()).shrink(found));
    }

    private void play() {
        for (int length = 0; length <= history.length(); length++) {
            int author = length < history.length() ? history.events.get(length).author() : Event.OPERATOR;
            for (int i = 0; i < left.size(); i++) {
                if (i != author) {
                    makeAllAt(i, length);
                }
            }
            if (author != Event.OPERATOR) {
                makeAllAt(author, length);
            } else if (length < history.length()) {
                delete(history.events.get(length).changes().get(0).path());
            }
        }
    }

    private void makeAllAt(int client, int length) {
        List<Situation> own = left.get(client);
        while (!own.isEmpty() && own.get(0).length == length) {
            make(client, own.remove(0).step);
        }
    }

    private void delete(String node) {
        take(Move.DELETE.of(world.leader().tree().ephemerals().indexOf(node)), Event.OPERATOR);
    }

    private void make(int client, int step) {
        skip(client);
        Client who = world.clients().get(client);
        int told = who.port().messages();
        switch (Move.move(step)) {
            case CONNECT -> take(Move.CONNECT.of(client, client), client);
            case BEGIN, RELEASE -> {
                Worker worker = world.clients().get(client).workers().get(Move.first(step));
                take(Move.move(step).of(world.workers().indexOf(worker)), client);
            }
            default -> take(Move.move(step).of(client), client);
        }
        skip(client);
        while (Options.goesOnApplying(who, world.servers().get(client), step, told, reductions)) {
            take(Move.APPLY.of(client), client);
            skip(client);
        }
        int next = Options.atOnce(who, client, reductions);
        while (next >= 0) {
            take(next, client);
            skip(client);
            next = Options.atOnce(who, client, reductions);
        }
    }

    private void take(int step, int author) {
        steps.add(step);
        if (!world.take(step)) {
            throw new IllegalStateException("not possible together: " + Move.move(step) + " of " + author);
        }
        while (authors.size() < world.leader().log().size()) {
            authors.add(author);
        }
    }

    /** Its server applies what the client alone does not get to see. */
    private void skip(int client) {
        Server server = world.servers().get(client);
        while (server.lags()) {
            int next = (int) server.tree().zxid();
            Tree.Txn txn = world.leader().log().get(next);
            boolean own = authors.get(next) == client;
            boolean seen = own
                    ? !txn.changes().isEmpty() || txn.ended() != 0
                    : !Event.seen(txn.changes(), paths.get(client)).isEmpty();
            if (seen) {
                return;
            }
            take(Move.APPLY.of(client), client);
        }
    }
}
