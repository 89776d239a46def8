// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/**
 * What counts of zxids: which of two is higher, since nobody counts how far they are apart. Of what a server has
 * applied it is the order alone; of what it has yet to apply, how much of that comes before.
 */
final class Ranks implements LongUnaryOperator {
    private static final long APPLIED = -3;

    private final LongUnaryOperator places;
    private final long first;
    private final long server;
    private long[] applied = new long[32];
    private int count;

    /**
     * @param places the place of each zxid in the log
     * @param first up to here all logs are the same
     * @param server up to where the server has applied it
     */
    Ranks(LongUnaryOperator places, long first, long server) {
        this.places = places;
        this.first = first;
        this.server = server;
    }

    @Override
    public long applyAsLong(long zxid) {
        long place = places.applyAsLong(zxid);
        if (place <= first) {
            return 2 * place;
        }
        if (place > server) {
            return 2 * (place - server) + 1;
        }
        if (count == applied.length) {
            applied = Arrays.copyOf(applied, count * 2);
        }
        applied[count++] = place;
        return APPLIED;
    }

    /** Adds the order of all that have been asked for. */
    void addTo(Fingerprint print) {
        long[] sorted = Arrays.copyOf(applied, count);
        Arrays.sort(sorted);
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || sorted[i] != sorted[i - 1]) {
                sorted[distinct++] = sorted[i];
            }
        }
        for (int i = 0; i < count; i++) {
            print.add(Arrays.binarySearch(sorted, 0, distinct, applied[i]));
        }
    }
}
