// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.latchkey.spring.LockKeys;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keys with a text that is the same in all processes, and with a path that no other key has; and others. */
class KeyTextsTest {
    record Order(String id, Object more) {}

    record NamedKey(Object bytes) {
        @Override
        public String toString() {
            return "named";
        }
    }

    static Stream<Object> fit() {
        return Stream.of(
                "text",
                7L,
                UUID.randomUUID(),
                Path.of("a", "b"),
                List.of("a", 1),
                new TreeSet<>(Set.of("a", "b")),
                new TreeMap<>(Map.of("a", 1)),
                EnumSet.allOf(TimeUnit.class),
                Optional.of("a"),
                new Order("a", List.of()),
                new NamedKey(new byte[0]));
    }

    @ParameterizedTest
    @MethodSource
    void fit(Object key) {
        assertThat(KeyTexts.whyNot(key)).isEmpty();
    }

    static Stream<Object> differ() {
        Object plain = new Object();
        return Stream.of(
                plain,
                new int[0],
                List.of("a", plain),
                List.of(List.of(plain)),
                Set.of("a"),
                new LinkedHashSet<>(List.of("a")),
                new HashMap<>(Map.of("a", 1)),
                new TreeMap<>(Map.of("a", plain)),
                Optional.of(plain),
                new Order("a", new byte[0]),
                new Order("a", new Order("b", Set.of(1, 2))));
    }

    @ParameterizedTest
    @MethodSource
    void differ(Object key) {
        assertThat(KeyTexts.whyNot(key)).isPresent();
    }

    /** As a question mark, each of them would have the path of the others. */
    @Test
    void pathIsRefused_forHalfOfASurrogatePair() {
        for (String half : List.of("a\uD83D", "\uDE00b")) {
            assertThatThrownBy(() -> LockKeys.path("/orders", half))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("below /orders")
                    .hasMessageContaining("half of a surrogate pair");
        }
        assertThat(LockKeys.path("/orders", "\uD83D\uDE00")).isEqualTo("/orders/key-%F0%9F%98%80");
        assertThat(LockKeys.path("/orders", "?")).isEqualTo("/orders/key-%3F");
    }
}
