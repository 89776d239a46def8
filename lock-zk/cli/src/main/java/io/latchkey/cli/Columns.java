// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.util.stream.IntStream;

/** The columns that text takes in a terminal: wide characters take two, and marks that combine take none. */
final class Columns {
    /** First and last characters of the ranges that are wide by Unicode's annex 11, coarsely. */
    private static final int[][] WIDE = {
        {0x1100, 0x115F},
        {0x2E80, 0x303E},
        {0x3041, 0xA4CF},
        {0xA960, 0xA97C},
        {0xAC00, 0xD7A3},
        {0xF900, 0xFAFF},
        {0xFE30, 0xFE6F},
        {0xFF01, 0xFF60},
        {0xFFE0, 0xFFE6},
        {0x1F300, 0x1F64F},
        {0x1F680, 0x1F6FF},
        {0x1F900, 0x1F9FF},
        {0x1FA70, 0x1FAFF},
        {0x20000, 0x3FFFD},
    };

    private Columns() {}

    static int of(String text) {
        return text.codePoints().map(Columns::of).sum();
    }

    private static int of(int character) {
        int type = Character.getType(character);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
            return 0;
        }
        return IntStream.range(0, WIDE.length).anyMatch(n -> WIDE[n][0] <= character && character <= WIDE[n][1])
                ? 2
                : 1;
    }

    /** Returns the beginning of the text that fits into so many columns. */
    static String cut(String text, int columns) {
        int room = columns;
        int end = 0;
        while (end < text.length()) {
            int character = text.codePointAt(end);
            room -= of(character);
            if (room < 0) {
                break;
            }
            end += Character.charCount(character);
        }
        return text.substring(0, end);
    }
}
