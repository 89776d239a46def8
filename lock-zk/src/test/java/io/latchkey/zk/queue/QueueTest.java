// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class QueueTest {
    private static final String FIRST = "write-ffffffffffffffff-0000000009";
    private static final String SECOND = "read-00000000000000aa-0000000010";
    private static final String OVERFLOWED = "write-0000000000000001--2147483648";
    private static final String LAST_NUMBER = "write-0000000000000002-2147483647";

    @Test
    void orderIsByNumberNotByText() {
        Queue queue = Queue.of(List.of(SECOND, FIRST));
        assertEquals(List.of(FIRST, SECOND), texts(queue.requests()));
    }

    @Test
    void foreignChildrenAreNotInIt() {
        assertEquals(
                List.of(FIRST),
                texts(Queue.of(List.of("notes", FIRST, "write-x")).requests()));
    }

    @Test
    void overflowedNumbersStandBehindAllOthers() {
        Queue queue = Queue.of(List.of(OVERFLOWED, LAST_NUMBER, FIRST));
        assertEquals(FIRST, queue.requests().get(0).text());
        assertTrue(queue.before(name(FIRST)).isEmpty());
    }

    @Test
    void knowsWhoIsBefore() {
        Queue queue = Queue.of(List.of(SECOND, FIRST));
        assertEquals(List.of(FIRST), texts(queue.before(name(SECOND))));
        assertEquals(name(SECOND), queue.withId("00000000000000aa").orElseThrow());
        assertTrue(queue.withId("00000000000000ab").isEmpty());
    }

    @Test
    void refusesToPlaceWhoIsNotThere() {
        Queue queue = Queue.of(List.of(FIRST));
        assertFalse(queue.contains(name(SECOND)));
        assertThrows(IllegalArgumentException.class, () -> queue.before(name(SECOND)));
    }

    private static NodeName name(String text) {
        return NodeName.parse(text).orElseThrow();
    }

    private static List<String> texts(List<NodeName> names) {
        return names.stream().map(NodeName::text).toList();
    }
}
