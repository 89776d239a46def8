package io.latchkey.zk.queue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What a path is for, as its data says it: {@code latchkey/1 mutex}. Whoever creates the path writes it; everybody
 * else compares. The number is the format's: a client that does not know it must not take part.
 */
public enum Kind {
    MUTEX("mutex"),
    READ_WRITE("read-write"),
    SEMAPHORE("semaphore");

    private static final String FORMAT = "latchkey/1 ";
    private static final int LONGEST_QUOTE = 80;

    private final String text;

    Kind(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }

    /** The data of a path of this kind. */
    public byte[] data() {
        return (FORMAT + text).getBytes(StandardCharsets.UTF_8);
    }

    public boolean isIn(byte[] data) {
        return Arrays.equals(data, data());
    }

    /** What {@code data} says, for a person to read. */
    public static String describe(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "?");
        if (text.startsWith(FORMAT)) {
            return text.substring(FORMAT.length());
        }
        String quoted = text.length() > LONGEST_QUOTE ? text.substring(0, LONGEST_QUOTE) + "…" : text;
        return "data that this version does not know: \"" + quoted + "\"";
    }
}
