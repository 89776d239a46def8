// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.Objects;
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

    /**
     * Checks the label of a client or of a request, which others are shown.
     *
     * @param name the name of the argument, for the message
     * @throws IllegalArgumentException if the label is too long or not printable
     */
    public static void checkLabel(String name, String label) {
        Objects.requireNonNull(label, name);
        if (label.length() > LONGEST) {
            throw new IllegalArgumentException(
                    name + " has " + label.length() + " characters; at most " + LONGEST + " are allowed");
        }
        label.codePoints().filter(c -> !isPrintable(c)).findFirst().ifPresent(c -> {
            throw new IllegalArgumentException(
                    String.format("%s has the character U+%04X, which is not printable", name, c));
        });
    }

    /** Returns whether the character is printable. */
    static boolean isPrintable(int character) {
        return !INVISIBLE.matcher(Character.toString(character)).find();
    }

    /**
     * Returns the text with question marks for characters that are not printable, cut off after {@code longest}
     * characters, or one earlier where a pair of surrogates would be cut: half a pair is not printable.
     */
    public static String printable(String text, int longest) {
        String shown = INVISIBLE.matcher(text).replaceAll("?");
        if (shown.length() <= longest) {
            return shown;
        }
        int end = Character.isHighSurrogate(shown.charAt(longest - 1)) ? longest - 1 : longest;
        return shown.substring(0, end) + "\u2026";
    }
}
