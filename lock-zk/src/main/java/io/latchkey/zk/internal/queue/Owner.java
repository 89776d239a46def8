// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The owner of a request as its node's data names it, for people and tools; no rule reads it. The data is one line,
 * which other libraries show unchanged: {@code worker-7:4711 billing}, or {@code worker-7:4711/85899345931 billing}
 * with the token of a downgraded lease. It is a claim that is not verified.
 *
 * @param host the name of the machine
 * @param processId the id of the process on it
 * @param label the label that the user gave this client; may be empty
 * @param token the token of the lease, if it is not the czxid of the node
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

    /**
     * Parses {@code data}. Returns {@link #UNKNOWN} if it is in another form, such as the mark of a release, or not
     * printable.
     */
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
