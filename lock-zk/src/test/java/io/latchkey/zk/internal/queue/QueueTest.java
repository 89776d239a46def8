// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class QueueTest {
    private static final String FIRST = "write-ffffffffffffffff-0000000009";
    private static final String SECOND = "read-00000000000000aa-0000000010";
    private static final String OVERFLOWED = "write-0000000000000001--2147483648";
    private static final String LAST_NUMBER = "write-0000000000000002-2147483647";

    @Test
    void foreignChildrenAreNotInIt() {
        assertEquals(
                List.of(FIRST),
                texts(Queue.of(List.of("notes", FIRST, "write-x")).requests()));
    }

    @Test
    void queueReturnsTheRequestsAhead() {
        Queue queue = Queue.of(List.of(SECOND, FIRST));
        assertEquals(List.of(FIRST), texts(queue.before(name(SECOND))));
        assertEquals(name(SECOND), queue.withId("00000000000000aa").orElseThrow());
        assertTrue(queue.withId("00000000000000ab").isEmpty());
    }

    @Test
    void queueRefusesARequestThatIsNotInIt() {
        Queue queue = Queue.of(List.of(FIRST));
        assertFalse(queue.contains(name(SECOND)));
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> queue.before(name(SECOND)));
        assertEquals(SECOND + " is not in [" + FIRST + "]", refused.getMessage());
    }

    @Test
    void overflowedRequestIsFoundBehindAllOthers() {
        Queue queue = Queue.of(List.of(OVERFLOWED, SECOND, FIRST));
        assertTrue(queue.contains(name(OVERFLOWED)));
        assertEquals(List.of(FIRST, SECOND), texts(queue.before(name(OVERFLOWED))));
        assertFalse(queue.contains(name(LAST_NUMBER)));
    }

    @Test
    void requestBehindIsTheNextOne() {
        Queue queue = Queue.of(List.of(OVERFLOWED, SECOND, FIRST));
        assertEquals(Optional.of(name(SECOND)), queue.behind(name(FIRST)));
        assertEquals(Optional.of(name(OVERFLOWED)), queue.behind(name(SECOND)));
        assertEquals(Optional.empty(), queue.behind(name(OVERFLOWED)));
    }

    @Test
    void queueIsThatOfChildren_whenTheSameRequestsAreAmongThem() {
        Queue queue = Queue.of(List.of(FIRST, SECOND));
        assertTrue(queue.isOf(List.of(SECOND, "notes", FIRST)));
        assertFalse(queue.isOf(List.of(FIRST)));
        assertFalse(queue.isOf(List.of(FIRST, OVERFLOWED)));
        assertFalse(queue.isOf(List.of(FIRST, SECOND, OVERFLOWED)));
    }

    /** Allocated bytes measure the work for each name independently of the machine's load. */
    @Test
    void comparisonWithChildrenReadsNoName_whenTheRequestsAreTheSame() {
        List<String> children = IntStream.range(0, 10_000)
                .mapToObj(i -> String.format(Locale.ROOT, "write-%016x-%010d", i, i))
                .toList();
        Queue queue = Queue.of(children);
        assertTrue(queue.isOf(children));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertTrue(queue.isOf(children));
        long each = (threads.getCurrentThreadAllocatedBytes() - before) / children.size();
        assertTrue(each < 90, () -> each + " bytes for each child; a name that is read takes some 150");
    }

    /** 200,000 sums over all requests ahead would take a minute. */
    @Test
    void permitsBeforeEachRequest_areAddedUpOnce() {
        List<String> names = IntStream.range(0, 200_000)
                .mapToObj(i -> String.format(Locale.ROOT, "lease-%016x-2-%010d", i, i))
                .toList();
        ThreadMXBean processor = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long start = processor.getCurrentThreadCpuTime();
        Queue queue = Queue.of(names, PathData.semaphore(9));
        long made = processor.getCurrentThreadCpuTime();
        long before = 0;
        for (NodeName request : queue.requests()) {
            assertEquals(before, queue.permitsBefore(request));
            before += request.permits();
        }
        long asked = processor.getCurrentThreadCpuTime();
        assertTrue(
                asked - made < 5 * (made - start),
                () -> (asked - made) / 1_000_000 + " ms for all sums, " + (made - start) / 1_000_000 + " ms to parse");
    }

    @Test
    void queueKnowsTheDataOfItsPath() {
        assertEquals(
                PathData.semaphore(3),
                Queue.of(List.of(), PathData.semaphore(3)).purpose());
    }

    private static NodeName name(String text) {
        return NodeName.parse(text).orElseThrow();
    }

    private static List<String> texts(List<NodeName> names) {
        return names.stream().map(NodeName::text).toList();
    }
}
