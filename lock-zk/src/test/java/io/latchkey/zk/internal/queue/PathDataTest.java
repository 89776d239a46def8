// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The data of paths and requests. The bytes are a format: changing them locks out older clients. */
class PathDataTest {
    private static final NodeName KAZOOS =
            Namings.KAZOO.parse("batch__lock__0000000001").orElseThrow();

    @Test
    void pathDataHasFormatKindAndCounts() {
        assertArrayEquals("latchkey/3 mutex".getBytes(UTF_8), PathData.MUTEX.bytes());
        assertArrayEquals("latchkey/3 read-write".getBytes(UTF_8), PathData.READ_WRITE.bytes());
        assertArrayEquals(
                "latchkey/3 semaphore 3 2 5".getBytes(UTF_8),
                PathData.semaphore(3).resized(5).resized(2).bytes());
    }

    /** A request from before the first of two shrinks may hold by that capacity. */
    @Test
    void largestCapacityIsKept_whenASecondShrinkFollows() {
        assertArrayEquals(
                "latchkey/3 semaphore 30 12 30".getBytes(UTF_8),
                PathData.semaphore(30).resized(20).resized(12).bytes());
    }

    @Test
    void writtenDataIsRead() {
        for (PathData data :
                List.of(PathData.MUTEX, PathData.READ_WRITE, PathData.semaphore(Integer.MAX_VALUE), resized())) {
            assertEquals(Optional.of(data), PathData.parse(data.bytes()));
        }
    }

    @Test
    void unknownDataIsNotRead() {
        for (String data : List.of(
                "",
                "latchkey/3 ",
                "latchkey/3 mutex\n",
                "latchkey/4 mutex",
                "latchkey/2 mutex",
                "latchkey/2 read-write",
                "latchkey/2 semaphore 3 3 3",
                "latchkey/3 mutex 1",
                "latchkey/3 semaphore",
                "latchkey/3 semaphore 3 3",
                "latchkey/3 semaphore 3 0 3",
                "latchkey/3 semaphore 3 3 99999999999")) {
            assertEquals(Optional.empty(), PathData.parse(data.getBytes(UTF_8)), data);
        }
    }

    /** A newer client's, whose requests this one does not understand. Data of other programs is none of Latchkey's. */
    @Test
    void dataIsOfAnotherVersion_ifItIsLatchkeysAndNotRead() {
        assertTrue(PathData.isOfAnotherVersion("latchkey/4 mutex".getBytes(UTF_8)));
        assertFalse(PathData.isOfAnotherVersion(PathData.MUTEX.bytes()));
        assertFalse(PathData.isOfAnotherVersion("127.0.0.1".getBytes(UTF_8)));
    }

    @Test
    void clientsMustAgreeOnKindAndDeclaredPermitsOnly() {
        assertTrue(resized().agreesWith(PathData.semaphore(3)));
        assertFalse(PathData.semaphore(2).agreesWith(PathData.semaphore(3)));
        assertFalse(PathData.MUTEX.agreesWith(PathData.READ_WRITE));
    }

    @Test
    void dataIsDescribedForPeople() {
        assertEquals("semaphore of 3 permits", PathData.describe(resized().bytes()));
        assertEquals("semaphore of 1 permit", PathData.semaphore(1).describe());
        assertEquals("mutex", PathData.MUTEX.describe());
        assertEquals("read-write lock", PathData.READ_WRITE.describe());
        assertEquals(
                "data that this version does not know: \"127.0.0.1?\"",
                PathData.describe("127.0.0.1\n".getBytes(UTF_8)));
        assertEquals(
                "data that this version does not know: \"latchkey/1 mutex\"",
                PathData.describe("latchkey/1 mutex".getBytes(UTF_8)));
        assertTrue(PathData.describe("x".repeat(80).getBytes(UTF_8)).endsWith("\"" + "x".repeat(80) + "\""));
        assertTrue(PathData.describe("x".repeat(81).getBytes(UTF_8)).endsWith("\"" + "x".repeat(80) + "\u2026\""));
        assertTrue(
                PathData.describe("evil\u202e\u009b\u001b]0;".getBytes(UTF_8)).endsWith("\"evil???]0;\""));
    }

    private static PathData resized() {
        return PathData.semaphore(3).resized(5);
    }

    @Test
    void requestData_namesTheOwnerInOneLine() {
        OwnerData owner = new OwnerData("host-1", 4711, "a label: 7/8");
        assertEquals("host-1:4711 a label: 7/8", new String(owner.data(), UTF_8));
        assertEquals(
                "host-1:4711/77 a label: 7/8", new String(owner.withToken(77).data(), UTF_8));
        assertEquals("host-1:4711", new String(new OwnerData("host-1", 4711, "").data(), UTF_8));
        assertEquals(new OwnerData("host-1", 4711, "invoice 7"), owner.withLabel("invoice 7"));
        // From its 24th epoch on, an ensemble gives tokens of twelve digits and more.
        for (OwnerData each : List.of(
                owner,
                owner.withToken(77),
                owner.withToken(24L << 32),
                owner.withToken(1L << 59),
                new OwnerData("", 1, ""),
                new OwnerData("fe80::1", 1, " "))) {
            assertEquals(each, OwnerData.parse(each.data()));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "127.0.0.1",
                "host 4711 label",
                "host:pid label",
                "host:99999999999999999999",
                "host:1/no-token label",
                "host:1/ label",
                "two words:1 label",
                // The former format, of three lines.
                "host\n4711\nlabel"
            })
    void unknownOwnerData_isUnknown(String data) {
        assertEquals(OwnerData.UNKNOWN, OwnerData.parse(data.getBytes(UTF_8)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil\u001b]0;owned\u0007:7 label",
                "host:7/99 fine\n2026-11-23 ERROR forged",
                "host:7 \u009b2J",
                "host:7 \u202egnp.exe",
                "host:7 \u007f",
                "host:7 \u200b"
            })
    void invisibleCharactersInOwnerData_areUnknown(String data) {
        assertEquals(OwnerData.UNKNOWN, OwnerData.parse(data.getBytes(UTF_8)));
        assertEquals(OwnerData.UNKNOWN, Namings.KAZOO.owner(KAZOOS, data.getBytes(UTF_8)));
    }

    @Test
    void longOwnerData_isUnknown() {
        OwnerData longest = new OwnerData("h".repeat(256), 7, "\u4e00".repeat(256));
        assertEquals(longest, OwnerData.parse(longest.data()));
        assertEquals(OwnerData.UNKNOWN, OwnerData.parse(new OwnerData("h".repeat(257), 7, "").data()));
        assertEquals(OwnerData.UNKNOWN, OwnerData.parse(new OwnerData("h", 7, "x".repeat(257)).data()));
    }
}
