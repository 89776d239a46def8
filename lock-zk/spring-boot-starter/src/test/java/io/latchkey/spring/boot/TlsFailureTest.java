// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.time.Slowness;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** What a start says that fails by TLS: in terms of the bundle, not of the settings of ZooKeeper's client. */
@Tag("slow")
@Timeout(120)
class TlsFailureTest {
    private static final String PASSWORD = "changeit";

    @TempDir
    private static Path folder;

    @BeforeAll
    static void makeKeys() throws Exception {
        for (String name : new String[] {"server", "other"}) {
            Process made = new ProcessBuilder((Path.of(System.getProperty("java.home"), "bin", "keytool")
                                    + " -genkeypair -keyalg EC -storetype PKCS12 -alias " + name + " -dname CN=" + name
                                    + " -ext san=ip:127.0.0.1,dns:localhost -storepass " + PASSWORD + " -keystore "
                                    + store(name))
                            .split(" "))
                    .inheritIO()
                    .start();
            assertThat(made.waitFor()).isZero();
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry(name, load(store(name)).getCertificate(name));
            try (OutputStream out = Files.newOutputStream(store("trusts-" + name))) {
                trusted.store(out, PASSWORD.toCharArray());
            }
        }
    }

    private static Path store(String name) {
        return folder.resolve(name + ".p12");
    }

    private static KeyStore load(Path file) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    /** A port that makes TLS handshakes, and has no ZooKeeper behind it. */
    private static SSLServerSocket tlsPort(boolean asksForACertificate) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(load(store("server")), PASSWORD.toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(load(store("trusts-server")));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        SSLServerSocket port = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        port.setNeedClientAuth(asksForACertificate);
        Thread accepting = new Thread(() -> accept(port), "tls-port");
        accepting.setDaemon(true);
        accepting.start();
        return port;
    }

    private static void accept(SSLServerSocket port) {
        while (!port.isClosed()) {
            try {
                SSLSocket socket = (SSLSocket) port.accept();
                Thread handshake = new Thread(() -> answer(socket), "tls-handshake");
                handshake.setDaemon(true);
                handshake.start();
            } catch (IOException closed) {
                return;
            }
        }
    }

    private static void answer(SSLSocket socket) {
        try (socket) {
            socket.startHandshake();
            socket.getInputStream().readAllBytes();
        } catch (IOException refused) {
            // The client says why.
        }
    }

    private static FailureAnalysis startAt(SSLServerSocket port, String... settings) {
        List<FailureAnalysis> analyses = new ArrayList<>();
        ServerOfTheTests.withoutServers()
                .withPropertyValues(
                        "latchkey.connect-string=127.0.0.1:" + port.getLocalPort(),
                        // The first handshake of a process is in this time, beside a busy machine too.
                        "latchkey.connect-timeout="
                                + Slowness.stretched(Duration.ofSeconds(4)).toSeconds() + "s")
                .withPropertyValues(settings)
                .run(context -> {
                    Throwable failure = context.getStartupFailure();
                    assertThat(failure).isNotNull();
                    analyses.add(new ClientStartFailureAnalyzer().analyze(failure));
                });
        FailureAnalysis analysis = analyses.get(0);
        assertThat(analysis.getDescription() + analysis.getAction())
                .doesNotContain("zookeeper.ssl.")
                .doesNotContain("zookeeper.client")
                .doesNotContain("latchkey-tls-");
        return analysis;
    }

    private static String[] bundle(String... stores) {
        List<String> settings = new ArrayList<>(List.of("latchkey.ssl.bundle=zk"));
        for (int i = 0; i < stores.length; i += 2) {
            settings.add("spring.ssl.bundle.jks.zk." + stores[i] + ".location=file:" + store(stores[i + 1]));
            settings.add("spring.ssl.bundle.jks.zk." + stores[i] + ".password=" + PASSWORD);
        }
        return settings.toArray(new String[0]);
    }

    @Test
    void trustStoreOfTheBundleIsNamed_whenItDoesNotHaveTheServersAuthority() throws Exception {
        try (SSLServerSocket port = tlsPort(false)) {
            FailureAnalysis analysis = startAt(port, bundle("truststore", "trusts-other"));
            assertThat(analysis.getDescription()).contains("the trust store of the SSL bundle 'zk'");
            assertThat(analysis.getAction())
                    .contains("Correct the SSL bundle 'zk'")
                    .doesNotContain("latchkey.connect-timeout");
        }
    }

    @Test
    void keyStoreIsAskedFor_whenTheServerWantsACertificate() throws Exception {
        try (SSLServerSocket port = tlsPort(true)) {
            FailureAnalysis analysis = startAt(port, bundle("truststore", "trusts-server"));
            assertThat(analysis.getDescription()).contains("Give the SSL bundle 'zk' a key store");
        }
    }

    @Test
    void keyStoreOfTheBundleIsNamed_whenTheServerDoesNotTrustIt() throws Exception {
        try (SSLServerSocket port = tlsPort(true)) {
            FailureAnalysis analysis = startAt(port, bundle("truststore", "trusts-server", "keystore", "other"));
            assertThat(analysis.getDescription()).contains("refuses");
        }
    }

    @Test
    void bundleIsAskedFor_whenTheServerHasTlsOnly() throws Exception {
        try (SSLServerSocket port = tlsPort(false)) {
            FailureAnalysis analysis = startAt(port);
            assertThat(analysis.getDescription()).contains("Set latchkey.ssl.bundle.");
            assertThat(analysis.getAction()).contains("trust store").doesNotContain("latchkey.connect-timeout");
        }
    }
}
