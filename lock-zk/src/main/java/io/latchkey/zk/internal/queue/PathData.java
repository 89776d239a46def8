// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The use of a path as its data states it: {@code latchkey/3 mutex}, {@code latchkey/3 read-write}, or {@code
 * latchkey/3 semaphore 3 5 8}: 3 declared permits, a capacity of 5, the largest so far 8. The client that creates the
 * path writes the data; all others compare theirs. The number is the format's: a client that does not know it must not
 * take part (docs/protocol.md, "Path data and formats").
 *
 * @param kind the kind of lock
 * @param declared the permits that every client declares, 1 unless the lock is a semaphore
 * @param capacity the permits that can be held at a time, as many as declared until the semaphore is resized
 * @param largest the largest capacity since the path was created: requests older than this data may hold by it
 */
public record PathData(Kind kind, int declared, int capacity, int largest) {
    public static final PathData MUTEX = new PathData(Kind.MUTEX, 1, 1, 1);
    public static final PathData READ_WRITE = new PathData(Kind.READ_WRITE, 1, 1, 1);

    private static final byte[] MUTEX_BYTES = MUTEX.bytes();
    private static final byte[] READ_WRITE_BYTES = READ_WRITE.bytes();
    private static final String LATCHKEY = "latchkey/";
    private static final String FORMAT = LATCHKEY + "3 ";
    private static final Pattern COUNTS = Pattern.compile("semaphore ([1-9]\\d*) ([1-9]\\d*) ([1-9]\\d*)");
    private static final int LONGEST_QUOTE = 80;

    public static PathData semaphore(int declared) {
        return new PathData(Kind.SEMAPHORE, declared, declared, declared);
    }

    public PathData resized(int newCapacity) {
        return new PathData(kind, declared, newCapacity, Math.max(largest, newCapacity));
    }

    /** Returns whether both are for the same kind with the same declared permits; the capacity may differ. */
    public boolean agreesWith(PathData other) {
        return kind == other.kind && declared == other.declared;
    }

    public byte[] bytes() {
        String counts = kind == Kind.SEMAPHORE ? " " + declared + " " + capacity + " " + largest : "";
        return (FORMAT + kind.text() + counts).getBytes(StandardCharsets.UTF_8);
    }

    /** Parses {@code data}; empty if this version does not know its format. */
    public static Optional<PathData> parse(byte[] data) {
        if (Arrays.equals(data, MUTEX_BYTES)) {
            return Optional.of(MUTEX);
        }
        if (Arrays.equals(data, READ_WRITE_BYTES)) {
            return Optional.of(READ_WRITE);
        }
        String text = new String(data, StandardCharsets.UTF_8);
        Matcher counts = COUNTS.matcher(text.startsWith(FORMAT) ? text.substring(FORMAT.length()) : "");
        if (!counts.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new PathData(
                    Kind.SEMAPHORE,
                    Integer.parseInt(counts.group(1)),
                    Integer.parseInt(counts.group(2)),
                    Integer.parseInt(counts.group(3))));
        } catch (NumberFormatException tooLarge) {
            return Optional.empty();
        }
    }

    /** Returns whether {@code data} is that of a lock of Latchkey in a format that this version does not know. */
    public static boolean isOfAnotherVersion(byte[] data) {
        return new String(data, StandardCharsets.UTF_8).startsWith(LATCHKEY)
                && parse(data).isEmpty();
    }

    /** Describes the use for messages. */
    public String describe() {
        return kind == Kind.SEMAPHORE ? "semaphore of " + permits(declared) : kind.noun();
    }

    /** Describes {@code data} for messages. */
    public static String describe(byte[] data) {
        return parse(data).map(PathData::describe).orElseGet(() -> {
            String text = new String(data, StandardCharsets.UTF_8);
            return "data that this version does not know: \"" + PrintableText.printable(text, LONGEST_QUOTE) + "\"";
        });
    }

    /** Returns the number of permits in words. */
    public static String permits(int n) {
        return n == 1 ? "1 permit" : n + " permits";
    }
}
