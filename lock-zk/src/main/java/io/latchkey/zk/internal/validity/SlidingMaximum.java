// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The longest of the durations that ended within a time span. Of durations that ended close together only the longest
 * may be kept.
 */
final class SlidingMaximum {
    private final Duration apart;
    /** The longest duration, the longest since that one, and so on. */
    private final Deque<Measurement> found = new ArrayDeque<>();

    private record Measurement(Duration length, ClockReading end) {}

    /**
     * @param apart the minimum distance between the ends of entries; an entry is kept for this long beyond the span,
     *     since it may stand for one that ended later
     */
    SlidingMaximum(Duration apart) {
        this.apart = apart;
    }

    void add(Duration length, ClockReading end) {
        while (!found.isEmpty() && found.getLast().length().compareTo(length) <= 0) {
            found.removeLast();
        }
        if (found.isEmpty() || end.isAfter(found.getLast().end().plus(apart))) {
            found.addLast(new Measurement(length, end));
        }
    }

    /**
     * Returns the longest that ended within {@code span} before {@code now}; zero if none did. Forgets all that ended
     * before.
     */
    Duration within(Duration span, ClockReading now) {
        long remembered = span.toNanos() + apart.toNanos();
        while (!found.isEmpty() && now.nanos() - found.getFirst().end().nanos() > remembered) {
            found.removeFirst();
        }
        return found.isEmpty() ? Duration.ZERO : found.getFirst().length();
    }

    /** Returns the number of remembered durations. */
    int remembered() {
        return found.size();
    }
}
