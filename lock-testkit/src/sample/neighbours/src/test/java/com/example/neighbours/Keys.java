package com.example.neighbours;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One key pair, made by keytool, for the server and its clients; each trusts the other by it. */
record Keys(Path store, Path trusted) {
    private static final String PASSWORD = "changeit";

    static Keys in(Path folder) throws Exception {
        Keys keys = new Keys(folder.resolve("keys.p12"), folder.resolve("trusted.p12"));
        String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Process made = new ProcessBuilder(
                        keytool, "-genkeypair", "-keyalg", "EC", "-alias", "service", "-dname", "CN=service", "-ext",
                        "san=ip:127.0.0.1,dns:localhost", "-storetype", "PKCS12", "-keystore", keys.store.toString(),
                        "-storepass", PASSWORD)
                .inheritIO()
                .start();
        if (!made.waitFor(60, TimeUnit.SECONDS) || made.exitValue() != 0) {
            throw new IllegalStateException("keytool made no key pair");
        }
        KeyStore own = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys.store)) {
            own.load(in, PASSWORD.toCharArray());
        }
        KeyStore others = KeyStore.getInstance("PKCS12");
        others.load(null, null);
        others.setCertificateEntry("service", own.getCertificate("service"));
        try (OutputStream out = Files.newOutputStream(keys.trusted)) {
            others.store(out, PASSWORD.toCharArray());
        }
        return keys;
    }

    /** The properties after {@code zookeeper.}, which servers and clients have in common. */
    Map<String, String> settings() {
        return Map.of(
                "ssl.keyStore.location", store.toString(),
                "ssl.keyStore.password", PASSWORD,
                "ssl.trustStore.location", trusted.toString(),
                "ssl.trustStore.password", PASSWORD);
    }
}
