// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.StandaloneServer;
import io.latchkey.zk.TlsKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The jar of the command line against a server that takes TLS only. */
@Timeout(180)
class CommandLineTlsIT {
    @TempDir
    private static Path folder;

    private static StandaloneServer server;

    @BeforeAll
    static void start() throws Exception {
        TlsKeys keys = TlsKeys.in(folder);
        for (String name : List.of("client", "stranger")) {
            Properties file = new Properties();
            file.putAll(keys.clientConfig(name));
            try (var out = Files.newBufferedWriter(folder.resolve(name + ".properties"))) {
                file.store(out, null);
            }
        }
        server = keys.startServer();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Program.Ended latchkey(String... args) throws InterruptedException {
        return Program.jarEnded(folder, server.connectString(), List.of(), args);
    }

    @Test
    void commandRunsUnderALock_withTheClientsCertificate() throws Exception {
        Program.Ended ran = latchkey(
                "run", "--client-config", "client.properties", "--creator-only", "/tls/run", "--", "echo", "ran");
        assertEquals(0, ran.status(), ran::toString);
        assertEquals("ran\n", ran.out());
        Program.Ended listed = latchkey("ls", "--client-config", "client.properties", "/tls");
        assertEquals(0, listed.status(), listed::toString);
        assertEquals("", listed.err());
        assertTrue(listed.out().contains("/tls/run"), listed::toString);
    }

    @Test
    void mistakeIsExplained_withTheLogIfItIsAskedFor() throws Exception {
        Program.Ended plain = latchkey("ls", "--connect-timeout=2s");
        assertEquals(78, plain.status(), plain::toString);
        assertTrue(plain.err().contains("expects TLS at this port"), plain::toString);
        assertEquals(1, plain.err().lines().count(), plain::toString);

        Program.Ended stranger =
                latchkey("ls", "--client-config=stranger.properties", "--connect-timeout=2s", "--verbose");
        assertEquals(77, stranger.status(), stranger::toString);
        assertTrue(
                stranger.err().contains("latchkey: The ZooKeeper server " + server.connectString() + " refuses"),
                stranger::toString);
        assertTrue(stranger.err().contains("latchkey: caused by javax.net.ssl."), stranger::toString);
        assertTrue(stranger.err().contains(" INFO "), stranger::toString);
    }
}
