// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeNameTest {
    private static final String ID = "0123456789abcdef";

    @Test
    void whatIsFormattedIsParsed() {
        for (Tag tag : Tag.values()) {
            int permits = tag == Tag.LEASE ? 12 : 1;
            String text = NodeName.prefix(tag, ID, permits) + "0000000042";
            assertEquals(
                    new NodeName(tag, ID, permits, 42, text),
                    NodeName.parse(text).orElseThrow());
        }
    }

    @Test
    void permitsUpToTheLargestInt_areParsed() {
        String text = NodeName.prefix(Tag.LEASE, ID, Integer.MAX_VALUE) + "0000000042";
        assertEquals(Integer.MAX_VALUE, NodeName.parse(text).orElseThrow().permits());
    }

    @Test
    void namesAreShortEnoughForALongQueue() {
        assertTrue((NodeName.prefix(Tag.WRITE, ID, 1) + "0000000042").length() <= 37);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "write-",
                "write-0123456789abcdef-",
                "write-0123456789abcdef-42",
                "write-0123456789abcdef-00000000042",
                "write-0123456789abcdef-000000004x",
                "write-0123456789abcdef-9999999999",
                "write-0123456789ABCDEF-0000000042",
                "write-0123456789abcde-0000000042",
                "write-0123456789abcdef0000000042",
                "write-0123456789abcdef--000000042",
                "lease-0123456789abcdef-0000000042",
                "lease-0123456789abcdef-0-0000000042",
                "lease-0123456789abcdef-01-0000000042",
                "lease-0123456789abcdef--1-0000000042",
                "lease-0123456789abcdef-2147483648-0000000042",
                "lease-0123456789abcdef-10000000000-0000000042",
                "lock-0123456789abcdef-0000000042",
                "_c_01234567-lock-0000000042"
            })
    void foreignNamesAreNotOurs(String child) {
        assertTrue(NodeName.parse(child).isEmpty(), child);
    }

    @Test
    void theCounterAtItsEndSaysNothingAboutOrder() {
        assertFalse(name("2147483646").overflowed());
        assertTrue(name("2147483647").overflowed());
        assertTrue(name("-2147483648").overflowed());
        assertTrue(name("2147483646").needsNewPath());
        assertTrue(name("2146435071").needsNewPath());
        assertFalse(name("2146435070").needsNewPath());
    }

    private static NodeName name(String sequence) {
        return NodeName.parse(NodeName.prefix(Tag.WRITE, ID, 1) + sequence).orElseThrow();
    }
}
