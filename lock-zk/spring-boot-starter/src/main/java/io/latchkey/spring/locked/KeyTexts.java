// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** Which keys have a text that is the same in all calls and all processes, also of what is in them. */
final class KeyTexts {
    private KeyTexts() {}

    /** Returns why the text of a key differs from call to call or from process to process; empty if it does not. */
    static Optional<String> whyNot(@Nullable Object value) {
        if (value == null) {
            return Optional.empty();
        }
        String type = value.getClass().getName();
        if (value.getClass().isArray()) {
            return Optional.of(
                    "is or has an array, whose text differs from call to call. Name what identifies the lock in it");
        }
        if (!hasText(value.getClass())) {
            return Optional.of("is or has a " + type
                    + ", which has no toString() of its own, so its text differs from call to call. Name a property of"
                    + " it");
        }
        if (isUnordered(value)) {
            return Optional.of("is or has a " + type
                    + ", whose order differs from process to process. Sort it, or name what identifies the lock in it");
        }
        return parts(value).stream().flatMap(part -> whyNot(part).stream()).findFirst();
    }

    private static boolean isUnordered(Object value) {
        return (value instanceof Set && !(value instanceof SortedSet) && !(value instanceof EnumSet))
                || (value instanceof Map && !(value instanceof SortedMap) && !(value instanceof EnumMap));
    }

    /** What stands in the text of a value. */
    private static List<@Nullable Object> parts(Object value) {
        List<@Nullable Object> parts = new ArrayList<>();
        if (value instanceof Collection<?> all) {
            parts.addAll(all);
        } else if (value instanceof Map<?, ?> map) {
            parts.addAll(map.keySet());
            parts.addAll(map.values());
        } else if (value instanceof Optional<?> one) {
            one.ifPresent(parts::add);
        } else if (value instanceof Record one) {
            parts.addAll(components(one));
        }
        return parts;
    }

    /** The components of a record with the text that the compiler gives it; nothing of one with a text of its own. */
    private static List<@Nullable Object> components(Record value) {
        List<@Nullable Object> values = new ArrayList<>();
        StringJoiner made = new StringJoiner(", ", value.getClass().getSimpleName() + "[", "]");
        try {
            for (RecordComponent component : value.getClass().getRecordComponents()) {
                component.getAccessor().trySetAccessible();
                Object of = component.getAccessor().invoke(value);
                values.add(of);
                made.add(component.getName() + "=" + of);
            }
        } catch (ReflectiveOperationException | RuntimeException hidden) {
            values.clear();
        }
        if (!value.toString().equals(made.toString())) {
            values.clear();
        }
        return values;
    }

    private static boolean hasText(Class<?> type) {
        try {
            return type.getMethod("toString").getDeclaringClass() != Object.class;
        } catch (NoSuchMethodException impossible) {
            return true;
        }
    }
}
