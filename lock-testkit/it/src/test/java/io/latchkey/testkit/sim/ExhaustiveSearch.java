// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Plays a small world in every order of its steps, over the shipped engine.
 *
 * <p>The engine can be neither copied nor inspected. So a state is reached again by playing its steps from the start,
 * and it is identified by its inputs. A client is deterministic: its behaviour depends only on its messages, on the
 * steps of its workers, on the timers that ran, on their order, and on the clock. So the fingerprint of a state
 * consists of the fingerprint of every client's inputs so far, of the servers' trees and of all messages in transit.
 *
 * <p>Two schedules that differ only in the order of steps of different clients meet in one state; two states with one
 * fingerprint have the same future. Each replay is checked to lead to the same fingerprint.
 *
 * <p>Equivalent schedules are left out (partial order). A message is taken at once, even while faults are possible, if
 * its client waits, and has no holder, no worker about to begin and no lost connection. Steps of servers and faults
 * commute with that: the messages in transit arrive in any case, in the same order, and the client's next requests
 * follow its earlier ones. If the connection breaks before the client takes them, its next requests are lost; if it
 * takes them first, the same requests are sent and may be lost as well. If a client is granted a lock by such a
 * message, the other orders are played too, because the rules concern grants.
 *
 * <p>Time stands still while any other step is possible. If none is, all faults heal, and the world must finish, in one
 * order.
 */
final class ExhaustiveSearch {
    private final WorldSpec spec;
    private final Grain grain;
    private final long mostStates;
    private final Coverage coverage = new Coverage();
    private final Set<List<Long>> seen = new HashSet<>();
    private final List<Frame> path = new ArrayList<>();

    /** The size of a step. */
    enum Grain {
        /** A server takes one request. */
        FINE,
        /** A server takes all of a client's requests in transit, with no step between them. */
        COARSE
    }

    /**
     * The result of a search.
     *
     * @param states the number of distinct states
     * @param complete whether all states were visited
     * @param failure the first schedule that broke a rule, shrunk
     */
    record Report(WorldSpec spec, long states, boolean complete, Coverage coverage, Optional<Failure> failure) {}

    /** A schedule that breaks a rule, as found and as shrunk. */
    record Failure(String rule, Schedule found, Schedule shrunk) {
        String text() {
            return rule + "\n" + found.steps().size() + " steps, shrunk to "
                    + shrunk.steps().size() + ", of " + shrunk.spec() + "\n" + String.join("\n", shrunk.tell());
        }
    }

    /** A state on the way, and which of the steps from it has been taken. */
    private static final class Frame {
        int[] choices;
        int at;
        /** The steps that were deferred because the first is taken at once. */
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

    private ExhaustiveSearch(WorldSpec spec, Grain grain, long mostStates) {
        this.spec = spec;
        this.grain = grain;
        this.mostStates = mostStates;
    }

    /** Plays until no state is left, a rule is broken, or so many states have been seen. */
    static Report run(WorldSpec spec, Grain grain, long mostStates) {
        return new ExhaustiveSearch(spec, grain, mostStates).run();
    }

    private Report run() {
        Optional<Failure> failure = Optional.empty();
        boolean more = true;
        while (more && failure.isEmpty() && seen.size() < mostStates) {
            failure = playOne();
            more = advance();
        }
        return new Report(spec, seen.size(), !more, coverage, failure);
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
        ExploredWorld world = new ExploredWorld(spec, grain, coverage);
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
        } catch (BrokenRuleError broken) {
            return Optional.of(failure(broken));
        }
    }

    /** Looks at the state it is in; says whether a step from there was taken. */
    private boolean goOn(ExploredWorld world) {
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

    private Failure failure(BrokenRuleError broken) {
        Schedule found = new Schedule(spec, path.stream().map(Frame::choice).toList());
        return new Failure(broken.getMessage(), found, new Shrinker(broken.rule()).shrink(found));
    }
}
