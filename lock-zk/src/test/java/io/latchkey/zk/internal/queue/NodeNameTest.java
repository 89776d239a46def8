// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeNameTest {
    private static final String ID = "0123456789abcdef";

    private static final List<String> NAMES = List.of(
            "write-0123456789abcdef-0000000042",
            "read-0123456789abcdef-2147483647",
            "write-0123456789abcdef--2147483648",
            "lease-0123456789abcdef-3-0000000042",
            "lease-0123456789abcdef-2147483647-0123456789",
            "revoke-0123456789abcdef");
    /** Letters, digits, and the characters next to them. */
    private static final List<String> CHARACTERS =
            List.of("0", "1", "2", "3", "4", "8", "9", "a", "f", "A", "/", ":", "`", "g", "-");

    private static final Pattern FORM = Pattern.compile("(?:(?<lock>write|read)-(?<lockId>[0-9a-f]{16})"
            + "|lease-(?<leaseId>[0-9a-f]{16})-(?<permits>[1-9][0-9]*))-(?<sequence>-[1-9][0-9]{9}|[0-9]{10})");

    @Test
    void formattedNameIsParsed() {
        for (Tag tag : Tag.values()) {
            int permits = tag == Tag.LEASE ? 12 : 1;
            String text = NodeName.prefix(tag, ID, permits) + "0000000042";
            assertEquals(
                    new NodeName(tag, ID, permits, 42, text),
                    NodeName.parse(text).orElseThrow());
        }
    }

    @Test
    void namesAreShortEnoughForALongQueue() {
        assertTrue((NodeName.prefix(Tag.WRITE, ID, 1) + "0000000042").length() <= 37);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lease-0123456789abcdef-99999999999999999999-0000000042",
                "lock-0123456789abcdef-0000000042",
                "_c_01234567-lock-0000000042"
            })
    void foreignNamesAreNotOurs(String child) {
        assertTrue(NodeName.parse(child).isEmpty(), child);
    }

    /**
     * All truncations of a name, and all names with one character added, removed or replaced; a regular expression
     * judges.
     */
    @Test
    void namesThatDifferInOneCharacterFromARequestsOrAnEarsAreRead_whenTheyHaveTheForm() {
        for (String name : NAMES) {
            for (int at = 0; at <= name.length(); at++) {
                String head = name.substring(0, at);
                String tail = name.substring(at);
                assertReadByItsForm(head);
                assertReadByItsForm(head + tail.substring(Math.min(1, tail.length())));
                for (String c : CHARACTERS) {
                    assertReadByItsForm(head + c + tail);
                    assertReadByItsForm(head + c + tail.substring(Math.min(1, tail.length())));
                }
            }
        }
    }

    private static void assertReadByItsForm(String child) {
        Matcher form = FORM.matcher(child);
        boolean isRequest = form.matches() && isInt(form.group("permits")) && isInt(form.group("sequence"));
        Optional<NodeName> expected = isRequest
                ? Optional.of(new NodeName(
                        Tag.valueOf(
                                (form.group("lock") == null ? "lease" : form.group("lock")).toUpperCase(Locale.ROOT)),
                        form.group("lock") == null ? form.group("leaseId") : form.group("lockId"),
                        form.group("permits") == null ? 1 : Integer.parseInt(form.group("permits")),
                        Integer.parseInt(form.group("sequence")),
                        child))
                : Optional.empty();
        assertEquals(expected, NodeName.parse(child));
        assertEquals(child.matches("revoke-[0-9a-f]{16}"), NodeName.isRevocationNode(child), child);
    }

    private static boolean isInt(@Nullable String digits) {
        return digits == null || new BigInteger(digits).bitLength() < Integer.SIZE;
    }

    @Test
    void earIsThatOfTheRequest_whateverItsTag() {
        NodeName write = name("0000000042");
        NodeName read = write.inPlaceAs(Tag.READ);
        assertEquals("read-0123456789abcdef-0000000042", read.text());
        assertEquals("revoke-0123456789abcdef", write.revocationNode());
        assertEquals(write.revocationNode(), read.revocationNode());
        assertTrue(NodeName.isRevocationNode(write.revocationNode()));
    }

    @Test
    void exhaustedCounterGivesNoOrder() {
        assertFalse(name("2147483646").overflowed());
        assertTrue(name("2147483647").overflowed());
        assertTrue(name("-2147483648").overflowed());
        assertTrue(name("2147483646").needsNewPath());
        assertTrue(name("-2147483648").needsNewPath());
        assertTrue(name("2146435071").needsNewPath());
        assertFalse(name("2146435070").needsNewPath());
    }

    private static NodeName name(String sequence) {
        return NodeName.parse(NodeName.prefix(Tag.WRITE, ID, 1) + sequence).orElseThrow();
    }
}
