// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Visits every world of a space.
 *
 * @param <S> a step
 */
final class Explorer<S> {
    private final Scope scope;
    private final Space<S> space;

    /**
     * What was visited.
     *
     * @param worlds different ones
     * @param steps between them
     * @param fault the first that was found, with a shortest schedule that leads to it
     */
    record Result(int worlds, long steps, Set<Reached> reached, Optional<String> fault) {}

    /** A world on the way from the first to the present one, and how many of its steps have been taken. */
    private static final class Frame<S> {
        final int[] world;
        final List<S> steps;
        int taken;

        Frame(int[] world, List<S> steps) {
            this.world = world;
            this.steps = steps;
        }
    }

    /** A world, and the step that led to it. */
    private static final class Visit<S> {
        final int[] world;
        final Visit<S> former;
        final S step;

        Visit(int[] world, Visit<S> former, S step) {
            this.world = world;
            this.former = former;
            this.step = step;
        }
    }

    private Explorer(Scope scope, Space<S> space) {
        this.scope = scope;
        this.space = space;
    }

    /** Everything that can happen in the space of the scope. */
    static <S> Result explore(Scope scope, Space<S> space) {
        return new Explorer<>(scope, space).explore();
    }

    /**
     * All that the server can come to, and all that sessions can come to when nothing is on its way: what two explorations
     * with different delays must have in common.
     */
    static Set<Object> outcomes(Scope scope) {
        Universe universe = new Universe(scope);
        Set<Object> outcomes = new HashSet<>();
        States met = new States(scope.sessions().size());
        Deque<int[]> next = new ArrayDeque<>();
        met.add(universe.initial());
        next.add(universe.initial());
        while (!next.isEmpty()) {
            int[] world = next.remove();
            outcomes.add(universe.server(world[0]));
            if (universe.isQuiet(world)) {
                outcomes.add(universe.seenFromOutside(world));
            }
            for (Step step : universe.steps(world)) {
                int[] after = universe.after(world, step);
                if (met.add(after) == States.Found.NEW) {
                    next.add(after);
                }
            }
        }
        return outcomes;
    }

    private Result explore() {
        States met = new States(scope.sessions().size());
        long steps = 0;
        Optional<String> fault = Optional.empty();
        Deque<Frame<S>> open = new ArrayDeque<>();
        try {
            met.add(space.initial());
            open.push(visit(space.initial()));
            while (!open.isEmpty()) {
                Frame<S> top = open.peek();
                if (top.taken == top.steps.size()) {
                    met.close(top.world);
                    open.pop();
                    continue;
                }
                int[] next = space.after(top.world, top.steps.get(top.taken++));
                steps++;
                switch (met.add(next)) {
                    case NEW -> open.push(visit(next));
                    case OPEN -> throw new Violation("a schedule without an end");
                    case CLOSED -> {}
                }
            }
        } catch (Violation found) {
            fault = Optional.of(shortest().orElseGet(() -> schedule(open, found)));
        }
        return new Result(met.size(), steps, space.reached(), fault);
    }

    private Frame<S> visit(int[] world) {
        space.check(world);
        return new Frame<>(world, space.steps(world));
    }

    /** Breadth first, to show a fault by as few steps as possible. */
    private Optional<String> shortest() {
        States met = new States(scope.sessions().size());
        Deque<Visit<S>> next = new ArrayDeque<>();
        met.add(space.initial());
        next.add(new Visit<>(space.initial(), null, null));
        while (!next.isEmpty()) {
            Visit<S> visit = next.remove();
            for (S step : space.steps(visit.world)) {
                try {
                    int[] world = space.after(visit.world, step);
                    if (met.add(world) == States.Found.NEW) {
                        space.check(world);
                        next.add(new Visit<>(world, visit, step));
                    }
                } catch (Violation found) {
                    List<String> lines = new ArrayList<>();
                    lines.add(space.describe(visit.world, step));
                    for (Visit<S> v = visit; v.former != null; v = v.former) {
                        lines.add(space.describe(v.former.world, v.step));
                    }
                    Collections.reverse(lines);
                    return Optional.of(text(scope, lines, found));
                }
            }
        }
        return Optional.empty();
    }

    private String schedule(Deque<Frame<S>> open, Violation found) {
        List<String> lines = new ArrayList<>();
        for (Frame<S> frame : open) {
            lines.add(space.describe(frame.world, frame.steps.get(frame.taken - 1)));
        }
        Collections.reverse(lines);
        return text(scope, lines, found);
    }

    static String text(Scope scope, List<String> lines, Violation found) {
        StringBuilder all =
                new StringBuilder(found.getMessage()).append("\nin ").append(scope);
        for (int i = 0; i < lines.size(); i++) {
            all.append(String.format("%n%3d. %s", i + 1, lines.get(i)));
        }
        return all.toString();
    }
}
