package io.latchkey.zk.queue;

import java.nio.charset.StandardCharsets;

/**
 * Who made a request, as its node's data says it, for people and tools; no rule reads it.
 *
 * @param host the name of the machine
 * @param processId the process on it
 * @param label what the user calls this client, may be empty
 */
public record Owner(String host, long processId, String label) {
    public static final Owner UNKNOWN = new Owner("", 0, "");

    private static final char SEPARATOR = '\n';

    public byte[] data() {
        return (host + SEPARATOR + processId + SEPARATOR + label).getBytes(StandardCharsets.UTF_8);
    }

    /** The owner in {@code data}; {@link #UNKNOWN} when it cannot be read, as after a release's mark. */
    public static Owner parse(byte[] data) {
        String[] parts = new String(data, StandardCharsets.UTF_8).split("\n", 3);
        if (parts.length != 3 || !parts[1].matches("\\d{1,18}")) {
            return UNKNOWN;
        }
        return new Owner(parts[0], Long.parseLong(parts[1]), parts[2]);
    }
}
