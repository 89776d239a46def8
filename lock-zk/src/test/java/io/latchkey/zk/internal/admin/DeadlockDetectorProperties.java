// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.admin.DeadlockDetector.Line;
import io.latchkey.zk.internal.admin.DeadlockDetector.QueuedRequest;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Tag;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Deadlocks by a second definition: the union of all sets in which every request waits for requests of the set. The
 * queues are small enough to try all sets.
 */
class DeadlockDetectorProperties {
    private static final int MOST = 9;

    /** Of session 2, at another path; session 1 waits for it. */
    private static final QueuedRequest OTHER_HOLDER = new RequestSpec(1, Tag.WRITE, 1, 2, 2, true).request(3);

    private static final QueuedRequest OTHER_WAITER = new RequestSpec(1, Tag.WRITE, 1, 1, 5, false).request(4);

    /** A request to be placed at the end of a queue. */
    private record RequestSpec(int path, Tag tag, int permits, int session, int token, boolean holds) {
        QueuedRequest request(int number) {
            String prefix = NodeName.prefix(tag, String.format("%016x", number), permits);
            NodeName name =
                    NodeName.parse(prefix + String.format("%010d", number)).orElseThrow();
            return new QueuedRequest(new LockPath("/" + path), name, token, session, holds);
        }
    }

    @Property(tries = 2000)
    void requestsAreStuck_whenSomeSetOfThemWaitsForItself(@ForAll("queues") List<Line> lines) {
        List<QueuedRequest> all =
                lines.stream().flatMap(line -> line.requests().stream()).toList();
        Set<QueuedRequest> expected = new HashSet<>();
        for (int bits = 1; bits < 1 << all.size(); bits++) {
            int chosen = bits;
            List<QueuedRequest> set = all.stream()
                    .filter(request -> (chosen >> all.indexOf(request) & 1) == 1)
                    .toList();
            if (set.stream().allMatch(request -> waitsForSome(request, set, lines))) {
                expected.addAll(set);
            }
        }
        assertEquals(expected, DeadlockDetector.of(lines).deadlocked());
    }

    @Property(tries = 2000)
    void eachRequestOfACircleWaitsForTheNext(@ForAll("queues") List<Line> lines) {
        DeadlockDetector standstill = DeadlockDetector.of(lines);
        for (QueuedRequest request : standstill.deadlocked()) {
            List<QueuedRequest> cycle = standstill.cycleBehind(request);
            assertFalse(cycle.isEmpty());
            assertTrue(standstill.deadlocked().containsAll(cycle), cycle::toString);
            assertEquals(cycle.size(), Set.copyOf(cycle).size(), cycle::toString);
            for (int i = 0; i < cycle.size(); i++) {
                QueuedRequest one = cycle.get(i);
                QueuedRequest next = cycle.get((i + 1) % cycle.size());
                assertTrue(mayWaitFor(one, next, lines), () -> one + " waits for " + next);
            }
        }
    }

    @Example
    void requestForThePermitsThatAreLeft_isNotPartOfTheCircle() {
        QueuedRequest holder = new RequestSpec(0, Tag.LEASE, 1, 1, 1, true).request(0);
        QueuedRequest fits = new RequestSpec(0, Tag.LEASE, 1, 3, 3, false).request(1);
        QueuedRequest tooMany = new RequestSpec(0, Tag.LEASE, 2, 2, 4, false).request(2);
        DeadlockDetector detector = DeadlockDetector.of(
                List.of(new Line(List.of(holder, fits, tooMany), 2), new Line(List.of(OTHER_HOLDER, OTHER_WAITER), 1)));
        assertEquals(Set.of(holder, tooMany, OTHER_HOLDER, OTHER_WAITER), detector.deadlocked());
        assertEquals(List.of(holder, OTHER_WAITER, OTHER_HOLDER, tooMany), detector.cycleBehind(holder));
    }

    @Example
    void readerWaitsForTheWriterBeforeIt_andNotForAReader() {
        QueuedRequest reader = new RequestSpec(0, Tag.READ, 1, 1, 1, true).request(0);
        QueuedRequest writer = new RequestSpec(0, Tag.WRITE, 1, 3, 3, false).request(1);
        QueuedRequest waitingReader = new RequestSpec(0, Tag.READ, 1, 2, 4, false).request(2);
        DeadlockDetector detector = DeadlockDetector.of(List.of(
                new Line(List.of(reader, writer, waitingReader), 1), new Line(List.of(OTHER_HOLDER, OTHER_WAITER), 1)));
        assertEquals(
                List.of(waitingReader, writer, reader, OTHER_WAITER, OTHER_HOLDER),
                detector.cycleBehind(waitingReader));
    }

    /** Whether the request cannot progress unless a request of {@code set} does. */
    private static boolean waitsForSome(QueuedRequest request, List<QueuedRequest> set, List<Line> lines) {
        List<QueuedRequest> those =
                set.stream().filter(other -> mayWaitFor(request, other, lines)).toList();
        long permits = request.name().permits()
                + those.stream().mapToLong(other -> other.name().permits()).sum();
        boolean room = !request.holds()
                && request.name().tag() == Tag.LEASE
                && permits <= lineOf(request, lines).capacity();
        return !those.isEmpty() && !room;
    }

    private static boolean mayWaitFor(QueuedRequest request, QueuedRequest other, List<Line> lines) {
        if (request.holds()) {
            boolean oneThread = request.session() == other.session() && request.session() != DeadlockDetector.UNKNOWN;
            return oneThread && !other.holds() && other.token() >= request.token() && !sameQueue(request, other);
        }
        List<QueuedRequest> queue = lineOf(request, lines).requests();
        boolean before = sameQueue(request, other) && queue.indexOf(other) < queue.indexOf(request);
        return before && (request.name().tag() != Tag.READ || other.name().tag() == Tag.WRITE);
    }

    private static boolean sameQueue(QueuedRequest one, QueuedRequest other) {
        return one.path().equals(other.path());
    }

    private static Line lineOf(QueuedRequest request, List<Line> lines) {
        return lines.stream()
                .filter(line -> line.requests().contains(request))
                .findFirst()
                .orElseThrow();
    }

    @Provide
    Arbitrary<List<Line>> queues() {
        Arbitrary<RequestSpec> specs = Combinators.combine(
                        Arbitraries.of(0, 0, 1, 1, 2),
                        Arbitraries.of(Tag.class),
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.of(0, 1, 1, 2, 2),
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.of(true, false))
                .as(RequestSpec::new);
        return Combinators.combine(
                        specs.list().ofMaxSize(MOST), Arbitraries.integers().between(1, 3))
                .as(DeadlockDetectorProperties::lines);
    }

    private static List<Line> lines(List<RequestSpec> specs, int capacity) {
        Map<Integer, List<QueuedRequest>> byPath = new TreeMap<>();
        for (int i = 0; i < specs.size(); i++) {
            RequestSpec spec = specs.get(i);
            byPath.computeIfAbsent(spec.path(), path -> new ArrayList<>()).add(spec.request(i));
        }
        return byPath.values().stream()
                .map(requests -> new Line(requests, capacity))
                .toList();
    }
}
