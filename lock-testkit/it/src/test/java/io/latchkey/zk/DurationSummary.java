// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.LongStream;

/** Spans of time, from the shortest to the longest. */
record DurationSummary(long count, long shortest, long median, long longest) {
    static DurationSummary of(LongStream nanos) {
        long[] sorted = nanos.sorted().toArray();
        return sorted.length == 0
                ? new DurationSummary(0, 0, 0, 0)
                : new DurationSummary(
                        sorted.length,
                        sorted[0],
                        sorted[sorted.length / 2],
                        Arrays.stream(sorted).max().getAsLong());
    }

    @Override
    public String toString() {
        return count == 0
                ? "-"
                : String.format(Locale.ROOT, "%.3f / %.3f / %.3f s", shortest / 1e9, median / 1e9, longest / 1e9);
    }
}
