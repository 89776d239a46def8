// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.cli.InThisJvm;
import io.latchkey.cli.Program;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import io.latchkey.zk.TlsSite.Mistake;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server that takes TLS only, and twelve mistakes: each has a message that names what is to be corrected. */
@Timeout(180)
@Tag("slow")
class TlsTest {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(8));
    private static final Duration PATIENCE = Slowness.stretched(Duration.ofMillis(1200));

    private static final Set<Mistake> SEEN = EnumSet.noneOf(Mistake.class);
    private static final Set<String> MESSAGES = new HashSet<>();

    @TempDir
    private static Path folder;

    private static TlsSite site;

    @BeforeAll
    static void start() throws Exception {
        site = TlsSite.withAllMistakes(folder);
    }

    private enum AfterHandshake {
        CLOSES,
        GREETS,
        WAITS
    }

    @AfterAll
    static void stop() {
        site.close();
        assertTrue(SEEN.size() < 2 || SEEN.containsAll(Arrays.asList(Mistake.values())), SEEN::toString);
        assertEquals(SEEN.size(), MESSAGES.size(), "two mistakes with one message");
    }

    private static ZkLockClient.Builder builder(String servers, Map<String, String> settings) {
        ZKClientConfig config = new ZKClientConfig();
        settings.forEach(config::setProperty);
        return ZkLockClient.builder().connectString(servers).clientConfig(config);
    }

    private static ZkLockClient.Builder right() {
        return builder(site.servers(), site.right()).sessionTimeout(SESSION);
    }

    @Test
    @Timeout(60)
    void locksWorkOverTls() throws Exception {
        try (ZkLockClient one = right().build();
                ZkLockClient two = right().build()) {
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
    @Timeout(60)
    void fileOfSettingsIsEnough() throws Exception {
        String servers = site.servers();
        Path file = file("right", site.right());
        ZkLockClient locks = ZkLockClient.builder()
                .connectString(servers)
                .clientConfig(new ZKClientConfig(file))
                .acl(ZooDefs.Ids.CREATOR_ALL_ACL)
                .build();
        assertTrue(locks.mutex("/file").tryAcquire().isPresent());
        locks.close();
    }

    private static Path file(String name, Map<String, String> settings) throws IOException {
        Properties config = new Properties();
        config.putAll(settings);
        Path file = folder.resolve(name + ".properties");
        try (Writer out = Files.newBufferedWriter(file)) {
            config.store(out, null);
        }
        return file;
    }

    /** What a listener on the network reads is what a server gets; here it is one that accepts any session. */
    @Test
    @Timeout(60)
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "FOREIGN_AUTHORITY | TLS_REFUSED | stranger.p12 has no certificate of an authority that the server accepts",
                "EXPIRED | TLS_REFUSED | refuses the certificate CN=late of this client, issued by CN=authority",
                "NO_CERTIFICATE | TLS_REFUSED | refuses a client without a certificate",
                "SERVER_NOT_TRUSTED | TLS_REFUSED | no authority that this client trusts has signed it",
                "WRONG_HOST | TLS_REFUSED | it is not for this host",
                "WRONG_PASSWORD | TLS_MISCONFIGURED | client.p12 (zookeeper.ssl.keyStore.location) cannot be opened: its password is another one",
                "MISSING_STORE | TLS_MISCONFIGURED | missing.p12 (zookeeper.ssl.keyStore.location) does not exist",
                "NIO_SOCKET | TLS_MISCONFIGURED | is org.apache.zookeeper.ClientCnxnSocketNIO, which has no TLS",
                "NO_SOCKET | TLS_MISCONFIGURED | no socket is named",
                "NOT_SECURE | TLS_MISCONFIGURED | keyStore.location is set, but zookeeper.client.secure is not true",
                "PLAIN_AT_TLS | TLS_MISCONFIGURED | expects TLS at this port, and this client is configured without TLS",
                "TLS_AT_PLAIN | TLS_MISCONFIGURED | has no TLS at this port",
            })
    void mistakeHasAMessageOfItsOwn(Mistake mistake, Reason reason, String said) throws IOException {
        long start = System.nanoTime();
        LockServiceUnavailableException refused = assertThrows(
                LockServiceUnavailableException.class, () -> builder(site.servers(mistake), site.config(mistake))
                        .connectTimeout(PATIENCE)
                        .build());
        Duration took = Duration.ofNanos(System.nanoTime() - start);

        SEEN.add(mistake);
        MESSAGES.add(refused.getMessage());
        String all = refused.getMessage();
        boolean atTheDoor =
                switch (mistake) {
                    case WRONG_PASSWORD, MISSING_STORE, NIO_SOCKET, NO_SOCKET -> true;
                    default -> false;
                };
        assertAll(
                () -> assertTrue(all.contains(said), all),
                () -> assertEquals(reason, refused.reason(), all),
                () -> assertFalse(all.contains("secret-but-wrong"), all),
                () -> assertTrue(all.contains("Nothing was sent"), all),
                () -> assertTrue(all.length() < 600, all),
                () -> assertTrue(atTheDoor || all.contains(site.servers(mistake)), all),
                () -> assertTrue(took.compareTo(PATIENCE.multipliedBy(3)) < 0, took::toString),
                () -> assertTrue(!atTheDoor || took.compareTo(PATIENCE) < 0, took + " for what is seen at once"));
        assertCommandSays(mistake, reason, said);
    }

    /** A load balancer without a server, one that speaks another protocol, servers of other versions of TLS. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "nothing",
            value = {
                "nothing | TLS_REFUSED | ended the TLS handshake and gave no reason",
                "15030300020246 | TLS_REFUSED | failed: Received fatal alert: protocol_version. Compare protocols",
                "15030300020247 | TLS_REFUSED | failed: Received fatal alert: insufficient_security. Compare protocols",
                "1503030002022a | TLS_REFUSED | refuses this client (TLS alert bad_certificate): the store",
                "1503030002022d | TLS_REFUSED | refuses the certificate of this client in",
                "15030300020228 | TLS_REFUSED | failed: Received fatal alert: handshake_failure. Compare protocols and cipher suites of both sides. Some",
                "48545450 | TLS_MISCONFIGURED | has no TLS at this port",
            })
    void serverThatAnswersSomethingElseHasAMessageToo(@Nullable String hex, Reason reason, String said)
            throws Exception {
        byte[] answer = hex == null ? new byte[0] : HexFormat.of().parseHex(hex);
        try (ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread server = new Thread(() -> {
                while (!listening.isClosed()) {
                    try (Socket asks = listening.accept()) {
                        var unused = asks.getInputStream().read(new byte[10_000]);
                        asks.getOutputStream().write(answer);
                    } catch (IOException over) {
                        // The client has gone, or the test is over.
                    }
                }
            });
            server.setDaemon(true);
            server.start();
            String servers = "127.0.0.1:" + listening.getLocalPort();
            LockServiceUnavailableException refused =
                    assertThrows(LockServiceUnavailableException.class, () -> builder(servers, site.right())
                            .connectTimeout(PATIENCE)
                            .build());
            assertTrue(refused.getMessage().contains(servers + " " + said), refused.getMessage());
            assertEquals(reason, refused.reason());
        }
    }

    /** By TLS 1.3 a client is done before the server has looked at its certificate, if it asks for one. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CLOSES | true | TLS_REFUSED | refuses the certificate CN=client of this client, issued by CN=authority (it closed",
                "CLOSES | false | TLS_REFUSED | refuses this client (it closed the connection): the store",
                "GREETS | true | NO_ANSWER | No connection to ZooKeeper at localhost",
                "WAITS | true | NO_ANSWER | No connection to ZooKeeper at localhost",
            })
    void serverRefusesAClient_onlyIfItClosesTheConnectionBehindTheHandshake(
            AfterHandshake then, boolean asksForACertificate, Reason reason, String said) throws Exception {
        List<Socket> open = new CopyOnWriteArrayList<>();
        try (SSLServerSocket listening = (SSLServerSocket) site.serverContext()
                .getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            listening.setEnabledProtocols(new String[] {"TLSv1.3"});
            listening.setNeedClientAuth(asksForACertificate);
            Thread server = new Thread(() -> {
                while (!listening.isClosed()) {
                    try {
                        SSLSocket asks = (SSLSocket) listening.accept();
                        open.add(asks);
                        asks.startHandshake();
                        switch (then) {
                            case CLOSES -> asks.close();
                            case GREETS -> asks.getOutputStream().write("220 mail".getBytes(StandardCharsets.US_ASCII));
                            case WAITS -> {
                                // For a request.
                            }
                        }
                    } catch (IOException over) {
                        // The client has gone, or the test is over.
                    }
                }
            });
            server.setDaemon(true);
            server.start();
            String servers = "localhost:" + listening.getLocalPort();
            LockServiceUnavailableException refused =
                    assertThrows(LockServiceUnavailableException.class, () -> builder(servers, site.right())
                            .connectTimeout(PATIENCE)
                            .build());
            assertTrue(refused.getMessage().contains(said), refused.getMessage());
            assertEquals(reason, refused.reason());
        } finally {
            for (Socket each : open) {
                each.close();
            }
        }
    }

    /** The command says the same, in one line. */
    private static void assertCommandSays(Mistake mistake, Reason reason, String said) throws IOException {
        Path file = file(mistake.name(), site.config(mistake));
        String time = "--connect-timeout=" + PATIENCE.toMillis() / 2 + "ms";
        Program.Exit ended = InThisJvm.latchkey(site.servers(mistake), "ls", time, "--client-config=" + file);

        assertAll(
                () -> assertEquals(reason == Reason.TLS_REFUSED ? 77 : 78, ended.status(), ended::toString),
                () -> assertTrue(ended.err().contains(said), ended::toString),
                () -> assertEquals(1, ended.err().lines().count(), ended::toString),
                () -> assertEquals("", ended.out()));
    }
}
