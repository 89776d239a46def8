// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.acquire.Acquisition;
import io.latchkey.zk.acquire.Acquisition.Edge;
import io.latchkey.zk.acquire.State;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/architecture.md has the state machine of one request as the code's own table has it, as a picture and as a table. */
class AcquisitionPageTest {
    @Test
    void thePictureIsCurrent() {
        Docs.assertDrawn("docs/pictures/acquisition.svg", new AcquisitionPicture(Acquisition.EDGES).svg());
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
