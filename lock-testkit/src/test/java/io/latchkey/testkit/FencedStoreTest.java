// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class FencedStoreTest {
    private final FencedStore<String> store = new FencedStore<>("");

    @Test
    void store_keepsTheValueOfTheHighestToken() {
        store.write("a", 7);
        store.write("b", 7);
        store.write("c", 9);
        assertThrows(FencedStore.StaleTokenException.class, () -> store.write("stale", 8));
        assertThrows(FencedStore.StaleTokenException.class, () -> store.read(8));
        assertEquals("c", store.read(9));
        assertEquals("c", store.look());
    }

    /** Or the successor, which has read, would overwrite what it has not seen. */
    @Test
    void read_raisesTheHighestToken() {
        store.write("a", 7);
        assertEquals("a", store.read(9));
        assertThrows(FencedStore.StaleTokenException.class, () -> store.write("stale", 7));
        store.write("a, b", 9);
        assertEquals("a, b", store.look());
    }
}
