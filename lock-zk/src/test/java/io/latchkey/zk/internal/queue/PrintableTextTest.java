// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PrintableTextTest {
    @Test
    void charactersThatSeparateLines_areNotPrintable() {
        for (int hidden : new int[] {'\n', 0x1b, 0x200e, 0x2028, 0x2029}) {
            assertFalse(PrintableText.isPrintable(hidden));
            assertFalse(PrintableText.isPrintable("a" + Character.toString(hidden)));
        }
        assertTrue(PrintableText.isPrintable('a') && PrintableText.isPrintable(0x1f511));
    }

    @Test
    void labelOfMaximumLength_isAccepted() {
        PrintableText.checkLabel("label", "x".repeat(256));
        PrintableText.checkLabel("label", "");
    }

    @Test
    void refusedLabel_isDescribed() {
        assertEquals("label has 257 characters; at most 256 are allowed", refusal("x".repeat(257)));
        assertEquals("label has the character U+000A, which is not printable", refusal("till\n1"));
        assertEquals("label has the character U+202E, which is not printable", refusal("turned \u202e around"));
    }

    @Test
    void textIsCutBetweenCharacters_whenItIsTooLong() {
        String key = Character.toString(0x1f511);
        assertEquals("ab" + key, PrintableText.printable("ab" + key, 4));
        assertEquals("ab\u2026", PrintableText.printable("ab" + key, 3));
        assertEquals("ab\u2026", PrintableText.printable("ab" + key, 2));
        assertEquals("a?\u2026", PrintableText.printable("a\ud83d" + key, 3));
    }

    private static String refusal(String label) {
        return assertThrows(IllegalArgumentException.class, () -> PrintableText.checkLabel("label", label))
                .getMessage();
    }
}
