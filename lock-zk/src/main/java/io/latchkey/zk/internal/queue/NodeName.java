// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The name of a request's node: {@code write-<id>-<sequence>}, {@code read-<id>-<sequence>} or {@code
 * lease-<id>-<permits>-<sequence>}. The only parser and formatter of such names; {@link SharedNaming} parses those of
 * other libraries (docs/protocol.md, "Nodes and names").
 *
 * @param tag the requested access
 * @param id the unique id of the request, {@value #ID_LENGTH} hexadecimal digits; any unique text for another library's
 *     request
 * @param permits the number of permits, 1 unless the lock is a semaphore
 * @param sequence the number that the server appended
 * @param text the node's name under the path
 */
public record NodeName(Tag tag, String id, int permits, int sequence, String text) {
    public static final int ID_LENGTH = 16;

    /** ZooKeeper appends {@code %010d} of an int, so an overflowed counter shows as a minus sign and ten digits. */
    static final int DIGITS = 10;

    /** A larger negative number has fewer digits: the sign is one of the ten characters. */
    private static final int LARGEST_OF_ELEVEN_CHARACTERS = -1_000_000_000;

    private static final String REVOCATION = "revoke-";

    private static final List<Tag> TAGS = List.of(Tag.values());

    /** From this number on, requests are withdrawn and the path is renewed (docs/protocol.md, "Counter overflow"). */
    static final int DRAIN_FROM = Integer.MAX_VALUE - (1 << 20);

    /** Sequence numbers below the largest int are unique and ordered; only forged names have equal numbers. */
    public static final Comparator<NodeName> QUEUE_ORDER =
            Comparator.comparingInt(NodeName::sequence).thenComparing(NodeName::text);

    /** Returns the name to send to the server, which appends the sequence number. */
    public static String prefix(Tag tag, String id, int permits) {
        return tag.text() + id + '-' + (tag == Tag.LEASE ? permits + "-" : "");
    }

    /**
     * Returns the name of this request's revocation node: a node beside the request's, to which other clients write to
     * ask for a release. A downgrade keeps it, since it keeps the id. It is not the name of a request, so no rule
     * counts it.
     */
    public String revocationNode() {
        return REVOCATION + id;
    }

    /** Returns whether {@code child} is a revocation node. */
    public static boolean isRevocationNode(String child) {
        return child.length() == REVOCATION.length() + ID_LENGTH
                && child.startsWith(REVOCATION)
                && isHex(child, REVOCATION.length(), child.length());
    }

    /** Parses {@code child}; empty if it is not a name of Latchkey's own layout. */
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
        OptionalInt sequence = appended(child, at);
        if (sequence.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new NodeName(tag, child.substring(idStart, idEnd), permits, sequence.getAsInt(), child));
    }

    /**
     * Returns the number in ten digits, perhaps behind a minus sign, at the end of {@code child}; empty if a server never
     * appends it in this form.
     */
    static OptionalInt appended(String child, int from) {
        long number = Long.parseLong(child, from, child.length(), 10);
        boolean isAppended = child.charAt(from) != '-' || number <= LARGEST_OF_ELEVEN_CHARACTERS;
        return isAppended && number == (int) number ? OptionalInt.of((int) number) : OptionalInt.empty();
    }

    /** Returns the name that replaces this one at its position in the queue, for the same request. */
    public NodeName inPlaceAs(Tag other) {
        String digits = text.substring(text.length() - DIGITS);
        return parse(prefix(other, id, permits) + digits).orElseThrow();
    }

    /** Returns whether the number does not tell the order any more, because the counter has reached its end. */
    public boolean overflowed() {
        return sequence < 0 || sequence == Integer.MAX_VALUE;
    }

    /** Returns whether the path must be renewed before this request can be served. */
    public boolean needsNewPath() {
        return overflowed() || sequence >= DRAIN_FROM;
    }

    /** Parses a positive int between two indexes; 0 if the text is not one in its usual form. */
    private static int positive(String s, int from, int to) {
        if (to - from > DIGITS || s.charAt(from) == '0' || !isDigits(s, from, to)) {
            return 0;
        }
        long number = Long.parseLong(s, from, to, 10);
        return number == (int) number ? (int) number : 0;
    }

    static boolean isDigits(String s, int from, int to) {
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
