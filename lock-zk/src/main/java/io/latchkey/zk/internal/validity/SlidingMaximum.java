// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** The longest of what took its time within a span. Of what ended closely together it may keep the longest alone. */
final class SlidingMaximum {
    private final Duration apart;
    /** The longest, the longest since that one, and so on. */
    private final Deque<One> found = new ArrayDeque<>();

    private record One(Duration length, ClockReading end) {}

    /**
     * @param apart by how much the ends must differ of what is kept one by one; nothing is forgotten earlier than this
     *     after the span is over
     */
    SlidingMaximum(Duration apart) {
        this.apart = apart;
    }

    void add(Duration length, ClockReading end) {
        while (!found.isEmpty() && found.getLast().length().compareTo(length) <= 0) {
            found.removeLast();
        }
        if (found.isEmpty() || end.isAfter(found.getLast().end().plus(apart))) {
            found.addLast(new One(length, end));
        }
    }

    /** The longest that ended within {@code span} before {@code now}; zero if none did. What ended before is forgotten. */
    Duration within(Duration span, ClockReading now) {
        long remembered = span.toNanos() + apart.toNanos();
        while (!found.isEmpty() && now.nanos() - found.getFirst().end().nanos() > remembered) {
            found.removeFirst();
        }
        return found.isEmpty() ? Duration.ZERO : found.getFirst().length();
    }

    /** How many lengths are remembered. */
    int remembered() {
        return found.size();
    }
}
