// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The maker of a request as its node's data says it, for people and tools; no rule reads it. The data is one line, which
 * other libraries show as it is: {@code worker-7:4711 billing}, and {@code worker-7:4711/85899345931 billing} with the
 * token of a downgraded lease. Nothing proves what it says.
 *
 * @param host the name of the machine
 * @param processId the process on it
 * @param label what the user calls this client, may be empty
 * @param token the token of its lease, where that is not the number by which its node was created
 */
public record Owner(String host, long processId, String label, OptionalLong token) {
    public static final Owner UNKNOWN = new Owner("", 0, "");

    private static final String NUMBER = "(\\d{1,18})";
    private static final Pattern LINE = Pattern.compile("(\\S*):" + NUMBER + "(?:/" + NUMBER + ")?(?: (.+))?");

    public Owner(String host, long processId, String label) {
        this(host, processId, label, OptionalLong.empty());
    }

    public Owner withToken(long other) {
        return new Owner(host, processId, label, OptionalLong.of(other));
    }

    public Owner withLabel(String other) {
        return new Owner(host, processId, other, token);
    }

    public byte[] data() {
        String claimed = token.isPresent() ? "/" + token.getAsLong() : "";
        String called = label.isEmpty() ? "" : " " + label;
        return (host + ':' + processId + claimed + called).getBytes(StandardCharsets.UTF_8);
    }

    /** The owner in {@code data}; {@link #UNKNOWN} if it cannot be read, as after a release's mark, or not be printed. */
    public static Owner parse(byte[] data) {
        Matcher line = LINE.matcher(new String(data, StandardCharsets.UTF_8));
        if (!line.matches()) {
            return UNKNOWN;
        }
        String host = line.group(1);
        String label = Optional.ofNullable(line.group(4)).orElse("");
        if (!PrintableText.isPrintable(host) || !PrintableText.isPrintable(label)) {
            return UNKNOWN;
        }
        Owner owner = new Owner(host, Long.parseLong(line.group(2)), label);
        String token = line.group(3);
        return token == null ? owner : owner.withToken(Long.parseLong(token));
    }
}
