package io.latchkey.zk.queue;

import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/**
 * Who made a request, as its node's data says it, for people and tools; no rule reads it.
 *
 * @param host the name of the machine
 * @param processId the process on it
 * @param label what the user calls this client, may be empty
 * @param token the token of its lease, where that is not the number by which its node was created
 */
public record Owner(String host, long processId, String label, OptionalLong token) {
    public static final Owner UNKNOWN = new Owner("", 0, "");

    private static final char SEPARATOR = '\n';
    private static final String NUMBER = "\\d{1,18}";

    public Owner(String host, long processId, String label) {
        this(host, processId, label, OptionalLong.empty());
    }

    public Owner withToken(long other) {
        return new Owner(host, processId, label, OptionalLong.of(other));
    }

    public byte[] data() {
        String tail = token.isPresent() ? "" + SEPARATOR + token.getAsLong() : "";
        return (host + SEPARATOR + processId + SEPARATOR + label + tail).getBytes(StandardCharsets.UTF_8);
    }

    /** The owner in {@code data}; {@link #UNKNOWN} when it cannot be read, as after a release's mark. */
    public static Owner parse(byte[] data) {
        String[] parts = new String(data, StandardCharsets.UTF_8).split("\n", -1);
        boolean tokenToo = parts.length == 4 && parts[3].matches(NUMBER);
        if (!(parts.length == 3 || tokenToo) || !parts[1].matches(NUMBER)) {
            return UNKNOWN;
        }
        Owner owner = new Owner(parts[0], Long.parseLong(parts[1]), parts[2]);
        return tokenToo ? owner.withToken(Long.parseLong(parts[3])) : owner;
    }
}
