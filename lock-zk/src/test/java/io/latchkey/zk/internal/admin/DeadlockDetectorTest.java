// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.internal.admin.DeadlockDetector.Line;
import io.latchkey.zk.internal.admin.DeadlockDetector.Seat;
import io.latchkey.zk.internal.queue.NodeName;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Deadlocks in queues; a letter is a session, {@code A+} holds and {@code A} waits. */
class DeadlockDetectorTest {
    private static final int NO_SEMAPHORE = 1;

    /** A queue such as {@code "write A+, read B"} or {@code "2 A+, 1 B"}. */
    private static Line line(String path, int capacity, String queue) {
        List<Seat> seats = new ArrayList<>();
        for (String request : queue.split(", ", -1)) {
            String kind = request.split(" ", -1)[0];
            String who = request.split(" ", -1)[1];
            boolean lock = kind.equals("write") || kind.equals("read");
            String name = (lock ? kind + "-" : "lease-")
                    + String.format("%016x", path.hashCode() * 31L + request.hashCode())
                    + (lock ? "" : "-" + kind)
                    + String.format("-%010d", seats.size());
            seats.add(new Seat(
                    path,
                    NodeName.parse(name).orElseThrow(),
                    token(who),
                    who.charAt(0) == '?' ? DeadlockDetector.UNKNOWN : who.charAt(0),
                    who.contains("+")));
        }
        return new Line(seats, capacity);
    }

    /** A holder's request is older than a waiter's, unless it is {@code A+late}. */
    private static long token(String who) {
        return who.contains("late") ? 3 : who.contains("+") ? 1 : 2;
    }

    private static Line mutex(String path, String queue) {
        return line(path, NO_SEMAPHORE, "write " + queue.replace(", ", ", write "));
    }

    private static DeadlockDetector of(Line... lines) {
        return DeadlockDetector.of(List.of(lines));
    }

    private static String who(Seat seat) {
        String session = seat.session() == 0 ? "?" : String.valueOf((char) seat.session());
        return session + (seat.holds() ? "+" : "") + seat.path();
    }

    private static Set<String> stuck(Line... lines) {
        return of(lines).stuck().stream().map(DeadlockDetectorTest::who).collect(Collectors.toSet());
    }

    private static List<String> circle(String behind, Line... lines) {
        DeadlockDetector standstill = of(lines);
        Seat waiting = standstill.stuck().stream()
                .filter(seat -> who(seat).equals(behind))
                .findFirst()
                .orElseThrow();
        return standstill.circleBehind(waiting).stream()
                .map(DeadlockDetectorTest::who)
                .toList();
    }

    @Test
    void waiterCanProgress_whenItsHolderDoesNotWait() {
        assertEquals(Set.of(), stuck(mutex("/a", "A+, B, C"), mutex("/b", "B+, C")));
    }

    @Test
    void twoThatWaitForEachOther() {
        Line[] lines = {mutex("/a", "A+, B"), mutex("/b", "B+, A")};
        assertEquals(List.of("A/b", "B+/b", "B/a", "A+/a"), circle("A/b", lines));
        assertEquals(List.of("B/a", "A+/a", "A/b", "B+/b"), circle("B/a", lines));
    }

    @Test
    void circleOfThreeIsFound() {
        assertEquals(
                List.of("A/b", "B+/b", "B/c", "C+/c", "C/a", "A+/a"),
                circle("A/b", mutex("/a", "A+, C"), mutex("/b", "B+, A"), mutex("/c", "C+, B")));
    }

    @Test
    void threadsAtOnePath_areNoDeadlock() {
        assertEquals(Set.of(), stuck(mutex("/a", "A+, A, B, A"), mutex("/b", "B+, C")));
    }

    @Test
    void requestMadeBeforeTheGrant_isOfAnotherThread() {
        assertEquals(Set.of(), stuck(mutex("/a", "A+late, B"), mutex("/b", "B+, A")));
        assertEquals(5, stuck(mutex("/a", "A+, A, B"), mutex("/b", "B+, A")).size());
    }

    @Test
    void waiterBehindACycle_isNotInIt() {
        Line[] lines = {mutex("/a", "A+, B, C"), mutex("/b", "B+, A")};
        assertEquals(Set.of("A+/a", "B/a", "C/a", "B+/b", "A/b"), stuck(lines));
        assertEquals(Set.of("A+/a", "A/b", "B+/b", "B/a"), Set.copyOf(circle("C/a", lines)));
    }

    @Test
    void writerWaitsForEveryReaderAhead() {
        assertEquals(
                List.of("C/r", "A+/r", "A/c", "C+/c"),
                circle("C/r", line("/r", NO_SEMAPHORE, "read A+, read B+, write C"), mutex("/c", "C+, A")));
    }

    @Test
    void readerDoesNotWaitForReaders() {
        assertEquals(
                Set.of(),
                stuck(line("/r", NO_SEMAPHORE, "read A+, write B, read C"), mutex("/c", "C+, D"), mutex("/d", "D+")));
        assertEquals(Set.of(), stuck(line("/r", NO_SEMAPHORE, "read A+, read C+"), mutex("/c", "C+, A")));
    }

    @Test
    void readerWaitsForAWaitingWriter() {
        assertEquals(
                List.of("C/r", "B/r", "A+/r", "A/c", "C+/c"),
                circle("C/r", line("/r", NO_SEMAPHORE, "read A+, write B, read C"), mutex("/c", "C+, A")));
    }

    @Test
    void permitsOfARunningHolderAreEnough() {
        assertEquals(Set.of(), stuck(line("/s", 2, "1 A+, 1 B+, 1 C"), mutex("/c", "C+, A")));
        assertEquals(
                Set.of("A+/s", "B+/s", "C/s", "A/c", "B/c", "C+/c"),
                stuck(line("/s", 2, "1 A+, 1 B+, 1 C"), mutex("/c", "C+, A, B")));
        assertEquals(
                List.of("C/s", "A+/s", "A/c", "C+/c"),
                circle("C/s", line("/s", 3, "1 A+, 2 B+, 3 C"), mutex("/c", "C+, A")));
    }

    @Test
    void unreadableRequestIsNoEdge() {
        assertEquals(Set.of(), stuck(mutex("/a", "?+, B"), mutex("/b", "B+, ?")));
    }
}
