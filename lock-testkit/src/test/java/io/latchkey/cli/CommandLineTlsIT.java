// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.StandaloneServer;
import io.latchkey.zk.TlsKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-jar",
                System.getProperty("latchkey.cli.jar")));
        command.addAll(List.of(args));
        Map<String, String> environment = Map.of("PATH", "/usr/bin:/bin", "LATCHKEY_CONNECT", server.connectString());
        try (Program program = Program.start(folder, environment, command)) {
            return program.ended(3);
        }
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
    void serversAreOutOfReach_withoutATrustedCertificate() throws Exception {
        Program.Ended plain = latchkey("ls", "--connect-timeout", "3s", "/");
        assertEquals(69, plain.status(), plain::toString);
        Program.Ended stranger =
                latchkey("ls", "--connect-timeout", "3s", "--client-config", "stranger.properties", "/");
        assertEquals(69, stranger.status(), stranger::toString);
    }

    @Test
    void fileThatCannotBeReadIsAnErrorOfTheCommandLine() throws Exception {
        Program.Ended missing = latchkey("ls", "--client-config", "missing.properties", "/");
        assertEquals(64, missing.status(), missing::toString);
        assertTrue(missing.err().contains("cannot read the file missing.properties"), missing::toString);
        assertFalse(missing.err().contains("\tat "), missing::toString);
    }
}
