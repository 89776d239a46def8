// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.server.Ports;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A ZooKeeper server in a JVM of its own, of any version and with any settings, on a port of 127.0.0.1. */
public final class ServerProcess implements AutoCloseable {
    private static final Duration STARTS_WITHIN = Duration.ofSeconds(30);

    private final Path folder;
    private final int port;
    private final List<String> command;
    private final Map<String, String> settings;
    private Process process;

    private ServerProcess(Path folder, int port, List<String> command, Map<String, String> settings) {
        this.folder = folder;
        this.port = port;
        this.command = command;
        this.settings = settings;
    }

    /** A server of an older version, whose jars the build has put aside; everything else is of our own class path. */
    static ServerProcess ofVersion(String version) throws IOException, InterruptedException {
        Path jars = Path.of(System.getProperty("latchkey.old.servers", "target/old-servers"));
        List<String> classPath = new ArrayList<>();
        for (String jar : List.of("zookeeper-" + version + ".jar", "zookeeper-jute-" + version + ".jar")) {
            Path old = jars.resolve(jar);
            if (!Files.exists(old)) {
                throw new IllegalStateException(old.toAbsolutePath() + " is missing: the build copies it there");
            }
            classPath.add(old.toString());
        }
        ownClassPath()
                .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("zookeeper-"))
                .forEach(classPath::add);
        return start(classPath, "clientPort", Map.of(), Map.of());
    }

    /** One of our own version. */
    static ServerProcess start(String portSetting, Map<String, String> settings, Map<String, String> systemProperties)
            throws IOException, InterruptedException {
        return start(ownClassPath().toList(), portSetting, settings, systemProperties);
    }

    private static Stream<String> ownClassPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator));
    }

    private static ServerProcess start(
            List<String> classPath,
            String portSetting,
            Map<String, String> settings,
            Map<String, String> systemProperties)
            throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("latchkey-server-");
        int port = Ports.free();
        Map<String, String> all = new LinkedHashMap<>();
        all.put("dataDir", folder.toString());
        all.put(portSetting, Integer.toString(port));
        all.put(portSetting + "Address", "127.0.0.1");
        all.put("tickTime", "100");
        all.put("maxSessionTimeout", "60000");
        all.putAll(settings);
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-Dzookeeper.jmx.log4j.disable=true",
                "-Dzookeeper.admin.enableServer=false"));
        systemProperties.forEach((name, value) -> command.add("-D" + name + "=" + value));
        command.addAll(List.of(
                "-cp",
                classPath.stream().collect(Collectors.joining(File.pathSeparator)),
                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                folder.resolve("zoo.cfg").toString()));
        ServerProcess made = new ServerProcess(folder, port, command, all);
        made.launch();
        return made;
    }

    private void launch() throws IOException, InterruptedException {
        String id = settings.get("myid");
        if (id != null) {
            Files.writeString(folder.resolve("myid"), id);
        }
        List<String> lines = new ArrayList<>();
        settings.forEach((name, value) -> lines.add(name + "=" + value));
        Files.write(folder.resolve("zoo.cfg"), lines);
        Path out = folder.resolve("out");
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        try {
            awaitListening();
        } catch (AssertionError | RuntimeException late) {
            String said = Files.readString(out);
            close();
            throw new AssertionError("the server did not start: " + said, late);
        }
    }

    void kill() {
        try {
            process.destroyForcibly().waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitListening() throws InterruptedException {
        Eventually.holds("a server that listens, or none any more", STARTS_WITHIN, () -> {
            if (!process.isAlive()) {
                return true;
            }
            try (Socket probe = new Socket()) {
                probe.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
                return true;
            } catch (IOException notYet) {
                return false;
            }
        });
        if (!process.isAlive()) {
            throw new IllegalStateException("it ended with " + process.exitValue());
        }
    }

    public String connectString() {
        return "127.0.0.1:" + port;
    }

    @Override
    public void close() {
        kill();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException cannot) {
            throw new UncheckedIOException("cannot delete " + folder, cannot);
        }
    }
}
