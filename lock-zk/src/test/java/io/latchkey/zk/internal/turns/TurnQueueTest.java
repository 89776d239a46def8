// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.turns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.turns.TurnWorld.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The rule of local turns, played in small worlds in every order of events. */
@Tag("once")
class TurnQueueTest {
    private static final int MOST_STATES = 400_000;
    /** Of so many states that were seen before one is gone on from. */
    private static final int SAMPLE = 20;

    static Stream<Arguments> worlds() {
        Kind r = Kind.READER;
        Kind w = Kind.WRITER;
        Kind p = Kind.PERMIT;
        return Stream.of(
                Arguments.of(1, 4, List.of(w, w), List.of(w)),
                Arguments.of(1, 4, List.of(w, w, w), List.of()),
                Arguments.of(1, 3, List.of(r, w), List.of(r, w)),
                Arguments.of(1, 3, List.of(r, r), List.of(w)),
                Arguments.of(1, 3, List.of(r, r, w), List.of(w)),
                Arguments.of(1, 4, List.of(p, p), List.of(p)),
                Arguments.of(2, 4, List.of(p, p, p), List.of()),
                Arguments.of(2, 3, List.of(p, p, p), List.of(p)));
    }

    /** What a world shows after some events. */
    private record State(String shown, List<String> events) {}

    /**
     * Each state is reached by its events again, as states cannot be copied. Some that look like a state that was seen
     * are gone on from as well: what is shown has to tell states apart from which something else follows.
     */
    @ParameterizedTest
    @MethodSource("worlds")
    void lawsHold_inEveryOrderOfEvents(int room, int calls, List<Kind> callers, List<Kind> others) {
        Supplier<TurnWorld> worlds = () -> new TurnWorld(room, calls, callers, others);
        State first = new State(worlds.get().toString(), List.of());
        Set<String> seen = new HashSet<>(List.of(first.shown));
        Map<String, List<String>> following = new HashMap<>();
        List<State> alike = new ArrayList<>();
        Deque<State> open = new ArrayDeque<>(List.of(first));
        int seenAgain = 0;
        while (!open.isEmpty() && seen.size() < MOST_STATES) {
            State from = open.poll();
            List<State> next = next(worlds, room, from);
            following.put(from.shown, shown(next));
            for (State to : next) {
                if (seen.add(to.shown)) {
                    open.add(to);
                    after(to.events, () -> {
                        played(worlds.get(), to.events).drain();
                        played(worlds.get(), to.events).checkNothingLingers();
                    });
                } else if (++seenAgain % SAMPLE == 0) {
                    alike.add(to);
                }
            }
        }
        assertTrue(open.isEmpty(), () -> "more than " + seen.size() + " states");
        alike.forEach(state -> assertEquals(
                following.get(state.shown),
                shown(next(worlds, room, state)),
                () -> "something else follows after " + state.events + " than after others that look so: " + state));
    }

    /** The states after each event that may be next. */
    private static List<State> next(Supplier<TurnWorld> worlds, int room, State from) {
        List<State> next = new ArrayList<>();
        for (String event : played(worlds.get(), from.events).events().keySet()) {
            List<String> events =
                    Stream.concat(from.events.stream(), Stream.of(event)).toList();
            after(events, () -> {
                TurnWorld world = played(worlds.get(), events);
                world.check();
                assertTrue(world.turnsThatOthersWait() <= 3L * room, "another client waits for too many turns");
                next.add(new State(world.toString(), events));
            });
        }
        return next;
    }

    private static List<String> shown(List<State> states) {
        return states.stream().map(State::shown).toList();
    }

    private static TurnWorld played(TurnWorld world, List<String> events) {
        events.forEach(event -> world.events().get(event).run());
        return world;
    }

    private static void after(List<String> events, Runnable laws) {
        try {
            laws.run();
        } catch (AssertionError | RuntimeException broken) {
            throw new AssertionError(events + ": " + broken, broken);
        }
    }
}
