// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Looks for an order in which operations may have taken effect, each between its call and its end, as a model allows
 * it: the algorithm of Wing and Gong, with Lowe's memory of what has been tried.
 *
 * <p>Calls and ends stand in one list in order of time. Whatever is called before the first end in the list may take
 * effect next. One that the model allows is tried, first those that end first, since locks mostly answer in the order
 * in which they act: it is taken off the list, and the search goes on from there. Where none is left to try, the last
 * one is put back and the next tried in its place. The set of operations that have taken effect and the state of the
 * model together decide what can follow, so none is tried from the same two a second time. Operations without an end
 * never have to take effect.
 *
 * <p>In the worst case that takes time exponential in the number of operations that overlap, so the steps are bounded.
 *
 * @param <S> the state of the model
 */
final class WingGongSearch<S> {
    private static final int NONE = -1;
    private static final int LAST = 12;

    private final SequentialModel<S> model;
    private final List<Operation> operations;
    private final int closed;
    /**
     * By place in the list of calls and ends: the operation's number for a call, its complement for an end. The front
     * is place 0.
     */
    private final int[] entries;

    private final int[] next;
    private final int[] former;
    private final int[] endOf;
    /** Which operations with an end have taken effect: nearly all before a certain one, and none behind another. */
    private final BitSet ended = new BitSet();
    /** The same of those without an end, counted from 0. */
    private final BitSet open = new BitSet();

    private final Set<TriedState<S>> tried = new HashSet<>();
    private final Deque<Step<S>> path = new ArrayDeque<>();
    private int furthest = NONE;
    private List<Operation> last = List.of();
    private Operation stuck;
    private String stuckIn = "";

    /** A state on the way, what may come next from there, and how much of that has been tried. */
    private static final class Step<S> {
        private final S state;
        private final List<Integer> choices;
        private int untried;
        private int chosen = NONE;

        private Step(S state, List<Integer> choices) {
            this.state = state;
            this.choices = choices;
        }
    }

    /** What can follow is the same where this is: all before one, some from there on, and the state. */
    private record TriedState<S>(int before, BitSet ended, BitSet open, S state) {}

    private WingGongSearch(SequentialModel<S> model, List<Operation> unordered) {
        this.model = model;
        // Those with an end first, each part in order of its calls: so those that have taken effect are a stretch and a
        // few more.
        operations = unordered.stream()
                .sorted(Comparator.comparing(Operation::isOpen).thenComparingLong(Operation::call))
                .toList();
        closed = (int) operations.stream().filter(each -> !each.isOpen()).count();
        stuck = operations.get(0);
        entries = new int[operations.size() + closed + 1];
        next = new int[entries.length];
        former = new int[entries.length];
        endOf = new int[operations.size()];
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            order.add(i);
            if (i < closed) {
                order.add(~i);
            }
        }
        // A call and an end at one moment overlap: clocks tell no more.
        order.sort(Comparator.<Integer>comparingLong(this::time).thenComparing(entry -> entry < 0));
        for (int place = 1; place < entries.length; place++) {
            int entry = order.get(place - 1);
            entries[place] = entry;
            next[place - 1] = place;
            former[place] = place - 1;
            if (entry < 0) {
                endOf[~entry] = place;
            }
        }
        next[entries.length - 1] = NONE;
    }

    private long time(int entry) {
        return entry < 0 ? operations.get(~entry).end() : operations.get(entry).call();
    }

    /**
     * {@return an order of all operations that the model allows; or that no order exists, or that the search has given
     * up}
     *
     * @param model what the lock does if one thing happens at a time
     * @param operations in any order
     * @param mostSteps how many times to try an operation before it gives up; each may take some hundred bytes
     * @param <S> the state of the model
     */
    public static <S> Outcome run(SequentialModel<S> model, List<Operation> operations, long mostSteps) {
        return operations.isEmpty()
                ? new Outcome.Found(List.of(), 0)
                : new WingGongSearch<>(model, operations).search(mostSteps);
    }

    private Outcome search(long mostSteps) {
        long steps = 0;
        int left = closed;
        path.push(new Step<>(model.initial(), choices()));
        while (left > 0) {
            Step<S> at = path.getFirst();
            if (at.untried < at.choices.size()) {
                if (++steps > mostSteps) {
                    return new Outcome.GaveUp(mostSteps);
                }
                int call = at.choices.get(at.untried++);
                int number = entries[call];
                S after = model.after(at.state, operations.get(number).action()).orElse(null);
                if (after != null && isNew(number, after)) {
                    at.chosen = call;
                    left -= number < closed ? 1 : 0;
                    takeOff(call);
                    path.push(new Step<>(after, choices()));
                }
            } else {
                remember(at.state);
                path.pop();
                if (path.isEmpty()) {
                    return new Outcome.Impossible(stuck, last, stuckIn, steps);
                }
                int wrong = path.getFirst().chosen;
                left += entries[wrong] < closed ? 1 : 0;
                mark(entries[wrong], false);
                putBack(wrong);
            }
        }
        return new Outcome.Found(order(operations.size()), steps);
    }

    /** The places of the calls before the first end, those first that end first. */
    private List<Integer> choices() {
        List<Integer> choices = new ArrayList<>();
        for (int place = next[0]; place != NONE && entries[place] >= 0; place = next[place]) {
            choices.add(place);
        }
        choices.sort(
                Comparator.comparingLong(place -> operations.get(entries[place]).end()));
        return choices;
    }

    /** Takes the operation if it has not been tried from here. */
    private boolean isNew(int number, S after) {
        mark(number, true);
        int before = ended.nextClearBit(0);
        if (tried.add(new TriedState<>(before, ended.get(before, closed), open.get(0, operations.size()), after))) {
            return true;
        }
        mark(number, false);
        return false;
    }

    private void mark(int number, boolean hasTakenEffect) {
        if (number < closed) {
            ended.set(number, hasTakenEffect);
        } else {
            open.set(number - closed, hasTakenEffect);
        }
    }

    private void remember(S state) {
        if (path.size() > furthest) {
            int place = next[0];
            while (entries[place] >= 0) {
                place = next[place];
            }
            furthest = path.size();
            last = order(LAST);
            stuck = operations.get(~entries[place]);
            stuckIn = String.valueOf(state);
        }
    }

    /** The last so many of those that have taken effect, in order. */
    private List<Operation> order(int most) {
        List<Operation> order = new ArrayList<>();
        path.stream().skip(1).limit(most).forEach(step -> order.add(operations.get(entries[step.chosen])));
        Collections.reverse(order);
        return order;
    }

    private void takeOff(int call) {
        unlink(call);
        if (entries[call] < closed) {
            unlink(endOf[entries[call]]);
        }
    }

    private void putBack(int call) {
        if (entries[call] < closed) {
            link(endOf[entries[call]]);
        }
        link(call);
    }

    private void unlink(int place) {
        next[former[place]] = next[place];
        if (next[place] != NONE) {
            former[next[place]] = former[place];
        }
    }

    private void link(int place) {
        next[former[place]] = place;
        if (next[place] != NONE) {
            former[next[place]] = place;
        }
    }
}
