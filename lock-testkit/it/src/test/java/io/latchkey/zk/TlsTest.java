// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import io.latchkey.testkit.server.StandaloneServer;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.io.DataOutputStream;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that takes TLS only, with key pairs made here, both sides known to each other. */
@Timeout(60)
@Tag("slow")
class TlsTest {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(8));

    @TempDir
    private static Path folder;

    private static TlsKeys keys;
    private static StandaloneServer server;

    @BeforeAll
    static void start() throws Exception {
        keys = TlsKeys.in(folder);
        server = keys.startServer();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static ZkLockClient.Builder builder(String name) {
        ZKClientConfig config = new ZKClientConfig();
        keys.clientConfig(name).forEach(config::setProperty);
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
            CompletableFuture<ReleaseRequest> wish = held.releaseRequested().toCompletableFuture();
            CompletableFuture<Lease> next = two.mutex("/tls").acquireAsync();
            Eventually.holds(
                    "a queue of two",
                    Duration.ofSeconds(10),
                    () -> one.mutex("/tls").queue().size() == 2);
            Eventually.holds(
                    "a listening holder",
                    Duration.ofSeconds(10),
                    () -> two.mutex("/tls").queue().get(0).requestRelease() == ReleaseRequestResult.STORED);
            wish.get(10, TimeUnit.SECONDS);
            assertFalse(next.isDone());
            held.close();
            Lease granted = next.get(10, TimeUnit.SECONDS);
            assertTrue(granted.token() > held.token());
            granted.close();
        }
    }

    /** As docs/security.md has it. */
    @Test
    void fileOfSettingsIsEnough() throws Exception {
        Properties settings = new Properties();
        settings.putAll(keys.clientConfig("client"));
        Path file = folder.resolve("client.properties");
        try (Writer out = Files.newBufferedWriter(file)) {
            settings.store(out, null);
        }
        String servers = server.connectString();
        ZkLockClient locks = ZkLockClient.builder()
                .connectString(servers)
                .clientConfig(new ZKClientConfig(file))
                .acl(ZooDefs.Ids.CREATOR_ALL_ACL)
                .build();
        assertTrue(locks.mutex("/file").tryAcquire().isPresent());
        locks.close();
    }

    @Test
    void connectionIsRefused_withAnUnknownCertificate() {
        assertRefused(builder("stranger"));
    }

    @Test
    void connectionIsRefused_withoutTls() {
        assertRefused(
                ZkLockClient.builder().connectString(server.connectString()).sessionTimeout(SESSION));
    }

    /** What a listener on the network reads is what a server gets; here it is one that accepts any session. */
    @Test
    void digestPasswordIsSentAsItIs_withoutTls() throws Exception {
        byte[] login = "billing:secret".getBytes(StandardCharsets.UTF_8);
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ZkLockClient client = ZkLockClient.builder()
                        .connectString("127.0.0.1:" + listening.getLocalPort())
                        .auth("digest", login)
                        .sessionTimeout(Duration.ofSeconds(2))
                        .connectTimeout(Duration.ZERO)
                        .build();
                Socket connection = listening.accept()) {
            assertFalse(client.session().isConnected());
            connection.setSoTimeout(10_000);
            DataOutputStream accepted = new DataOutputStream(connection.getOutputStream());
            accepted.writeInt(37); // bytes of the answer: version, timeout, session, password, not read-only
            accepted.writeInt(0);
            accepted.writeInt(2000);
            accepted.writeLong(1);
            accepted.writeInt(16);
            accepted.write(new byte[17]);
            StringBuilder read = new StringBuilder();
            while (read.indexOf("billing:secret") < 0) {
                int next = connection.getInputStream().read();
                assertTrue(next >= 0, () -> "the end after " + read);
                read.append((char) next);
            }
        }
    }

    private static void assertRefused(ZkLockClient.Builder builder) {
        long start = System.nanoTime();
        LockServiceUnavailableException refused =
                assertThrows(LockServiceUnavailableException.class, () -> builder.connectTimeout(Duration.ofSeconds(2))
                        .build());
        long took = Duration.ofNanos(System.nanoTime() - start).toMillis();
        assertTrue(refused.getMessage().contains(server.connectString()), refused.getMessage());
        assertTrue(took < 6000, took + " ms");
    }
}
