// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The kit's own server with an older ZooKeeper on the class path, in a process of its own. */
@Tag("slow")
@Timeout(60)
class OldEmbeddedServerTest {
    private static final int SESSION_MILLIS = 20_000;

    @Test
    void counterOfChildrenIsRaised_withZooKeeper38() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        StandaloneServer.classPathOf("3.8.0"),
                        Main.class.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor(30, TimeUnit.SECONDS);
        assertEquals("/m/x-0000000041", said.strip());
    }

    static final class Main {
        private Main() {}

        public static void main(String[] args) throws Exception {
            try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
                create(server, "/m", CreateMode.PERSISTENT);
                server.setChildCounter("/m", 41);
                server.restart();
                System.out.println(create(server, "/m/x-", CreateMode.EPHEMERAL_SEQUENTIAL));
            }
        }

        private static String create(EmbeddedZooKeeper server, String path, CreateMode mode) throws Exception {
            ZooKeeper client = new ZooKeeper(server.connectString(), SESSION_MILLIS, event -> {});
            try {
                return client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, mode);
            } finally {
                client.close();
            }
        }
    }
}
