// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.regex.Pattern;

/**
 * Text from other clients that goes to screens and logs. Control and format characters, line feeds and whatever else
 * Unicode does not show (category C) can forge lines there, or steer a terminal.
 */
public final class PrintableText {
    /** The most characters of a name or a label. */
    public static final int LONGEST = 256;

    private static final Pattern INVISIBLE = Pattern.compile("\\p{C}");

    private PrintableText() {}

    /** Whether {@code text} is short and each of its characters shows. */
    public static boolean isPrintable(String text) {
        return text.length() <= LONGEST && !INVISIBLE.matcher(text).find();
    }

    /** The text with question marks for the characters that do not show, cut off after {@code longest}. */
    public static String printable(String text, int longest) {
        String shown = INVISIBLE.matcher(text).replaceAll("?");
        return shown.length() > longest ? shown.substring(0, longest) + "\u2026" : shown;
    }
}
