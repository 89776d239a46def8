// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which operations have taken effect: a bit for each, those with an end first. Of these nearly all before a certain one
 * have, and none behind another, so a value of it needs only the stretch between, and the bits of those without an end.
 */
final class LinearizedSet {
    private final long[] words;
    private final int closed;
    private final int openFrom;
    private int full;
    private int high;

    LinearizedSet(int closed, int all) {
        this.closed = closed;
        openFrom = (closed + Long.SIZE - 1) / Long.SIZE;
        words = new long[openFrom + (all - closed + Long.SIZE - 1) / Long.SIZE];
    }

    private int place(int number) {
        return number < closed ? number : openFrom * Long.SIZE + number - closed;
    }

    void take(int number) {
        int place = place(number);
        words[place / Long.SIZE] |= 1L << place;
        while (full < openFrom && words[full] == -1L) {
            full++;
        }
        if (number < closed) {
            high = Math.max(high, place / Long.SIZE + 1);
        }
    }

    void putBack(int number) {
        int place = place(number);
        words[place / Long.SIZE] &= ~(1L << place);
        if (number < closed) {
            full = Math.min(full, place / Long.SIZE);
        }
        while (high > 0 && words[high - 1] == 0) {
            high--;
        }
    }

    /** A value of what has been taken by now, with the state that this led to. */
    <S> Key<S> with(S state) {
        int stretch = Math.max(0, high - full);
        long[] some = Arrays.copyOfRange(words, full, full + stretch + words.length - openFrom);
        System.arraycopy(words, openFrom, some, stretch, words.length - openFrom);
        return new Key<>(full, some, state);
    }

    /** What can follow is the same where this is. */
    static final class Key<S> {
        private final int full;
        private final long[] words;
        private final S state;
        private final int hash;

        private Key(int full, long[] words, S state) {
            this.full = full;
            this.words = words;
            this.state = state;
            this.hash = (full * 31 + Arrays.hashCode(words)) * 31 + state.hashCode();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key<?> key
                    && full == key.full
                    && Arrays.equals(words, key.words)
                    && state.equals(key.state);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }
}
