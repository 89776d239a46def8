// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.internal.acquire.Acquisition;
import io.latchkey.zk.internal.acquire.Acquisition.Edge;
import io.latchkey.zk.internal.acquire.State;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * docs/architecture.md has the state machine of one request as the code's own table has it, as a diagram and as a
 * table.
 */
class AcquisitionPageTest {
    @Test
    void theDiagramIsCurrent() {
        Map<String, Set<String>> events = new LinkedHashMap<>();
        for (Edge edge : Acquisition.EDGES) {
            for (State to : State.values()) {
                if (edge.to().contains(to) && to != edge.from()) {
                    events.computeIfAbsent(edge.from() + " --> " + to, arrow -> new LinkedHashSet<>())
                            .add(edge.event().getSimpleName());
                }
            }
        }
        String arrows = events.entrySet().stream()
                .map(arrow -> "    " + arrow.getKey() + ": " + String.join(", ", arrow.getValue()) + "\n")
                .collect(Collectors.joining(
                        "", "```mermaid\nstateDiagram-v2\n    [*] --> NEW\n", "    ENDED --> [*]\n```\n"));
        Docs.assertDrawn("docs/architecture.md", "states", arrows);
    }

    @Test
    void theTableIsCurrent() {
        String rows = Acquisition.EDGES.stream()
                .map(AcquisitionPageTest::row)
                .collect(Collectors.joining("\n", "| in | on | to |\n|---|---|---|\n", "\n"));
        Docs.assertDrawn("docs/architecture.md", "edges", rows);
    }

    /** A state without an edge would be in neither. */
    @Test
    void everyStateIsReached() {
        Set<State> reached =
                Acquisition.EDGES.stream().flatMap(edge -> edge.to().stream()).collect(Collectors.toSet());
        reached.add(State.NEW);
        assertEquals(Set.of(State.values()), reached);
    }

    private static String row(Edge edge) {
        String to = Arrays.stream(State.values())
                .filter(edge.to()::contains)
                .map(State::name)
                .collect(Collectors.joining(", "));
        return "| " + edge.from() + " | `" + edge.event().getSimpleName() + "` | " + to + " |";
    }
}
