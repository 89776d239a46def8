// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

/** A set of fingerprints that takes sixteen bytes for each, twice that while it grows. */
final class Fingerprints {
    private long[] table = new long[1 << 17];
    private int size;

    /** Says whether it was not there. */
    boolean add(Fingerprint print) {
        if (size * 3L > table.length) {
            grow();
        }
        // Zero means free.
        return put(print.high() == 0 ? 1 : print.high(), print.low());
    }

    int size() {
        return size;
    }

    private boolean put(long high, long low) {
        int mask = table.length - 1;
        int at = (int) (low << 1) & mask;
        while (table[at] != 0) {
            if (table[at] == high && table[at + 1] == low) {
                return false;
            }
            at = (at + 2) & mask;
        }
        table[at] = high;
        table[at + 1] = low;
        size++;
        return true;
    }

    private void grow() {
        long[] old = table;
        table = new long[old.length * 2];
        size = 0;
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] != 0) {
                boolean ignored = put(old[i], old[i + 1]);
            }
        }
    }
}
