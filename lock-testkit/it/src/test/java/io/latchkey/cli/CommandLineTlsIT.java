// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.TlsSite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The jar of the command line against a server that takes TLS only. */
@Timeout(180)
class CommandLineTlsIT {
    @TempDir
    private static Path folder;

    @AutoClose
    private static TlsSite site;

    @BeforeAll
    static void start() throws Exception {
        site = TlsSite.in(folder);
        var clients = Map.of("client", site.right(), "stranger", site.config(TlsSite.Mistake.FOREIGN_AUTHORITY));
        for (var client : clients.entrySet()) {
            Properties file = new Properties();
            file.putAll(client.getValue());
            try (var out = Files.newBufferedWriter(folder.resolve(client.getKey() + ".properties"))) {
                file.store(out, null);
            }
        }
    }

    private static Program.Exit latchkey(String... args) throws InterruptedException {
        return Program.jarEnded(folder, site.servers(), List.of(), args);
    }

    @Test
    void commandRunsUnderALock_withTheClientsCertificate() throws Exception {
        Program.Exit ran = latchkey(
                "run", "--client-config", "client.properties", "--creator-only", "/tls/run", "--", "echo", "ran");
        assertEquals(0, ran.status(), ran::toString);
        assertEquals("ran\n", ran.out());
        Program.Exit listed = latchkey("ls", "--client-config", "client.properties", "/tls");
        assertEquals(0, listed.status(), listed::toString);
        assertEquals("", listed.err());
        assertTrue(listed.out().contains("/tls/run"), listed::toString);
    }

    @Test
    void mistakeIsExplained_withTheLogIfItIsAskedFor() throws Exception {
        // The first handshake of a process is in this time, beside a busy machine too.
        String time = "--connect-timeout=10s";
        Program.Exit plain = latchkey("ls", time);
        assertEquals(78, plain.status(), plain::toString);
        assertTrue(plain.err().contains("expects TLS at this port"), plain::toString);
        assertEquals(1, plain.err().lines().count(), plain::toString);

        Program.Exit stranger = latchkey("ls", "--client-config=stranger.properties", time, "--verbose");
        assertEquals(77, stranger.status(), stranger::toString);
        assertTrue(
                stranger.err().contains("latchkey: The ZooKeeper server " + site.servers() + " refuses"),
                stranger::toString);
        assertTrue(stranger.err().contains("latchkey: caused by javax.net.ssl."), stranger::toString);
        assertTrue(stranger.err().contains(" INFO "), stranger::toString);
    }
}
