// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.time.Eventually;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A ZooKeeper server in a JVM of its own, of any version and with any system properties, on a port of 127.0.0.1. */
public final class StandaloneServer extends AskedServers {
    private static final Duration STARTS_WITHIN = Duration.ofSeconds(30);

    private static final String PLAIN = "clientPort";

    private final TempFolder folder;
    private final ServerProcess process;

    private StandaloneServer(
            TempFolder folder,
            InetSocketAddress address,
            Stream<String> classPath,
            String portSetting,
            Stream<String> options) {
        super(List.of(address));
        this.folder = folder;
        List<String> config =
                List.of("tickTime=100", portSetting + "=" + address.getPort(), portSetting + "Address=127.0.0.1");
        this.process = new ServerProcess(
                folder.path(), 1, config, String.join(File.pathSeparator, classPath.toList()), options.toList());
    }

    /** A server of an older version. */
    public static StandaloneServer ofVersion(String version) throws IOException, InterruptedException {
        return start(Arrays.stream(classPathOf(version).split(File.pathSeparator)), PLAIN, Map.of());
    }

    /**
     * Returns the class path of servers of an older version, whose jars the build has put aside; everything else is of
     * our own class path.
     */
    public static String classPathOf(String version) {
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
        return String.join(File.pathSeparator, classPath);
    }

    /** A server of our own version. */
    public static StandaloneServer start(String portSetting, Map<String, String> systemProperties)
            throws IOException, InterruptedException {
        return start(ownClassPath(), portSetting, systemProperties);
    }

    private static Stream<String> ownClassPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator));
    }

    private static StandaloneServer start(
            Stream<String> classPath, String portSetting, Map<String, String> systemProperties)
            throws IOException, InterruptedException {
        TempFolder folder = new TempFolder("latchkey-server-");
        StandaloneServer made = new StandaloneServer(
                folder,
                Localhost.port(Ports.free()),
                classPath,
                portSetting,
                systemProperties.entrySet().stream().map(each -> "-D" + each.getKey() + "=" + each.getValue()));
        made.process.start();
        try {
            Eventually.holds(
                    "a server that serves",
                    STARTS_WITHIN,
                    () -> portSetting.equals(PLAIN) ? made.isServing(0) : made.listens());
            return made;
        } catch (AssertionError late) {
            String said = Files.readString(folder.path().resolve(ServerProcess.OUTPUT));
            made.close();
            throw new AssertionError("the server did not start: " + said, late);
        }
    }

    /** A port for TLS answers no four-letter command. */
    private boolean listens() {
        try (Socket probe = new Socket()) {
            probe.connect(addresses().get(0), 1000);
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    @Override
    public void close() {
        process.kill();
        folder.close();
    }
}
