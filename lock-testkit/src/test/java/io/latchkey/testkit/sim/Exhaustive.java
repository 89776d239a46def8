// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Plays a small scenario in every order of its steps, over the shipped engine.
 *
 * <p>The engine cannot be copied, so a state is come back to by playing its steps again from the start, and cannot be
 * looked into, so a state is known by what went into it. A client is deterministic: what it does depends on what it was
 * told, what its workers did and which of its timers ran, in that order, and on what the clock said then, and on
 * nothing else. So the fingerprint of a state is made of the fingerprint of every client's inputs so far, of the
 * servers' trees and of all that is on its way. Two schedules that differ in the order of steps of different clients
 * alone meet in one state; two states with one fingerprint have the same future. Each time that steps are played again
 * it is checked that they lead to the same fingerprint.
 *
 * <p>Left out are schedules that come to the same (partial order). A message that waits for a client which neither
 * holds, nor has a worker about to begin, nor looks for a server, is taken at once, also while faults may come. Steps
 * of servers and faults commute with that: the messages that are there come in any case, in the same order, and the
 * client's next requests stand behind its earlier ones. If its connection breaks before it takes them, its next
 * requests are lost; where it takes them first, the same requests are sent and may be lost as well. Should a client
 * come to hold by such a message, the other orders are played as well, since that is what the rules look at.
 *
 * <p>Time stands still while anything else can happen; where nothing can, everything is healed and the world must come
 * to its end, in one order.
 */
final class Exhaustive {
    private final Scenario scenario;
    private final Grain grain;
    private final long mostStates;
    private final Reached reached = new Reached();
    private final Set<List<Long>> seen = new HashSet<>();
    private final List<Frame> path = new ArrayList<>();

    /** How much one step is. */
    enum Grain {
        /** A server takes one request. */
        FINE,
        /** A server takes all of a client's requests that are on their way: nothing comes between them. */
        COARSE
    }

    /**
     * What became of it.
     *
     * @param states distinct ones
     * @param complete whether no state is left
     * @param failure the first that broke a rule, shrunk
     */
    record Report(Scenario scenario, long states, boolean complete, Reached reached, Optional<Failure> failure) {}

    /** A schedule that breaks a rule, as found and as shrunk. */
    record Failure(String rule, Schedule found, Schedule shrunk) {
        String text() {
            return rule + "\n" + found.steps().size() + " steps, shrunk to "
                    + shrunk.steps().size() + ", of " + shrunk.scenario() + "\n" + String.join("\n", shrunk.tell());
        }
    }

    /** A state on the way, and which of the steps from it has been taken. */
    private static final class Frame {
        int[] choices;
        int at;
        /** The steps that were put off because the first is taken at once. */
        int[] others;

        final List<Long> state;

        Frame(int[] choices, int[] others, List<Long> state) {
            this.choices = choices;
            this.others = others;
            this.state = state;
        }

        int choice() {
            return choices[at];
        }
    }

    private Exhaustive(Scenario scenario, Grain grain, long mostStates) {
        this.scenario = scenario;
        this.grain = grain;
        this.mostStates = mostStates;
    }

    /** Plays until no state is left, a rule is broken, or so many states have been seen. */
    static Report run(Scenario scenario, Grain grain, long mostStates) {
        return new Exhaustive(scenario, grain, mostStates).run();
    }

    private Report run() {
        Optional<Failure> failure = Optional.empty();
        boolean more = true;
        while (more && failure.isEmpty() && seen.size() < mostStates) {
            failure = playOne();
            more = advance();
        }
        return new Report(scenario, seen.size(), !more, reached, failure);
    }

    /** The deepest state with a step that was not taken becomes the last of the path; says whether there is one. */
    private boolean advance() {
        while (!path.isEmpty()) {
            Frame last = path.get(path.size() - 1);
            if (++last.at < last.choices.length) {
                return true;
            }
            path.remove(path.size() - 1);
        }
        return false;
    }

    /** Plays the path again, and goes on from there until a state that was seen, or the end. */
    private Optional<Failure> playOne() {
        Explored world = new Explored(scenario, grain, reached);
        try {
            for (int i = 0; i < path.size(); i++) {
                Frame frame = path.get(i);
                world.take(frame.choice());
                if (i + 1 < path.size() && !world.state().equals(path.get(i + 1).state)) {
                    throw new IllegalStateException(
                            "the same steps led to another state: the machine is not deterministic");
                }
            }
            boolean goesOn = true;
            while (goesOn) {
                goesOn = goOn(world);
            }
            return Optional.empty();
        } catch (Broken broken) {
            return Optional.of(failure(broken));
        }
    }

    /** Looks at the state it is in; says whether a step from there was taken. */
    private boolean goOn(Explored world) {
        List<Long> state = world.state();
        if (!path.isEmpty() && world.somebodyCameToHold()) {
            Frame last = path.get(path.size() - 1);
            int[] all = Arrays.copyOf(last.choices, last.choices.length + last.others.length);
            System.arraycopy(last.others, 0, all, last.choices.length, last.others.length);
            last.choices = all;
            last.others = new int[0];
        }
        if (!seen.add(state)) {
            return false;
        }
        int[] possible = world.possible();
        if (possible.length == 0) {
            world.finish();
            return false;
        }
        int atOnce = world.atOnce(possible);
        Frame next = atOnce < 0
                ? new Frame(possible, new int[0], state)
                : new Frame(new int[] {possible[atOnce]}, without(possible, atOnce), state);
        path.add(next);
        world.take(next.choice());
        return true;
    }

    private static int[] without(int[] all, int index) {
        int[] others = new int[all.length - 1];
        System.arraycopy(all, 0, others, 0, index);
        System.arraycopy(all, index + 1, others, index, others.length - index);
        return others;
    }

    private Failure failure(Broken broken) {
        Schedule found = new Schedule(scenario, path.stream().map(Frame::choice).toList());
        return new Failure(broken.getMessage(), found, new Shrinker(broken.rule()).shrink(found));
    }
}
