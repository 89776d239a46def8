// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import java.util.Arrays;

/** From a pair of numbers to one, all from 0, without objects. */
final class LongMap {
    static final int NONE = -1;

    private long[] keys = new long[1 << 12];
    private int[] values = new int[keys.length];
    private int size;

    LongMap() {
        Arrays.fill(keys, NONE);
    }

    int get(int left, int right) {
        int slot = slot(key(left, right));
        return keys[slot] == NONE ? NONE : values[slot];
    }

    void put(int left, int right, int value) {
        if (2 * ++size > keys.length) {
            grow();
        }
        long key = key(left, right);
        int slot = slot(key);
        keys[slot] = key;
        values[slot] = value;
    }

    private void grow() {
        long[] oldKeys = keys;
        int[] oldValues = values;
        keys = new long[2 * oldKeys.length];
        values = new int[keys.length];
        Arrays.fill(keys, NONE);
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != NONE) {
                int slot = slot(oldKeys[i]);
                keys[slot] = oldKeys[i];
                values[slot] = oldValues[i];
            }
        }
    }

    private static long key(int left, int right) {
        return ((long) left << 32) | right;
    }

    private int slot(long key) {
        int slot = States.mixed(key) & (keys.length - 1);
        while (keys[slot] != NONE && keys[slot] != key) {
            slot = (slot + 1) & (keys.length - 1);
        }
        return slot;
    }
}
