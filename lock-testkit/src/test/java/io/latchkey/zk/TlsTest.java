// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Contender.ReleaseRequestResult;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.Slowness;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that takes TLS only, with key pairs made here, both sides known to each other. */
@Timeout(60)
class TlsTest {
    private static final String PASSWORD = "changeit";
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(8));

    @TempDir
    private static Path keys;

    private static ServerProcess server;

    @BeforeAll
    static void start() throws Exception {
        List<Process> made = List.of(keyPair("server"), keyPair("client"), keyPair("stranger"));
        for (Process keytool : made) {
            assertTrue(keytool.waitFor(30, TimeUnit.SECONDS));
            assertEquals(0, keytool.exitValue());
        }
        trust("server", "client");
        trust("client", "server");
        trust("stranger", "server");
        Map<String, String> tls = new LinkedHashMap<>();
        settings("server").forEach((name, value) -> tls.put("zookeeper." + name, value));
        tls.put("zookeeper.serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
        tls.put("zookeeper.authProvider.x509", "org.apache.zookeeper.server.auth.X509AuthenticationProvider");
        server = ServerProcess.start("secureClientPort", Map.of(), tls);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Process keyPair(String name) throws Exception {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-alias",
                        name,
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "san=ip:127.0.0.1,dns:localhost",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        keyStore(name).toString(),
                        "-storepass",
                        PASSWORD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static Path keyStore(String name) {
        return keys.resolve(name + ".p12");
    }

    private static Path trustStore(String name) {
        return keys.resolve(name + "-trusts.p12");
    }

    /** {@code who} takes {@code whom}'s certificate for good. */
    private static void trust(String who, String whom) throws Exception {
        KeyStore its = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keyStore(whom))) {
            its.load(in, PASSWORD.toCharArray());
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(whom, its.getCertificate(whom));
        try (OutputStream out = Files.newOutputStream(trustStore(who))) {
            trusted.store(out, PASSWORD.toCharArray());
        }
    }

    private static Map<String, String> settings(String name) {
        return Map.of(
                "ssl.keyStore.location",
                keyStore(name).toString(),
                "ssl.keyStore.password",
                PASSWORD,
                "ssl.trustStore.location",
                trustStore(name).toString(),
                "ssl.trustStore.password",
                PASSWORD);
    }

    private static ZkLockClient.Builder builder(String name) {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
        settings(name).forEach((setting, value) -> config.setProperty("zookeeper." + setting, value));
        return ZkLockClient.builder()
                .connectString(server.connectString())
                .ownerLabel(name)
                .clientConfig(config)
                .sessionTimeout(SESSION);
    }

    @Test
    void locksWorkOverTls() throws Exception {
        try (ZkLockClient one = builder("client").build();
                ZkLockClient two = builder("client").build()) {
            Lease held = one.mutex("/tls").acquire();
            CompletableFuture<ReleaseRequest> wish = held.releaseRequested();
            CompletableFuture<Lease> next = two.mutex("/tls").acquireAsync();
            Eventually.holds(
                    "a queue of two",
                    Duration.ofSeconds(10),
                    () -> one.mutex("/tls").queue().size() == 2);
            Eventually.holds(
                    "somebody who listens",
                    Duration.ofSeconds(10),
                    () -> two.mutex("/tls").queue().get(0).requestRelease() == ReleaseRequestResult.DELIVERED);
            wish.get(10, TimeUnit.SECONDS);
            assertFalse(next.isDone());
            held.close();
            Lease granted = next.get(10, TimeUnit.SECONDS);
            assertTrue(granted.token() > held.token());
            granted.close();
        }
    }

    /** The certificate is a login of its own, which an ACL may name. */
    @Test
    void theCertificateIsALoginThatAnAclCanNameItsCreatorBy() throws Exception {
        List<ACL> creator = ZooDefs.Ids.CREATOR_ALL_ACL;
        try (ZkLockClient client = builder("client").acl(creator).build()) {
            Lease held = client.mutex("/own").acquire();
            assertTrue(client.mutex("/own").tryAcquire().isEmpty());
            held.close();
        }
    }

    @Test
    void aClientWhoseCertificateTheServerDoesNotKnowGetsNoConnection() {
        assertRefused(builder("stranger"));
    }

    @Test
    void aClientWithoutTlsGetsNoConnection() {
        assertRefused(
                ZkLockClient.builder().connectString(server.connectString()).sessionTimeout(SESSION));
    }

    private static void assertRefused(ZkLockClient.Builder builder) {
        long start = System.nanoTime();
        LockUnavailableException refused =
                assertThrows(LockUnavailableException.class, () -> builder.connectTimeout(Duration.ofSeconds(2))
                        .build());
        long took = Duration.ofNanos(System.nanoTime() - start).toMillis();
        assertTrue(refused.getMessage().contains(server.connectString()), refused.getMessage());
        assertTrue(took < 6000, took + " ms");
    }
}
