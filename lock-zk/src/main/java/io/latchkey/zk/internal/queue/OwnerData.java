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
public record OwnerData(String host, long processId, String label, OptionalLong token) {
    public static final OwnerData UNKNOWN = new OwnerData("", 0, "");

    private static final String NUMBER = "(\\d{1,18})";
    private static final Pattern LINE = Pattern.compile("(\\S*):" + NUMBER + "(?:/" + NUMBER + ")?(?: (.+))?");

    public OwnerData(String host, long processId, String label) {
        this(host, processId, label, OptionalLong.empty());
    }

    public OwnerData withToken(long other) {
        return new OwnerData(host, processId, label, OptionalLong.of(other));
    }

    public OwnerData withLabel(String other) {
        return new OwnerData(host, processId, other, token);
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
    public static OwnerData parse(byte[] data) {
        Matcher line = LINE.matcher(new String(data, StandardCharsets.UTF_8));
        if (!line.matches()) {
            return UNKNOWN;
        }
        String host = line.group(1);
        String label = Optional.ofNullable(line.group(4)).orElse("");
        if (!PrintableText.isPrintable(host) || !PrintableText.isPrintable(label)) {
            return UNKNOWN;
        }
        OwnerData owner = new OwnerData(host, Long.parseLong(line.group(2)), label);
        String token = line.group(3);
        return token == null ? owner : owner.withToken(Long.parseLong(token));
    }
}
