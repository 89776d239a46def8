// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.turns;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.turns.TurnWorld.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
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

    /** Each state is reached by its first events again, as states cannot be copied. */
    @ParameterizedTest
    @MethodSource("worlds")
    void lawsHold_inEveryOrderOfEvents(int room, int calls, List<Kind> callers, List<Kind> others) {
        Supplier<TurnWorld> worlds = () -> new TurnWorld(room, calls, callers, others);
        Set<String> seen = new HashSet<>();
        Deque<List<String>> open = new ArrayDeque<>();
        open.add(List.of());
        while (!open.isEmpty() && seen.size() < MOST_STATES) {
            List<String> path = open.poll();
            for (String event : List.copyOf(played(worlds.get(), path).events().keySet())) {
                List<String> next = new ArrayList<>(path);
                next.add(event);
                try {
                    TurnWorld world = played(worlds.get(), next);
                    world.check();
                    assertTrue(world.turnsThatOthersWait() <= 4L * room, "another client waits for too many turns");
                    if (seen.add(world.toString())) {
                        open.add(Collections.unmodifiableList(next));
                        played(worlds.get(), next).drain();
                        played(worlds.get(), next).checkNothingLingers();
                    }
                } catch (AssertionError | RuntimeException broken) {
                    throw new AssertionError(next + ": " + broken, broken);
                }
            }
        }
        assertTrue(open.isEmpty(), () -> "more than " + seen.size() + " states");
    }

    private static TurnWorld played(TurnWorld world, List<String> path) {
        path.forEach(event -> world.events().get(event).run());
        return world;
    }
}
