// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Slowness;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A service that starts before the names of its ensemble resolve, in a JVM of its own with a file of names. */
@Tag("once")
@Timeout(120)
@Tag("slow")
class LateNamesTest {
    private static final String NAME = "zk-0.zk.late";

    /** Connects to a name that its file does not have yet, and prints the token of a lease. */
    static final class Service {
        private Service() {}

        public static void main(String[] args) throws InterruptedException {
            Thread building = Thread.currentThread();
            Thread watching = new Thread(() -> {
                while (building.getState() != Thread.State.TIMED_WAITING) {
                    LockSupport.parkNanos(1_000_000);
                }
                System.out.println("waiting for a connection");
            });
            watching.setDaemon(true);
            watching.start();
            try (ZkLockClient client = ZkLockClient.builder()
                    .connectString(args[0])
                    .connectTimeout(Duration.parse(args[1]))
                    .build()) {
                boolean valid = client.mutex("/m").call(Lease::isValid);
                System.out.println(valid);
            }
        }
    }

    @Test
    void clientConnects_whenItsNamesBeginToResolve(@TempDir Path folder) throws Exception {
        Path hosts = Files.writeString(folder.resolve("hosts"), "");
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            String port =
                    server.connectString().substring(server.connectString().lastIndexOf(':'));
            Process service = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Djdk.net.hosts.file=" + hosts,
                            "-Dsun.net.inetaddr.negative.ttl=0",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Service.class.getName(),
                            NAME + port,
                            Slowness.stretched(Duration.ofSeconds(30)).toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (BufferedReader said =
                    new BufferedReader(new InputStreamReader(service.getInputStream(), StandardCharsets.UTF_8))) {
                assertEquals("waiting for a connection", said.readLine());
                Files.writeString(hosts, "127.0.0.1 " + NAME + "\n");
                assertEquals(List.of("true"), said.lines().toList());
                assertEquals(0, service.waitFor());
            } finally {
                service.destroyForcibly();
            }
        }
    }
}
