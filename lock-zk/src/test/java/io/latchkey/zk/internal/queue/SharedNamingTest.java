// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names of requests of Curator 5.9.0 and kazoo 2.8.0, and Latchkey's names in their layouts. */
class SharedNamingTest {
    private static final String ID = "00ff00ff12345678";
    private static final String CURATORS = "_c_8b9e6a1c-0b1f-4b41-9a55-0123456789ab-";
    private static final String KAZOOS = "8b9e6a1c0b1f4b419a550123456789ab";

    @ParameterizedTest
    @CsvSource({
        "MUTEX, WRITE, _c_4c617463-686b-6579-00ff-00ff12345678-lock-",
        "READ_WRITE, WRITE, _c_4c617463-686b-6579-00ff-00ff12345678-__WRIT__",
        "READ_WRITE, READ, _c_4c617463-686b-6579-00ff-00ff12345678-__READ__",
        "SEMAPHORE, LEASE, _c_4c617463-686b-6579-00ff-00ff12345678-lease-"
    })
    void curatorsNamesAreReadAsTheyAreWritten(Kind kind, Tag tag, String prefix) {
        assertReadAsWritten(SharedNaming.curator(), kind, tag, prefix);
        UUID.fromString(prefix.substring(3, 39));
    }

    @ParameterizedTest
    @CsvSource({
        "MUTEX, WRITE, 4c617463686b657900ff00ff12345678__lock__",
        "READ_WRITE, WRITE, 4c617463686b657900ff00ff12345678__lock__",
        "READ_WRITE, READ, 4c617463686b657900ff00ff12345678__rlock__"
    })
    void kazoosNamesAreReadAsTheyAreWritten(Kind kind, Tag tag, String prefix) {
        assertReadAsWritten(SharedNaming.kazoo(), kind, tag, prefix);
    }

    private static void assertReadAsWritten(Naming naming, Kind kind, Tag tag, String prefix) {
        assertEquals(prefix, naming.prefix(kind, tag, ID, 1));
        NodeName name = naming.parse(prefix + "0000000042").orElseThrow();
        assertEquals(new NodeName(tag, ID, 1, 42, prefix + "0000000042"), name);
        assertTrue(naming.isOf(name, kind));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0000000000", "0123456789", "-2147483648", "-1000000000", "2147483647"})
    void numberIsAnyThatTheServerAppends(String number) {
        for (Naming naming : List.of(Namings.CURATOR, Namings.KAZOO)) {
            String text = naming.prefix(Kind.MUTEX, Tag.WRITE, ID, 1) + number;
            NodeName name = naming.parse(text).orElseThrow();
            assertEquals(Integer.parseInt(number), name.sequence());
            assertTrue(naming.isOf(name, Kind.MUTEX));
        }
    }

    /** Only names in Latchkey's form have an id of Latchkey. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "_c_4c617463-686b-6579-00f",
                "_c_4c617463-686b-6579-00ff-00ff123456789-",
                "_c_4c617463-686b-6579-00ff00-ff12345678-",
                "_c_4c617463-686b-6579-00ff-00ff12345678"
            })
    void idIsTheWholeHead_whenLatchkeyDidNotGiveTheName(String head) {
        assertEquals(
                head,
                Namings.CURATOR.parse(head + "lock-0000000001").orElseThrow().id());
    }

    @Test
    void unsupportedKindIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Namings.KAZOO.prefix(Kind.SEMAPHORE, Tag.LEASE, ID, 1));
        assertThrows(IllegalArgumentException.class, () -> Namings.CURATOR.prefix(Kind.MUTEX, Tag.READ, ID, 1));
    }

    @ParameterizedTest
    @ValueSource(strings = {CURATORS + "lock-", "lock-", "whatever-lock-", "_c_4c617463-686b-6579-00ff-lock-"})
    void foreignNameNeedsOnlyMarkerAndNumber(String prefix) {
        NodeName name = Namings.CURATOR.parse(prefix + "0000000007").orElseThrow();
        assertEquals(Tag.WRITE, name.tag());
        assertEquals(7, name.sequence());
        assertEquals(prefix.substring(0, prefix.length() - "lock-".length()), name.id());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0000000007",
                "notes",
                "lock-",
                "lock-7",
                "lock-00000000007",
                "lock-000000000x",
                "lock-+000000007",
                "lock--4000000000",
                "lock--0000000000",
                "lock--0999999999",
                "a__lock__-0000000000",
                "Lock-0000000007",
                "lock-0000000007-",
                "revoke-00ff00ff12345678"
            })
    void foreignNamesAreNoRequests(String child) {
        assertEquals(Optional.empty(), Namings.CURATOR.parse(child));
        assertEquals(Optional.empty(), Namings.KAZOO.parse(child));
    }

    /** A list shows what anyone has named, and a step of the engine reads it. */
    @Test
    void everyNameThatIsReadHasAKindAndTheNumberAtItsEnd() {
        List<String> numbers = List.of(
                "0000000000", "0000000001", "0999999999", "1000000000", "2147483647", "2147483648", "4294967296");
        int read = 0;
        for (String head : List.of("", "x", "-", CURATORS, KAZOOS, "_c_4c617463-686b-6579-00ff-00ff12345678-")) {
            for (String marker : List.of("", "lock-", "lease-", "__READ__", "__WRIT__", "__lock__", "__rlock__")) {
                for (String sign : List.of("", "-", "--", "+")) {
                    for (String number : numbers) {
                        read += kindsOf(head + marker + sign + number);
                    }
                }
            }
        }
        assertTrue(read > 100, "only " + read);
    }

    /** Returns in how many layouts it is the name of a request. */
    private static int kindsOf(String child) {
        int read = 0;
        for (Naming naming : List.of(Namings.CURATOR, Namings.KAZOO)) {
            Optional<NodeName> name = naming.parse(child);
            for (Kind kind : Kind.values()) {
                naming.otherUse(kind, child);
            }
            if (name.isPresent()) {
                read++;
                assertTrue(Stream.of(Kind.values()).anyMatch(kind -> naming.isOf(name.get(), kind)), child);
                assertTrue(
                        child.endsWith(
                                String.format(Locale.ROOT, "%010d", name.get().sequence())),
                        child);
            }
        }
        return read;
    }

    @Test
    void queueIsInTheOrderOfTheNumbers_forAllLayouts() {
        String ours = Namings.CURATOR.prefix(Kind.MUTEX, Tag.WRITE, ID, 1) + "0000000002";
        Queue queue = Queue.of(
                List.of(CURATORS + "lock-0000000010", ours, CURATORS + "lock-0000000001", "notes"),
                PathData.MUTEX,
                Namings.CURATOR);
        assertEquals(
                List.of(1, 2, 10),
                queue.requests().stream().map(NodeName::sequence).toList());
        assertEquals(Optional.empty(), queue.otherUse());
    }

    /** Curator and kazoo compare numbers as text, where a minus sign comes before every digit. */
    @Test
    void requestAfterTheOverflow_isAheadOfAllOthers() {
        for (Naming naming : List.of(Namings.CURATOR, Namings.KAZOO)) {
            String prefix = naming.prefix(Kind.MUTEX, Tag.WRITE, ID, 1);
            Queue queue = Queue.of(
                    List.of(prefix + "2147483647", prefix + "-2147483648", prefix + "0000000001"),
                    PathData.MUTEX,
                    naming);
            assertEquals(
                    List.of(Integer.MIN_VALUE, 1, Integer.MAX_VALUE),
                    queue.requests().stream().map(NodeName::sequence).toList());
        }
    }

    @Test
    void downgradedReaderKeepsTheWritersPlace() {
        String text = Namings.CURATOR.prefix(Kind.READ_WRITE, Tag.WRITE, ID, 1) + "0000000042";
        NodeName read = Namings.CURATOR.inPlace(Namings.CURATOR.parse(text).orElseThrow(), Tag.READ);
        assertEquals("_c_4c617463-686b-6579-00ff-00ff12345678-__READ__0000000042", read.text());
        assertEquals(Tag.READ, read.tag());
        assertEquals(ID, read.id());
        String kazoos = KAZOOS + "__lock__0000000042";
        assertEquals(
                KAZOOS + "__rlock__0000000042",
                Namings.KAZOO
                        .inPlace(Namings.KAZOO.parse(kazoos).orElseThrow(), Tag.READ)
                        .text());
    }

    @ParameterizedTest
    @CsvSource({
        "MUTEX, _c_x-__READ__0000000001, Curator's read-write lock, true",
        "READ_WRITE, _c_x-lock-0000000001, Curator's mutex, true",
        "MUTEX, write-00ff00ff12345678-0000000001, a lock of Latchkey in its own layout, false"
    })
    void child_showsTheOtherUseOfThePath(Kind kind, String child, String use, boolean sameLayout) {
        PathData asked = kind == Kind.MUTEX ? PathData.MUTEX : PathData.READ_WRITE;
        Queue queue = Queue.of(List.of("notes", child), asked, Namings.CURATOR);
        assertEquals(List.of(), queue.requests());
        assertEquals(Optional.of(new OtherUse(child, use, sameLayout)), queue.otherUse());
    }

    @Test
    void latchkeysOwnLayoutRecognisesTheOthers() {
        assertEquals(
                Optional.of(new OtherUse(CURATORS + "lock-0000000001", "a lock of Curator", false)),
                Queue.of(List.of(CURATORS + "lock-0000000001")).otherUse());
        assertEquals(
                Optional.of(new OtherUse(KAZOOS + "__lock__0000000001", "a lock of kazoo", false)),
                Queue.of(List.of(KAZOOS + "__lock__0000000001")).otherUse());
        assertEquals(
                Optional.empty(),
                Queue.of(List.of("notes", "revoke-00ff00ff12345678")).otherUse());
    }

    @Test
    void kazoosMutexAndWriteLockAreOne() {
        NodeName name = Namings.KAZOO.parse(KAZOOS + "__lock__0000000001").orElseThrow();
        assertTrue(Namings.KAZOO.isOf(name, Kind.MUTEX));
        assertTrue(Namings.KAZOO.isOf(name, Kind.READ_WRITE));
        NodeName reader = Namings.KAZOO.parse(KAZOOS + "__rlock__0000000001").orElseThrow();
        assertFalse(Namings.KAZOO.isOf(reader, Kind.SEMAPHORE));
    }

    /** kazoo makes sure of a path once for each lock object: were it a container, the server would delete it. */
    @Test
    void emptyPathsOfKazooAreKept() {
        assertTrue(Namings.KAZOO.keepsEmptyPaths());
        assertFalse(Namings.CURATOR.keepsEmptyPaths());
    }

    @Test
    void requestsOfOtherLayouts_areDescribed() {
        NodeName curators = Namings.CURATOR.parse("lock-0000000001").orElseThrow();
        NodeName kazoos = Namings.KAZOO.parse(KAZOOS + "__lock__0000000001").orElseThrow();
        assertEquals(new OwnerData("10.0.0.1", 0, ""), Namings.CURATOR.owner(curators, "10.0.0.1".getBytes(UTF_8)));
        assertEquals(new OwnerData("", 0, "worker:7 b"), Namings.KAZOO.owner(kazoos, "worker:7 b".getBytes(UTF_8)));
        assertEquals(OwnerData.UNKNOWN, Namings.CURATOR.owner(curators, new byte[] {0, 1, 2}));
    }

    @Test
    void nodeIsAnothers_whenItsIdIsOnlyAsLongAsLatchkeys() {
        NodeName name = Namings.KAZOO.parse(ID + "__lock__0000000001").orElseThrow();
        assertEquals(ID, name.id());
        assertEquals(new OwnerData("", 0, "worker:7 b"), Namings.KAZOO.owner(name, "worker:7 b".getBytes(UTF_8)));
    }

    @Test
    void nodesOfLatchkeyAmongOthers_sayTheirOwner() {
        OwnerData ours = new OwnerData("host", 7, "label");
        for (Naming naming : List.of(Namings.CURATOR, Namings.KAZOO)) {
            String text = naming.prefix(Kind.MUTEX, Tag.WRITE, ID, 1) + "0000000001";
            NodeName name = naming.parse(text).orElseThrow();
            assertEquals(ours, naming.owner(name, ours.data()));
            assertEquals(OwnerData.UNKNOWN, naming.owner(name, "__REVOKE__".getBytes(UTF_8)));
        }
    }
}
