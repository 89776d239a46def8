// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The packaged service at a server without a plain port. */
@Timeout(300)
class TlsIT {
    private static final String PASSWORD = "changeit";

    @TempDir
    private Path folder;

    @Test
    void serviceIsReady_withACertificateThatTheServerTrusts() throws Exception {
        Process one = keyPair("server");
        Process two = keyPair("client");
        assertEquals(0, one.waitFor());
        assertEquals(0, two.waitFor());
        trust("server", "client");
        trust("client", "server");

        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Files.writeString(
                folder.resolve("zoo.cfg"),
                "dataDir=" + folder + "\ntickTime=500\nsecureClientPort=" + port
                        + "\nsecureClientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
                        + "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
                        + "authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider\n"
                        + lines(stores("", "server")));
        Properties client = new Properties();
        client.setProperty("zookeeper.client.secure", "true");
        client.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        client.putAll(stores("zookeeper.", "client"));
        Path settings = folder.resolve("client.properties");
        try (Writer out = Files.newBufferedWriter(settings)) {
            client.store(out, null);
        }

        try (JavaProcess unused = JavaProcess.ofClass(
                        folder.resolve("server.log"),
                        List.of("-Dzookeeper.jmx.log4j.disable=true"),
                        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                        folder.resolve("zoo.cfg").toString());
                JavaProcess service = JavaProcess.service(
                        folder.resolve("log"), "127.0.0.1:" + port, "--locks.client-config=" + settings)) {
            assertEquals(200, service.status("/actuator/health/readiness"), service::log);
            service.awaitLine("leader of dunning");
            service.terminate();
            assertEquals(128 + 15, service.ended());
        }
    }

    private static String lines(Map<String, String> settings) {
        StringBuilder lines = new StringBuilder();
        settings.forEach((name, value) ->
                lines.append(name).append('=').append(value).append('\n'));
        return lines.toString();
    }

    private Map<String, String> stores(String prefix, String name) {
        return Map.of(
                prefix + "ssl.keyStore.location", keyStore(name).toString(),
                prefix + "ssl.keyStore.password", PASSWORD,
                prefix + "ssl.trustStore.location", trustStore(name).toString(),
                prefix + "ssl.trustStore.password", PASSWORD);
    }

    private Path keyStore(String name) {
        return folder.resolve(name + ".p12");
    }

    private Path trustStore(String name) {
        return folder.resolve(name + "-trusts.p12");
    }

    private Process keyPair(String name) throws Exception {
        String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        return new ProcessBuilder((keytool + " -genkeypair -keyalg EC -storetype PKCS12 -alias " + name + " -dname CN="
                                + name + " -ext san=ip:127.0.0.1,dns:localhost -storepass " + PASSWORD + " -keystore "
                                + keyStore(name))
                        .split(" "))
                .inheritIO()
                .start();
    }

    /** Makes {@code name} trust the certificate of {@code other}. */
    private void trust(String name, String other) throws Exception {
        KeyStore its = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keyStore(other))) {
            its.load(in, PASSWORD.toCharArray());
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(other, its.getCertificate(other));
        try (OutputStream out = Files.newOutputStream(trustStore(name))) {
            trusted.store(out, PASSWORD.toCharArray());
        }
    }
}
