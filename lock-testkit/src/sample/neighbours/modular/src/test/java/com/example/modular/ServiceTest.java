package com.example.modular;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the service as {@code java --module-path ... --class-path ...} does, against a server in this process. */
@Timeout(60)
class ServiceTest {
    @TempDir
    Path folder;

    @Test
    void serviceLocks_fromTheModulePath() throws Exception {
        System.setProperty("zookeeper.admin.enableServer", "false");
        ServerCnxnFactory server =
                ServerCnxnFactory.createFactory(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 60);
        server.startup(new ZooKeeperServer(folder.toFile(), folder.toFile(), 1000));
        try {
            Map<Boolean, List<String>> paths = Arrays.stream(
                            System.getProperty("java.class.path").split(File.pathSeparator))
                    .filter(entry -> !entry.endsWith("test-classes"))
                    .collect(Collectors.partitioningBy(entry -> entry.matches(".*(/lock-(api|zk)-[^/]*\\.jar|/classes)")));
            assertEquals(3, paths.get(true).size(), paths::toString);
            Process service = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            "--module-path", String.join(File.pathSeparator, paths.get(true)),
                            "--class-path", String.join(File.pathSeparator, paths.get(false)),
                            "--module", "com.example.modular/com.example.modular.Service",
                            "127.0.0.1:" + server.getLocalPort())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(service.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(service.waitFor(30, TimeUnit.SECONDS), said);
            assertEquals(
                    List.of("true com.example.modular io.latchkey.lock io.latchkey.zk"),
                    said.lines().filter(line -> !line.startsWith("SLF4J")).collect(Collectors.toList()));
        } finally {
            server.shutdown();
        }
    }
}
