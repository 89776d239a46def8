// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The name of a request's node: {@code write-<id>-<sequence>}, {@code read-<id>-<sequence>} or
 * {@code lease-<id>-<permits>-<sequence>}. The one parser and formatter of such names; {@link SharedNaming} is that of
 * other libraries' names (docs/protocol.md, "Nodes and names").
 *
 * @param tag what is asked for
 * @param id the unique id of the request, {@value #ID_LENGTH} hexadecimal digits; of another library's whatever is unique
 * @param permits the permits asked for, 1 for everything but a semaphore
 * @param sequence the number that the server appended
 * @param text the name as it stands under the path
 */
public record NodeName(Tag tag, String id, int permits, int sequence, String text) {
    public static final int ID_LENGTH = 16;

    /** ZooKeeper appends {@code %010d} of an int, so a wrapped counter shows as a minus sign and ten digits. */
    private static final int DIGITS = 10;

    private static final String EAR = "ear-";

    private static final List<Tag> TAGS = List.of(Tag.values());

    /** From here on requests withdraw and the path is made anew (docs/protocol.md, "Counter overflow"). */
    static final int DRAIN_FROM = Integer.MAX_VALUE - (1 << 20);

    /** Sequence numbers are unique and ordered below the largest int; ties can only be forged. */
    public static final Comparator<NodeName> QUEUE_ORDER =
            Comparator.comparingInt(NodeName::sequence).thenComparing(NodeName::text);

    /** The name to ask the server for, to which it appends the sequence number. */
    public static String prefix(Tag tag, String id, int permits) {
        return tag.text() + id + '-' + (tag == Tag.LEASE ? permits + "-" : "");
    }

    /**
     * The name of the ear that the holder of this request may have: a node beside the request's, to which others write
     * when they ask it to let go. The same through a downgrade, since the id is. No request's name, so that no rule sees
     * it.
     */
    public String ear() {
        return EAR + id;
    }

    /** Whether {@code child} is somebody's ear. */
    public static boolean isEar(String child) {
        return child.length() == EAR.length() + ID_LENGTH
                && child.startsWith(EAR)
                && isHex(child, EAR.length(), child.length());
    }

    /** The name in {@code child}, or empty when it is not one of ours. */
    public static Optional<NodeName> parse(String child) {
        for (Tag tag : TAGS) {
            if (child.startsWith(tag.text())) {
                return parse(tag, child);
            }
        }
        return Optional.empty();
    }

    private static Optional<NodeName> parse(Tag tag, String child) {
        int idStart = tag.text().length();
        int idEnd = idStart + ID_LENGTH;
        if (child.length() <= idEnd || child.charAt(idEnd) != '-' || !isHex(child, idStart, idEnd)) {
            return Optional.empty();
        }
        int at = idEnd + 1;
        int permits = 1;
        if (tag == Tag.LEASE) {
            int dash = child.indexOf('-', at);
            permits = dash <= at ? 0 : positive(child, at, dash);
            if (permits == 0) {
                return Optional.empty();
            }
            at = dash + 1;
        }
        boolean negative = at < child.length() && child.charAt(at) == '-';
        int digitsFrom = negative ? at + 1 : at;
        if (child.length() - digitsFrom != DIGITS || !isDigits(child, digitsFrom, child.length())) {
            return Optional.empty();
        }
        long sequence = Long.parseLong(child, at, child.length(), 10);
        if (sequence != (int) sequence) {
            return Optional.empty();
        }
        return Optional.of(new NodeName(tag, child.substring(idStart, idEnd), permits, (int) sequence, child));
    }

    /** The name of a node that stands in this one's place in the queue, of the same request. */
    public NodeName inPlaceAs(Tag other) {
        String digits = text.substring(text.length() - DIGITS);
        return parse(prefix(other, id, permits) + digits).orElseThrow();
    }

    /** Whether the number says nothing about the order: the counter has come to its end. */
    public boolean overflowed() {
        return sequence < 0 || sequence == Integer.MAX_VALUE;
    }

    /** Whether the path must be drained and made anew before this request can be served. */
    public boolean needsNewPath() {
        return overflowed() || sequence >= DRAIN_FROM;
    }

    /** The positive int between two places, as it is formatted; 0 if something else stands there. */
    private static int positive(String s, int from, int to) {
        if (to - from > DIGITS || s.charAt(from) == '0' || !isDigits(s, from, to)) {
            return 0;
        }
        long number = Long.parseLong(s, from, to, 10);
        return number == (int) number ? (int) number : 0;
    }

    private static boolean isDigits(String s, int from, int to) {
        for (int i = from; i < to; i++) {
            if (s.charAt(i) < '0' || s.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    private static boolean isHex(String s, int from, int to) {
        for (int i = from; i < to; i++) {
            char c = s.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return true;
    }
}
