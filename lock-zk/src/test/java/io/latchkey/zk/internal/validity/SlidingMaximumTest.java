// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlidingMaximumTest {
    private static final int MOST = 3;
    private static final int LONGEST_GAP = 3;
    private static final int LONGEST_LENGTH = 3;

    /** A length that ended at a time; both in nanoseconds. */
    private record Phase(int length, int end) {}

    /** Every sequence of up to three, compared with the maximum of all of them. */
    @Test
    void resultLiesBetweenTheLongestInTheSpanAndTheLongestALittleBefore() {
        List<List<Phase>> sequences = sequences();
        assertEquals(12 + 144 + 1728, sequences.size());
        for (List<Phase> all : sequences) {
            for (int apart = 0; apart <= 2; apart++) {
                for (int span = 0; span <= 4; span++) {
                    check(all, apart, span);
                }
            }
        }
    }

    @Test
    void longestAloneIsRemembered_whenShorterOnesEndCloselyAfterIt() {
        SlidingMaximum longest = new SlidingMaximum(Duration.ofNanos(2));
        longest.add(Duration.ofNanos(3), at(0));
        longest.add(Duration.ofNanos(2), at(1));
        longest.add(Duration.ofNanos(1), at(2));
        assertEquals(1, longest.remembered());
        longest.add(Duration.ofNanos(1), at(3));
        assertEquals(2, longest.remembered());
    }

    @Test
    void lastAloneIsRemembered_whenAllAreAlike() {
        SlidingMaximum longest = new SlidingMaximum(Duration.ZERO);
        for (int end = 0; end < 10; end++) {
            longest.add(Duration.ofNanos(1), at(end));
        }
        assertEquals(1, longest.remembered());
    }

    private static void check(List<Phase> all, int apart, int span) {
        SlidingMaximum longest = new SlidingMaximum(Duration.ofNanos(apart));
        all.forEach(one -> longest.add(Duration.ofNanos(one.length()), at(one.end())));
        int last = all.get(all.size() - 1).end();
        for (int now = last; now <= last + span + apart + 1; now++) {
            long found = longest.within(Duration.ofNanos(span), at(now)).toNanos();
            long least = plainly(all, now - span);
            long most = plainly(all, now - span - apart);
            String which = all + ", " + apart + " apart, at " + now + " within " + span;
            assertTrue(least <= found && found <= most, () -> which + ": " + found);
        }
    }

    private static long plainly(List<Phase> all, int from) {
        return all.stream()
                .filter(one -> one.end() >= from)
                .mapToLong(Phase::length)
                .max()
                .orElse(0);
    }

    private static List<List<Phase>> sequences() {
        List<List<Phase>> sequences = new ArrayList<>(List.of(List.of()));
        for (int i = 0; i < sequences.size(); i++) {
            List<Phase> shorter = sequences.get(i);
            int since = shorter.isEmpty() ? 0 : shorter.get(shorter.size() - 1).end();
            for (int gap = 0; gap <= LONGEST_GAP && shorter.size() < MOST; gap++) {
                for (int length = 1; length <= LONGEST_LENGTH; length++) {
                    List<Phase> next = new ArrayList<>(shorter);
                    next.add(new Phase(length, since + gap));
                    sequences.add(next);
                }
            }
        }
        return sequences.subList(1, sequences.size());
    }

    private static ClockReading at(int nanos) {
        return new ClockReading(nanos, 0);
    }
}
