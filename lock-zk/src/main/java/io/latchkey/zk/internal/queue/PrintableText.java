// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.regex.Pattern;

/**
 * Text from other clients that is shown on screens and in logs. Control and format characters, line feeds and the rest
 * of Unicode's category C, and its separators of lines and paragraphs, can forge lines there or control a terminal.
 */
public final class PrintableText {
    /** The maximum length of a name or a label, in characters. */
    public static final int LONGEST = 256;

    private static final Pattern INVISIBLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

    private PrintableText() {}

    /** Returns whether {@code text} is short enough and all its characters are printable. */
    public static boolean isPrintable(String text) {
        return text.length() <= LONGEST && !INVISIBLE.matcher(text).find();
    }

    /** Returns whether the character is printable. */
    public static boolean isPrintable(int character) {
        return !INVISIBLE.matcher(Character.toString(character)).find();
    }

    /**
     * Returns the text with question marks for characters that are not printable, cut off after {@code longest}
     * characters.
     */
    public static String printable(String text, int longest) {
        String shown = INVISIBLE.matcher(text).replaceAll("?");
        return shown.length() > longest ? shown.substring(0, longest) + "\u2026" : shown;
    }
}
