// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Maps a stretch of time to a width. Idle waits are cut: a stretch without an event that would leave too little room
 * for the rest gets a short piece of the width.
 */
final class TimeScale {
    /** A wait is idle if it is so many times as long as all shorter waits together. */
    private static final int IDLE = 3;

    /** Times of events, first and last of the stretch included, and where each of them lies. */
    private final long[] times;

    private final double[] positions;
    private final List<Stretch> drawn = new ArrayList<>();
    private final List<Stretch> cut = new ArrayList<>();
    private final double perNano;

    /**
     * A stretch between two events.
     *
     * @param from when it begins
     * @param to when it ends
     */
    record Stretch(long from, long to) {
        long length() {
            return to - from;
        }
    }

    /**
     * A scale for this stretch.
     *
     * @param events when something happened; times outside of the stretch do not count
     */
    TimeScale(long from, long to, LongStream events, double width) {
        times = LongStream.concat(LongStream.of(from, to), events.filter(time -> time > from && time < to))
                .sorted()
                .distinct()
                .toArray();
        long[] waits = new long[times.length - 1];
        Arrays.setAll(waits, i -> times[i + 1] - times[i]);
        long[] sorted = waits.clone();
        Arrays.sort(sorted);
        long longest = longestDrawn(sorted);
        long rest = Arrays.stream(sorted).filter(wait -> wait <= longest).sum();
        long idle = Arrays.stream(sorted).filter(wait -> wait > longest).count();
        double idleNanos = rest / (double) Math.max(4, idle);
        perNano = width / (rest + idle * idleNanos);
        positions = new double[times.length];
        for (int i = 0; i < waits.length; i++) {
            boolean isCut = waits[i] > longest;
            (isCut ? cut : drawn).add(new Stretch(times[i], times[i + 1]));
            positions[i + 1] = positions[i] + (isCut ? idleNanos : waits[i]) * perNano;
        }
    }

    /** The longest of these waits, in order of length, that is drawn to scale; at least half of them are. */
    private static long longestDrawn(long[] sorted) {
        long longest = sorted[sorted.length - 1];
        long shorter = 0;
        for (int i = 0; i < sorted.length; i++) {
            if (i > 0 && i >= sorted.length / 2 && sorted[i] / IDLE > shorter) {
                longest = sorted[i - 1];
            }
            shorter += sorted[i];
        }
        return longest;
    }

    /** Returns the position of a time; times outside the range are moved to its bounds. */
    double position(long time) {
        long within = Math.max(times[0], Math.min(time, times[times.length - 1]));
        int index = Arrays.binarySearch(times, within);
        if (index >= 0) {
            return positions[index];
        }
        int after = -index - 1;
        double share = (within - times[after - 1]) / (double) (times[after] - times[after - 1]);
        return positions[after - 1] + share * (positions[after] - positions[after - 1]);
    }

    /** {@return the idle waits} */
    List<Stretch> cuts() {
        return cut;
    }

    /** {@return round times, outside of the idle waits, that lie at least so far apart there} */
    List<Long> ticks(double apart) {
        long step = step(apart / perNano);
        List<Long> ticks = new ArrayList<>();
        for (Stretch stretch : drawn) {
            for (long tick = -Math.floorDiv(-stretch.from(), step) * step; tick <= stretch.to(); tick += step) {
                double last = ticks.isEmpty() ? -apart : position(ticks.get(ticks.size() - 1));
                if (position(tick) >= last + apart) {
                    ticks.add(tick);
                }
            }
        }
        return ticks;
    }

    /** The shortest time of one, two or five times a power of ten nanoseconds that is not below this one. */
    private static long step(double nanos) {
        long power = (long) Math.pow(10, Math.floor(Math.log10(Math.max(1, nanos))));
        return LongStream.of(1, 2, 5, 10)
                .map(factor -> factor * power)
                .filter(step -> step >= nanos)
                .findFirst()
                .orElse(10 * power);
    }
}
