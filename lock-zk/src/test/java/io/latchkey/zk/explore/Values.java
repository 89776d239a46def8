// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers for values: equal ones, and only they, have the same. */
final class Values<T> {
    private final Map<T, Integer> numbers = new HashMap<>();
    private final List<T> values = new ArrayList<>();

    int number(T value) {
        Integer known = numbers.putIfAbsent(value, values.size());
        if (known == null) {
            values.add(value);
            return values.size() - 1;
        }
        return known;
    }

    T get(int number) {
        return values.get(number);
    }

    int size() {
        return values.size();
    }
}
