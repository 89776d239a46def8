// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

/**
 * The worlds that were met. A world is the number of a server and one of each session; they are packed into 128 bits
 * and compared as a whole, so that no two worlds are ever taken for one.
 */
final class States {
    private static final int SERVER_BITS = 28;

    /** What is known of a world. */
    enum Found {
        NEW,
        /** Met, and not all that follows from it. */
        OPEN,
        CLOSED
    }

    private final int clientBits;
    private long[] high = new long[1 << 16];
    private long[] low = new long[high.length];
    private boolean[] closed = new boolean[high.length];
    private int size;

    private long packedHigh;
    private long packedLow;

    States(int clients) {
        clientBits = Math.min(28, (127 - SERVER_BITS) / clients);
    }

    int size() {
        return size;
    }

    /** Notes the world, and says what was known of it before. */
    Found add(int[] world) {
        if (2 * (size + 1) > high.length) {
            grow();
        }
        int slot = slotOf(world);
        if (!isEmpty(slot)) {
            return closed[slot] ? Found.CLOSED : Found.OPEN;
        }
        high[slot] = packedHigh;
        low[slot] = packedLow;
        size++;
        return Found.NEW;
    }

    /** All that follows from the world has been met. */
    void close(int[] world) {
        closed[slotOf(world)] = true;
    }

    private int slotOf(int[] world) {
        packedHigh = 0;
        // Never 0, which is an empty slot.
        packedLow = 1;
        for (int i = 0; i < world.length; i++) {
            int bits = i == 0 ? SERVER_BITS : clientBits;
            if (world[i] >>> bits != 0) {
                throw new IllegalStateException("more than 2^" + bits + " values of part " + i);
            }
            packedHigh = (packedHigh << bits) | (packedLow >>> (Long.SIZE - bits));
            packedLow = (packedLow << bits) | world[i];
        }
        return slot(packedHigh, packedLow);
    }

    private boolean isEmpty(int slot) {
        return (high[slot] | low[slot]) == 0;
    }

    private void grow() {
        long[] oldHigh = high;
        long[] oldLow = low;
        boolean[] oldClosed = closed;
        high = new long[2 * oldHigh.length];
        low = new long[high.length];
        closed = new boolean[high.length];
        for (int i = 0; i < oldHigh.length; i++) {
            if ((oldHigh[i] | oldLow[i]) != 0) {
                int slot = slot(oldHigh[i], oldLow[i]);
                high[slot] = oldHigh[i];
                low[slot] = oldLow[i];
                closed[slot] = oldClosed[i];
            }
        }
    }

    private int slot(long h, long l) {
        int slot = mixed(h * 0x9E3779B97F4A7C15L + l) & (high.length - 1);
        while (!isEmpty(slot) && (high[slot] != h || low[slot] != l)) {
            slot = (slot + 1) & (high.length - 1);
        }
        return slot;
    }

    static int mixed(long bits) {
        long m = (bits ^ (bits >>> 32)) * 0xD6E8FEB86659FD93L;
        m = (m ^ (m >>> 32)) * 0xD6E8FEB86659FD93L;
        return (int) (m ^ (m >>> 32));
    }
}
