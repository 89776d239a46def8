// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.cli.InThisJvm;
import io.latchkey.cli.Program;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.TlsMistakes.Mistake;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Twelve mistakes with TLS: each has a message of its own, that names what is to be corrected, in the library and by the
 * command.
 */
@Timeout(180)
@Tag("slow")
class TlsMistakesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final Set<Mistake> SEEN = EnumSet.noneOf(Mistake.class);
    private static final Set<String> MESSAGES = new HashSet<>();

    @TempDir
    private static Path folder;

    private static TlsMistakes mistakes;

    @BeforeAll
    static void start() throws Exception {
        mistakes = TlsMistakes.in(folder);
    }

    @AfterAll
    static void stop() {
        mistakes.close();
        assertTrue(SEEN.size() < 2 || SEEN.containsAll(Arrays.asList(Mistake.values())), SEEN::toString);
        assertEquals(SEEN.size(), MESSAGES.size(), "two mistakes with one message");
    }

    private static ZkLockClient.Builder builder(String servers, Map<String, String> settings) {
        ZKClientConfig config = new ZKClientConfig();
        settings.forEach(config::setProperty);
        return ZkLockClient.builder().connectString(servers).clientConfig(config);
    }

    @Test
    void clientConnects_withoutAMistake() throws Exception {
        try (ZkLockClient client =
                builder(mistakes.servers(Mistake.EXPIRED), mistakes.right()).build()) {
            assertTrue(client.mutex("/right").tryAcquire().isPresent());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "FOREIGN_AUTHORITY | TLS_REFUSED | stranger.p12 has no certificate of an authority that the server accepts",
                "EXPIRED | TLS_REFUSED | refuses the certificate CN=late of this client, issued by CN=authority",
                "NO_CERTIFICATE | TLS_REFUSED | refuses a client without a certificate",
                "SERVER_NOT_TRUSTED | TLS_REFUSED | no authority that this client trusts has signed it",
                "WRONG_HOST | TLS_REFUSED | it is not for this host",
                "WRONG_PASSWORD | TLS_MISCONFIGURED | client.p12 (zookeeper.ssl.keyStore.location) cannot be opened: its password is another one",
                "MISSING_STORE | TLS_MISCONFIGURED | missing.p12 (zookeeper.ssl.keyStore.location) does not exist",
                "NIO_SOCKET | TLS_MISCONFIGURED | is org.apache.zookeeper.ClientCnxnSocketNIO, which has no TLS",
                "NO_SOCKET | TLS_MISCONFIGURED | no socket is named",
                "NOT_SECURE | TLS_MISCONFIGURED | keyStore.location is set, but zookeeper.client.secure is not true",
                "PLAIN_AT_TLS | TLS_MISCONFIGURED | expects TLS at this port, and this client is configured without TLS",
                "TLS_AT_PLAIN | TLS_MISCONFIGURED | has no TLS at this port",
            })
    void mistakeHasAMessageOfItsOwn(Mistake mistake, Reason reason, String said) throws IOException {
        long start = System.nanoTime();
        LockServiceUnavailableException refused = assertThrows(LockServiceUnavailableException.class, () -> builder(
                        mistakes.servers(mistake), mistakes.config(mistake))
                .connectTimeout(PATIENCE)
                .build());
        Duration took = Duration.ofNanos(System.nanoTime() - start);

        SEEN.add(mistake);
        MESSAGES.add(refused.getMessage());
        String all = refused.getMessage();
        boolean atTheDoor =
                switch (mistake) {
                    case WRONG_PASSWORD, MISSING_STORE, NIO_SOCKET, NO_SOCKET -> true;
                    default -> false;
                };
        assertAll(
                () -> assertTrue(all.contains(said), all),
                () -> assertEquals(reason, refused.reason(), all),
                () -> assertFalse(all.contains("secret-but-wrong"), all),
                () -> assertTrue(all.contains("Nothing was sent"), all),
                () -> assertTrue(all.length() < 600, all),
                () -> assertTrue(!atTheDoor || took.compareTo(PATIENCE) < 0, took + " for what is seen at once"));
        assertCommandSays(mistake, reason, said);
    }

    /** The command says the same, in one line. */
    private static void assertCommandSays(Mistake mistake, Reason reason, String said) throws IOException {
        Properties config = new Properties();
        config.putAll(mistakes.config(mistake));
        Path file = folder.resolve(mistake + ".properties");
        try (Writer out = Files.newBufferedWriter(file)) {
            config.store(out, null);
        }
        Program.Ended ended =
                InThisJvm.latchkey(mistakes.servers(mistake), "ls", "--connect-timeout=1s", "--client-config=" + file);

        assertAll(
                () -> assertEquals(reason == Reason.TLS_REFUSED ? 77 : 78, ended.status(), ended::toString),
                () -> assertTrue(ended.err().contains(said), ended::toString),
                () -> assertEquals(1, ended.err().lines().count(), ended::toString),
                () -> assertEquals("", ended.out()));
    }
}
