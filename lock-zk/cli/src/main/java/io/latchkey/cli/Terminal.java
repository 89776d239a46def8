// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.regex.Pattern;

/**
 * Output to a terminal. Paths, data and labels come from other users of the servers: they must neither control the
 * terminal nor look like lines of {@code latchkey}.
 */
final class Terminal {
    /**
     * Controls, formats such as a change of direction, lone surrogates, unassigned and private characters, line ends.
     */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

    private Terminal() {}

    /** Returns the text with a question mark for each character that is not printed. */
    static String plain(String text) {
        return UNPRINTABLE.matcher(text).replaceAll("?");
    }

    /** Whether {@link #plain} leaves the character as it is. */
    static boolean isPrintable(int character) {
        return !UNPRINTABLE.matcher(Character.toString(character)).matches();
    }

    /** Prints one line on standard error. */
    static void complain(String text) {
        System.err.println("latchkey: " + plain(text));
    }

    /** Prints the stack trace, whose messages may be of several lines. */
    static void complain(Throwable unexpected) {
        StringWriter trace = new StringWriter();
        unexpected.printStackTrace(new PrintWriter(trace));
        trace.toString().lines().forEach(line -> System.err.println(plain(line.replace("\t", "    "))));
    }
}
