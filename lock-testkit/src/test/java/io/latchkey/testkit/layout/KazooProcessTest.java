// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.latchkey.lock.Contender;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Beside kazoo, as Debian's python3-kazoo brings it. */
@DisabledOnOs(OS.WINDOWS)
class KazooProcessTest extends BesideProcesses {
    private static final List<String> INTERPRETERS = List.of("/usr/bin/python3", "python3");

    @TempDir
    static Path folder;

    private static String python = "";
    private static Path script = Path.of("");

    @BeforeAll
    static void findKazoo() throws IOException, InterruptedException {
        Optional<String> found = Optional.empty();
        for (String interpreter : INTERPRETERS) {
            if (found.isEmpty() && hasKazoo(interpreter)) {
                found = Optional.of(interpreter);
            }
        }
        assumeTrue(found.isPresent(), "no Python with kazoo here: apt-get install python3-kazoo");
        python = found.orElseThrow();
        script = folder.resolve("kazoo_client.py");
        try (InputStream source = KazooProcessTest.class.getResourceAsStream("kazoo_client.py")) {
            Files.copy(source, script, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static boolean hasKazoo(String interpreter) throws InterruptedException {
        try {
            Process asked = new ProcessBuilder(interpreter, "-c", "import kazoo")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return asked.waitFor(20, TimeUnit.SECONDS) && asked.exitValue() == 0;
        } catch (IOException none) {
            return false;
        }
    }

    @Override
    Layout layout() {
        return Layout.KAZOO;
    }

    @Override
    ForeignClient process(String servers, Duration session) {
        return ForeignClient.kazoo(python, script, servers, session);
    }

    /**
     * kazoo 2.8.0's {@code ReadLock} looks for the last writer of the whole queue: one that has to wait, and a writer
     * behind it, wait for each other, with kazoo alone as well. So its readers here never wait without a limit.
     */
    @Override
    boolean readersWaitInLine() {
        return false;
    }

    @Test
    void latchkeyRequest_isOneLineAmongKazoosContenders() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZkLockClient ours = ZkLockClient.builder()
                        .connectString(server.connectString())
                        .layout(Layout.KAZOO)
                        .ownerLabel("billing run")
                        .build()) {
            ours.mutex("/shown").acquire();
            Process kazoo = new ProcessBuilder(
                            python,
                            "-c",
                            "import sys; from kazoo.client import KazooClient; k = KazooClient(sys.argv[1]);"
                                    + " k.start(); print(k.Lock('/shown', 'batch').contenders())",
                            server.connectString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String shown = new String(kazoo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            String line = "\\['\\S*:" + ProcessHandle.current().pid() + " billing run'\\]";
            assertTrue(shown.strip().matches(line), shown);
            Contender holder = ours.mutex("/shown").queue().get(0);
            assertEquals("billing run", holder.label());
            assertEquals(ProcessHandle.current().pid(), holder.processId());
        }
    }

    /** kazoo makes sure of a path once for each lock object: were it a container, the server would take it away. */
    @Test
    void emptyPathIsKept() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZkLockClient ours = ZkLockClient.builder()
                        .connectString(server.connectString())
                        .layout(Layout.KAZOO)
                        .build()) {
            ours.mutex("/stays/here").acquire().close();
            assertEquals(List.of(), server.reapContainers());
            assertEquals(
                    List.of("/stays", "/stays/here"),
                    server.nodesUnder("/").stream().map(ServerNode::path).toList());
            assertThrows(UnsupportedOperationException.class, () -> ours.semaphore("/s", 1));
        }
    }
}
