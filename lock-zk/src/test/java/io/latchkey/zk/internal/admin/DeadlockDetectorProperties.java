// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.admin.DeadlockDetector.Line;
import io.latchkey.zk.internal.admin.DeadlockDetector.Seat;
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
    private static final Seat OTHER_HOLDER = new SeatSpec(1, Tag.WRITE, 1, 2, 2, true).seat(3);

    private static final Seat OTHER_WAITER = new SeatSpec(1, Tag.WRITE, 1, 1, 5, false).seat(4);

    /** A request to be placed at the end of a queue. */
    private record SeatSpec(int path, Tag tag, int permits, int session, int token, boolean holds) {
        Seat seat(int number) {
            String prefix = NodeName.prefix(tag, String.format("%016x", number), permits);
            NodeName name =
                    NodeName.parse(prefix + String.format("%010d", number)).orElseThrow();
            return new Seat(new LockPath("/" + path), name, token, session, holds);
        }
    }

    @Property(tries = 2000)
    void requestsAreStuck_whenSomeSetOfThemWaitsForItself(@ForAll("queues") List<Line> lines) {
        List<Seat> all = lines.stream().flatMap(line -> line.seats().stream()).toList();
        Set<Seat> expected = new HashSet<>();
        for (int bits = 1; bits < 1 << all.size(); bits++) {
            int chosen = bits;
            List<Seat> set = all.stream()
                    .filter(seat -> (chosen >> all.indexOf(seat) & 1) == 1)
                    .toList();
            if (set.stream().allMatch(seat -> waitsForSome(seat, set, lines))) {
                expected.addAll(set);
            }
        }
        assertEquals(expected, DeadlockDetector.of(lines).deadlocked());
    }

    @Property(tries = 2000)
    void eachRequestOfACircleWaitsForTheNext(@ForAll("queues") List<Line> lines) {
        DeadlockDetector standstill = DeadlockDetector.of(lines);
        for (Seat seat : standstill.deadlocked()) {
            List<Seat> cycle = standstill.cycleBehind(seat);
            assertFalse(cycle.isEmpty());
            assertTrue(standstill.deadlocked().containsAll(cycle), cycle::toString);
            assertEquals(cycle.size(), Set.copyOf(cycle).size(), cycle::toString);
            for (int i = 0; i < cycle.size(); i++) {
                Seat one = cycle.get(i);
                Seat next = cycle.get((i + 1) % cycle.size());
                assertTrue(mayWaitFor(one, next, lines), () -> one + " waits for " + next);
            }
        }
    }

    @Example
    void requestForThePermitsThatAreLeft_isNotPartOfTheCircle() {
        Seat holder = new SeatSpec(0, Tag.LEASE, 1, 1, 1, true).seat(0);
        Seat fits = new SeatSpec(0, Tag.LEASE, 1, 3, 3, false).seat(1);
        Seat tooMany = new SeatSpec(0, Tag.LEASE, 2, 2, 4, false).seat(2);
        DeadlockDetector detector = DeadlockDetector.of(
                List.of(new Line(List.of(holder, fits, tooMany), 2), new Line(List.of(OTHER_HOLDER, OTHER_WAITER), 1)));
        assertEquals(Set.of(holder, tooMany, OTHER_HOLDER, OTHER_WAITER), detector.deadlocked());
        assertEquals(List.of(holder, OTHER_WAITER, OTHER_HOLDER, tooMany), detector.cycleBehind(holder));
    }

    @Example
    void readerWaitsForTheWriterBeforeIt_andNotForAReader() {
        Seat reader = new SeatSpec(0, Tag.READ, 1, 1, 1, true).seat(0);
        Seat writer = new SeatSpec(0, Tag.WRITE, 1, 3, 3, false).seat(1);
        Seat waitingReader = new SeatSpec(0, Tag.READ, 1, 2, 4, false).seat(2);
        DeadlockDetector detector = DeadlockDetector.of(List.of(
                new Line(List.of(reader, writer, waitingReader), 1), new Line(List.of(OTHER_HOLDER, OTHER_WAITER), 1)));
        assertEquals(
                List.of(waitingReader, writer, reader, OTHER_WAITER, OTHER_HOLDER),
                detector.cycleBehind(waitingReader));
    }

    /** Whether the request cannot progress unless a request of {@code set} does. */
    private static boolean waitsForSome(Seat seat, List<Seat> set, List<Line> lines) {
        List<Seat> those =
                set.stream().filter(other -> mayWaitFor(seat, other, lines)).toList();
        long permits = seat.name().permits()
                + those.stream().mapToLong(other -> other.name().permits()).sum();
        boolean room = !seat.holds()
                && seat.name().tag() == Tag.LEASE
                && permits <= lineOf(seat, lines).capacity();
        return !those.isEmpty() && !room;
    }

    private static boolean mayWaitFor(Seat seat, Seat other, List<Line> lines) {
        if (seat.holds()) {
            boolean oneThread = seat.session() == other.session() && seat.session() != DeadlockDetector.UNKNOWN;
            return oneThread && !other.holds() && other.token() >= seat.token() && !sameQueue(seat, other);
        }
        List<Seat> queue = lineOf(seat, lines).seats();
        boolean before = sameQueue(seat, other) && queue.indexOf(other) < queue.indexOf(seat);
        return before && (seat.name().tag() != Tag.READ || other.name().tag() == Tag.WRITE);
    }

    private static boolean sameQueue(Seat one, Seat other) {
        return one.path().equals(other.path());
    }

    private static Line lineOf(Seat seat, List<Line> lines) {
        return lines.stream()
                .filter(line -> line.seats().contains(seat))
                .findFirst()
                .orElseThrow();
    }

    @Provide
    Arbitrary<List<Line>> queues() {
        Arbitrary<SeatSpec> specs = Combinators.combine(
                        Arbitraries.of(0, 0, 1, 1, 2),
                        Arbitraries.of(Tag.class),
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.of(0, 1, 1, 2, 2),
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.of(true, false))
                .as(SeatSpec::new);
        return Combinators.combine(
                        specs.list().ofMaxSize(MOST), Arbitraries.integers().between(1, 3))
                .as(DeadlockDetectorProperties::lines);
    }

    private static List<Line> lines(List<SeatSpec> specs, int capacity) {
        Map<Integer, List<Seat>> byPath = new TreeMap<>();
        for (int i = 0; i < specs.size(); i++) {
            SeatSpec spec = specs.get(i);
            byPath.computeIfAbsent(spec.path(), path -> new ArrayList<>()).add(spec.seat(i));
        }
        return byPath.values().stream().map(seats -> new Line(seats, capacity)).toList();
    }
}
