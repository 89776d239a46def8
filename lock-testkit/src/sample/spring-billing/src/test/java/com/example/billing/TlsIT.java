// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The packaged service at a server without a plain port, with SSL bundles of key stores and of PEM files. */
@Timeout(300)
class TlsIT {
    private static final String PASSWORD = "changeit";

    @TempDir
    private Path folder;

    @Test
    void serviceIsReady_withABundleThatTheServerTrusts() throws Exception {
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
        try (JavaProcess unused = JavaProcess.ofClass(
                folder.resolve("server.log"),
                List.of("-Dzookeeper.jmx.log4j.disable=true"),
                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                folder.resolve("zoo.cfg").toString())) {
            serves(
                    "127.0.0.1:" + port,
                    "--spring.ssl.bundle.jks.zk.keystore.location=" + keyStore("client"),
                    "--spring.ssl.bundle.jks.zk.keystore.password=" + PASSWORD,
                    "--spring.ssl.bundle.jks.zk.truststore.location=" + trustStore("client"),
                    "--spring.ssl.bundle.jks.zk.truststore.password=" + PASSWORD);
            serves(
                    "127.0.0.1:" + port,
                    "--spring.ssl.bundle.pem.zk.keystore.certificate="
                            + pem("client.crt", "CERTIFICATE", certificate("client").getEncoded()),
                    "--spring.ssl.bundle.pem.zk.keystore.private-key="
                            + pem("client.key", "PRIVATE KEY", privateKey("client").getEncoded()),
                    "--spring.ssl.bundle.pem.zk.truststore.certificate="
                            + pem("server.crt", "CERTIFICATE", certificate("server").getEncoded()));
        }
    }

    private void serves(String servers, String... bundle) throws Exception {
        String[] settings = Arrays.copyOf(bundle, bundle.length + 2);
        settings[bundle.length] = "--latchkey.ssl.bundle=zk";
        settings[bundle.length + 1] = "--latchkey.creator-only=true";
        try (JavaProcess service = JavaProcess.service(folder.resolve("log"), servers, settings)) {
            assertEquals(200, service.status("/actuator/health/readiness"), service::log);
            service.awaitLine("leader of dunning");
            service.awaitLine(" by TLS: session 0x");
            service.terminate();
            assertEquals(128 + 15, service.ended());
        }
    }

    private Path pem(String name, String type, byte[] content) throws IOException {
        return Files.writeString(
                folder.resolve(name),
                "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END "
                        + type + "-----\n");
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

    private KeyStore load(String name) throws Exception {
        KeyStore its = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keyStore(name))) {
            its.load(in, PASSWORD.toCharArray());
        }
        return its;
    }

    private Certificate certificate(String name) throws Exception {
        return load(name).getCertificate(name);
    }

    private Key privateKey(String name) throws Exception {
        return load(name).getKey(name, PASSWORD.toCharArray());
    }

    /** Makes {@code name} trust the certificate of {@code other}. */
    private void trust(String name, String other) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(other, certificate(other));
        try (OutputStream out = Files.newOutputStream(trustStore(name))) {
            trusted.store(out, PASSWORD.toCharArray());
        }
    }
}
