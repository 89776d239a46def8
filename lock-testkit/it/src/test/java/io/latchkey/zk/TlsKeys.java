// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.StandaloneServer;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Key pairs made by keytool, and a server that takes TLS only: it knows {@code client}, and {@code stranger} knows it.
 */
public final class TlsKeys {
    private static final String PASSWORD = "changeit";

    private final Path folder;

    private TlsKeys(Path folder) {
        this.folder = folder;
    }

    /** Makes them in a folder. */
    public static TlsKeys in(Path folder) throws Exception {
        TlsKeys keys = new TlsKeys(folder);
        List<Process> made = new ArrayList<>();
        for (String name : List.of("server", "client", "stranger")) {
            made.add(keys.keyPair(name));
        }
        for (Process keytool : made) {
            assertTrue(keytool.waitFor(30, TimeUnit.SECONDS));
            assertEquals(0, keytool.exitValue());
        }
        keys.trust("server", "client");
        keys.trust("client", "server");
        keys.trust("stranger", "server");
        return keys;
    }

    /** A server without a plain port. */
    public StandaloneServer startServer() throws Exception {
        Map<String, String> tls = new LinkedHashMap<>();
        settings("server").forEach((name, value) -> tls.put("zookeeper." + name, value));
        tls.put("zookeeper.serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
        tls.put("zookeeper.authProvider.x509", "org.apache.zookeeper.server.auth.X509AuthenticationProvider");
        return StandaloneServer.start("secureClientPort", tls);
    }

    /** What a client of that name sets in ZooKeeper's client configuration. */
    public Map<String, String> clientConfig(String name) {
        Map<String, String> config = new LinkedHashMap<>();
        config.put("zookeeper.client.secure", "true");
        config.put("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        settings(name).forEach((setting, value) -> config.put("zookeeper." + setting, value));
        return config;
    }

    private Process keyPair(String name) throws Exception {
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

    private Path keyStore(String name) {
        return folder.resolve(name + ".p12");
    }

    private Path trustStore(String name) {
        return folder.resolve(name + "-trusts.p12");
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

    private Map<String, String> settings(String name) {
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
}
