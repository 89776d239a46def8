package com.example.neighbours;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.zk.ZkLockClient;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Curator and Latchkey over TLS in one process, beside ZooKeeper's server with Netty; and the jars on the class path. */
@Timeout(60)
class NeighboursTest {
    private static final Pattern JAR = Pattern.compile("(.+?)-(\\d[\\w.]*?)(?:-jre)?(?:-(?:linux|osx|windows)-\\w+)?\\.jar");

    @TempDir
    static Path folder;

    private static ServerInside server;
    private static ZKClientConfig tls;

    @BeforeAll
    static void serve() throws Exception {
        Keys keys = Keys.in(folder);
        server = ServerInside.start(folder, keys);
        tls = new ZKClientConfig();
        tls.setProperty("zookeeper.client.secure", "true");
        tls.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        keys.settings().forEach((name, value) -> tls.setProperty("zookeeper." + name, value));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void curatorAndLatchkeyLock_overTls() throws Exception {
        try (CuratorFramework curator = CuratorFrameworkFactory.builder()
                        .connectString(server.secureAddress())
                        .retryPolicy(new RetryOneTime(100))
                        .zookeeperFactory((connectString, timeout, watcher, readOnly) ->
                                new ZooKeeper(connectString, timeout, watcher, readOnly, tls))
                        .build();
                ZkLockClient latchkey = ZkLockClient.builder()
                        .connectString(server.secureAddress())
                        .clientConfig(tls)
                        .build()) {
            curator.start();
            InterProcessMutex theirs = new InterProcessMutex(curator, "/curator/order");
            assertTrue(theirs.acquire(20, TimeUnit.SECONDS), "Curator's mutex");
            try (Lease ours = latchkey.mutex("/latchkey/order").acquire(Duration.ofSeconds(20))) {
                assertTrue(ours.isValid());
                assertTrue(theirs.isAcquiredInThisProcess());
            }
            theirs.release();
        }
    }

    @Test
    void latchkeyLocks_overZooKeepersOwnSocket() throws Exception {
        try (ZkLockClient latchkey =
                        ZkLockClient.builder().connectString(server.plainAddress()).build();
                Lease lease = latchkey.mutex("/latchkey/plain").acquire(Duration.ofSeconds(20))) {
            assertTrue(lease.isValid());
        }
    }

    @Test
    void nettysPartsAreOfOneVersion() {
        List<Path> jars = new ArrayList<>(jars());
        jars.removeIf(jar -> !hasContent(jar));
        Map<String, String> netty = versions(jars);
        netty.keySet().removeIf(name -> !name.startsWith("netty-") || name.contains("tcnative"));
        assertTrue(netty.containsKey("netty-handler"), () -> "found only " + netty);
        assertEquals(1, Set.copyOf(netty.values()).size(), netty::toString);
    }

    /** The one for tests that the pom names is not lock-zk's. */
    @Test
    void noLoggingBackendIsBrought() {
        List<String> backends = jars().stream()
                .map(jar -> jar.getFileName().toString())
                .filter(name -> name.matches("(logback|log4j|reload4j|slf4j-(?!api|nop)).*"))
                .collect(Collectors.toList());
        assertEquals(List.of(), backends);
    }

    @Test
    @EnabledIfSystemProperty(named = "expected", matches = ".+")
    void pinsCount() {
        Map<String, String> versions = versions(jars());
        Map<String, String> expected = Arrays.stream(System.getProperty("expected").split(" "))
                .map(pin -> pin.split(":"))
                .collect(Collectors.toMap(pin -> pin[0], pin -> pin[1]));
        versions.keySet().retainAll(expected.keySet());
        assertEquals(expected, versions);
    }

    private static Map<String, String> versions(List<Path> jars) {
        return jars.stream()
                .map(jar -> JAR.matcher(jar.getFileName().toString()))
                .filter(Matcher::matches)
                .collect(Collectors.toMap(name -> name.group(1), name -> name.group(2), (one, other) -> one, TreeMap::new));
    }

    /** ZooKeeper 3.7 and 3.8 name a jar of Netty that has been empty since its classes moved. */
    private static boolean hasContent(Path jar) {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream().anyMatch(entry -> entry.getName().matches(".*\\.(class|so)"));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static List<Path> jars() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.endsWith(".jar"))
                .map(Path::of)
                .collect(Collectors.toList());
    }
}
