package io.latchkey.zk.explore;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Visits every world of a scope. */
final class Explorer {
    private final Scope scope;
    private final Universe universe;

    /**
     * What was visited.
     *
     * @param worlds different ones
     * @param steps between them
     * @param fault the first that was found, with a shortest schedule that leads to it
     */
    record Result(int worlds, long steps, int situations, Set<Reached> reached, Optional<String> fault) {}

    /** A world on the way from the first to the present one, and how many of its steps have been taken. */
    private static final class Frame {
        final int[] world;
        final List<Step> steps;
        int taken;

        Frame(int[] world, List<Step> steps) {
            this.world = world;
            this.steps = steps;
        }
    }

    /** A world, and the step that led to it. */
    private static final class Visit {
        final int[] world;
        final Visit former;
        final Step step;

        Visit(int[] world, Visit former, Step step) {
            this.world = world;
            this.former = former;
            this.step = step;
        }
    }

    Explorer(Scope scope) {
        this.scope = scope;
        this.universe = new Universe(scope);
    }

    static Result explore(Scope scope) {
        return new Explorer(scope).explore();
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
            outcomes.add(universe.server(world));
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
        Deque<Frame> open = new ArrayDeque<>();
        try {
            met.add(universe.initial());
            open.push(visit(universe.initial()));
            while (!open.isEmpty()) {
                Frame top = open.peek();
                if (top.taken == top.steps.size()) {
                    met.close(top.world);
                    open.pop();
                    continue;
                }
                int[] next = universe.after(top.world, top.steps.get(top.taken++));
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
        return new Result(met.size(), steps, universe.situations(), universe.reached(), fault);
    }

    private Frame visit(int[] world) {
        universe.check(world);
        return new Frame(world, universe.steps(world));
    }

    /** Breadth first, to show a fault by as few steps as possible. */
    private Optional<String> shortest() {
        States met = new States(scope.sessions().size());
        Deque<Visit> next = new ArrayDeque<>();
        met.add(universe.initial());
        next.add(new Visit(universe.initial(), null, null));
        while (!next.isEmpty()) {
            Visit visit = next.remove();
            for (Step step : universe.steps(visit.world)) {
                try {
                    int[] world = universe.after(visit.world, step);
                    if (met.add(world) == States.Found.NEW) {
                        universe.check(world);
                        next.add(new Visit(world, visit, step));
                    }
                } catch (Violation found) {
                    List<String> lines = new ArrayList<>();
                    lines.add(universe.describe(visit.world, step));
                    for (Visit v = visit; v.former != null; v = v.former) {
                        lines.add(universe.describe(v.former.world, v.step));
                    }
                    Collections.reverse(lines);
                    return Optional.of(text(lines, found));
                }
            }
        }
        return Optional.empty();
    }

    private String schedule(Deque<Frame> open, Violation found) {
        List<String> lines = new ArrayList<>();
        for (Frame frame : open) {
            lines.add(universe.describe(frame.world, frame.steps.get(frame.taken - 1)));
        }
        Collections.reverse(lines);
        return text(lines, found);
    }

    private String text(List<String> lines, Violation found) {
        StringBuilder all =
                new StringBuilder(found.getMessage()).append("\nin ").append(scope);
        for (int i = 0; i < lines.size(); i++) {
            all.append(String.format("%n%3d. %s", i + 1, lines.get(i)));
        }
        return all.toString();
    }
}
