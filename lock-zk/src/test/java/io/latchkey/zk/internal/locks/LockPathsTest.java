// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.BadPathException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which paths the front door takes, and what it says of the others. */
class LockPathsTest {
    @ParameterizedTest
    @ValueSource(strings = {"/zookeeper", "/zookeeper/quota"})
    void pathsOfTheServerAreRefused(String path) {
        assertThrows(BadPathException.class, () -> LockPaths.check(path));
    }

    /** A lock at the path above would wait for such a level, or refuse its path for it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "write-0123456789abcdef-0000000000",
                "read-0123456789abcdef--2147483648",
                "lease-0123456789abcdef-3-0000000007",
                "revoke-0123456789abcdef",
                "block-1700000000",
                "release-1700000000",
                "_c_0b1c2d3e-0000-4000-8000-000000000000-lock-0000000001",
                "x__READ__0000000001",
                "x__WRIT__-2147483648",
                "0123456789abcdef0123456789abcdef__lock__0000000001",
                "x__rlock__0000000001"
            })
    void levelIsRefused_whenItReadsAsARequest(String level) {
        for (String path : new String[] {"/stock/" + level, "/stock/" + level + "/below", '/' + level}) {
            BadPathException refused = assertThrows(BadPathException.class, () -> LockPaths.check(path));
            assertTrue(
                    refused.getMessage().contains('"' + level + "\" has the form of a request's name"),
                    refused.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "order-1700000000",
                "write-1",
                "read-2026",
                "lease-0123456789abcdef",
                "write-0123456789abcdef",
                "lock-12",
                "block-170000000",
                "block-9999999999",
                "lock-00000000001x",
                "lock",
                "locks",
                "leases",
                "revoke",
                "revoke-17",
                "year-2026",
                "0000000001",
                "-0000000001"
            })
    void levelIsTaken_whenItIsAnOrdinaryName(String level) {
        assertEquals("/stock/" + level, LockPaths.check("/stock/" + level));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/zookeeper-jobs", "/zookeeper-jobs/backup", "/zookeepers/a", "/jobs/zookeeper"})
    void pathIsTaken_whenItOnlyResemblesOneOfTheServer(String path) {
        assertEquals(path, LockPaths.check(path));
    }

    /** Java has each of them as two surrogates, which ZooKeeper refuses. */
    @ParameterizedTest
    @ValueSource(strings = {"/orders/\ud83d\ude00", "/orders/\ud83d\ude00/lines", "/\ud800\udc00", "/\udbff\udfff"})
    void pathIsRefused_whenACharacterIsBeyondTheBasicPlane(String path) {
        BadPathException refused = assertThrows(BadPathException.class, () -> LockPaths.check(path));
        assertTrue(refused.getMessage().contains("the character U+D"), refused.getMessage());
    }

    /** The ends of the ranges that ZooKeeper refuses, which it would find only when a request is sent. */
    @ParameterizedTest
    @ValueSource(ints = {0, 0x1f, 0x7f, 0x9f, 0xd800, 0xf8ff, 0xfff0, 0xffff})
    void pathIsRefused_whenACharacterIsTheFirstOrLastOfARangeThatIsNotAllowed(int character) {
        String path = "/a" + (char) character;
        BadPathException refused = assertThrows(BadPathException.class, () -> LockPaths.check(path));
        String named = String.format("the character U+%04X", character);
        assertTrue(refused.getMessage().contains(named), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {0x20, 0x7e, 0xa0, 0xd7ff, 0xf900, 0xffef})
    void pathIsTaken_whenACharacterIsBesideARangeThatIsNotAllowed(int character) {
        String path = "/a" + (char) character;
        assertEquals(path, LockPaths.check(path));
    }

    /** U+202E turns the text of a log around, U+0085 breaks its lines. */
    @Test
    void messageCanBePrinted_whenPathIsHostile() {
        BadPathException refused =
                assertThrows(BadPathException.class, () -> LockPaths.check("a\u202eb\ue000c\u200bd\u0085e"));
        assertTrue(
                refused.getMessage().contains("\" is not a valid lock path: it must begin with /"),
                refused.getMessage());
        assertFalse(Pattern.compile("\\p{C}").matcher(refused.getMessage()).find(), refused.getMessage());
    }
}
