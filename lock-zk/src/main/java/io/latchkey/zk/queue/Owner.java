// SPDX-License-Identifier: Apache-2.0
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
        String numbers = processId + (token.isPresent() ? " " + token.getAsLong() : "");
        return (host + SEPARATOR + numbers + SEPARATOR + label).getBytes(StandardCharsets.UTF_8);
    }

    /** The owner in {@code data}; {@link #UNKNOWN} when it cannot be read, as after a release's mark. */
    public static Owner parse(byte[] data) {
        String[] parts = new String(data, StandardCharsets.UTF_8).split("\n", 3);
        if (parts.length != 3 || !parts[1].matches(NUMBER + "( " + NUMBER + ")?")) {
            return UNKNOWN;
        }
        String[] numbers = parts[1].split(" ", 2);
        Owner owner = new Owner(parts[0], Long.parseLong(numbers[0]), parts[2]);
        return numbers.length == 1 ? owner : owner.withToken(Long.parseLong(numbers[1]));
    }
}
