// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.latchkey.spring.CapturedLog;
import io.netty.handler.ssl.SslContext;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.Base64;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleKey;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.ssl.jks.JksSslStoreBundle;
import org.springframework.boot.ssl.jks.JksSslStoreDetails;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

/** SSL bundles as ZooKeeper's client reads them. TlsIT of spring-billing connects with them. */
@Tag("slow")
class BundleStoresTest {
    private static final String PASSWORD = "changeit";

    @TempDir
    private static Path folder;

    private final BundleStores stores = new BundleStores();
    private final ZKClientConfig config = new ZKClientConfig();

    @BeforeAll
    static void makeKeys() throws Exception {
        for (String name : new String[] {"one", "two", "rsa"}) {
            String algorithm = name.equals("rsa") ? "RSA" : "EC";
            Process made = new ProcessBuilder((Path.of(System.getProperty("java.home"), "bin", "keytool")
                                    + " -genkeypair -keyalg " + algorithm + " -storetype PKCS12 -alias " + name
                                    + " -dname CN=" + name
                                    + " -storepass " + PASSWORD + " -keystore " + folder.resolve("keys.p12"))
                            .split(" "))
                    .inheritIO()
                    .start();
            assertThat(made.waitFor()).isZero();
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("two", keys().getCertificate("two"));
        try (OutputStream out = Files.newOutputStream(folder.resolve("trusted.p12"))) {
            trusted.store(out, PASSWORD.toCharArray());
        }
    }

    private static KeyStore keys() throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(folder.resolve("keys.p12"))) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return keys;
    }

    private static SslBundle jks() {
        return SslBundle.of(
                new JksSslStoreBundle(
                        new JksSslStoreDetails(
                                "PKCS12", null, folder.resolve("keys.p12").toString(), PASSWORD),
                        new JksSslStoreDetails(
                                "PKCS12", null, folder.resolve("trusted.p12").toString(), PASSWORD)),
                SslBundleKey.of(PASSWORD, "two"),
                SslOptions.of(null, new String[] {"TLSv1.3"}));
    }

    private static String pem(String type, byte[] content) {
        return "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                        .encodeToString(content)
                + "\n-----END " + type + "-----\n";
    }

    private static SslBundle pem() throws Exception {
        return pem("one");
    }

    /** A bundle with the certificate of {@code one} and a key. */
    private static SslBundle pem(String ofKey) throws Exception {
        String certificate = pem("CERTIFICATE", keys().getCertificate("one").getEncoded());
        String key =
                pem("PRIVATE KEY", keys().getKey(ofKey, PASSWORD.toCharArray()).getEncoded());
        return SslBundle.of(new PemSslStoreBundle(
                PemSslStoreDetails.forCertificate(certificate).withPrivateKey(key),
                PemSslStoreDetails.forCertificate(certificate)));
    }

    private KeyStore written(String which) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in =
                Files.newInputStream(Path.of(config.getProperty("zookeeper.ssl." + which + ".location")))) {
            store.load(
                    in,
                    config.getProperty("zookeeper.ssl." + which + ".password").toCharArray());
        }
        return store;
    }

    private SslContext asZooKeeperReadsIt() throws Exception {
        try (ClientX509Util util = new ClientX509Util()) {
            return util.createNettySslContextForClient(config);
        }
    }

    @Test
    void storesOfFilesAreWritten_withTheKeyOfTheAliasAlone() throws Exception {
        stores.apply(jks(), "the bundle", config);
        assertThat(config.getProperty("zookeeper.client.secure")).isEqualTo("true");
        assertThat(config.getProperty("zookeeper.ssl.enabledProtocols")).isEqualTo("TLSv1.3");
        assertThat(written("keyStore").size()).isEqualTo(1);
        assertThat(written("keyStore").isKeyEntry("two")).isTrue();
        assertThat(written("trustStore").isCertificateEntry("two")).isTrue();
        assertThat(asZooKeeperReadsIt().isClient()).isTrue();
        stores.destroy();
    }

    @Test
    void pemWorksAsWell() throws Exception {
        stores.apply(pem(), "the bundle", config);
        assertThat(written("keyStore").size()).isEqualTo(1);
        assertThat(written("trustStore").size()).isEqualTo(1);
        assertThat(asZooKeeperReadsIt().isClient()).isTrue();
        stores.destroy();
    }

    @Test
    void filesAreTheOwnersAlone_andAreDeletedInTheEnd() throws Exception {
        stores.apply(jks(), "the bundle", config);
        Path file = Path.of(config.getProperty("zookeeper.ssl.keyStore.location"));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
                .isEqualTo("rwx------");
        stores.destroy();
        assertThat(file.getParent()).doesNotExist();
        stores.update(jks());
        assertThat(file.getParent()).doesNotExist();
    }

    @Test
    void storesAreReplaced_whenTheBundleIsLoadedAgain() throws Exception {
        stores.apply(jks(), "the bundle", config);
        stores.update(pem());
        assertThat(written("keyStore")
                        .getCertificate(written("keyStore").aliases().nextElement()))
                .isEqualTo(keys().getCertificate("one"));
        stores.update(SslBundle.of(SslStoreBundle.NONE)); // warns, and keeps the former ones
        assertThat(written("keyStore").size()).isEqualTo(1);
        stores.destroy();
    }

    /** As when one of two files is replaced before the other. */
    @Test
    void storesStay_whenAKeyIsLoadedThatDoesNotMatchItsCertificate() throws Exception {
        stores.apply(pem(), "the bundle", config);
        Path file = Path.of(config.getProperty("zookeeper.ssl.keyStore.location"));
        byte[] former = Files.readAllBytes(file);
        try (CapturedLog log = new CapturedLog(BundleStores.class)) {
            stores.update(pem("two"));
            assertThat(log.text())
                    .startsWith("ERROR ")
                    .contains("New connections use the former one")
                    .contains("does not match its certificate")
                    .doesNotContain("The next connection uses it");
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(former);
        assertThatThrownBy(() -> stores.apply(pem("two"), "the bundle", config))
                .hasMessageContaining("does not match its certificate");
        stores.destroy();
    }

    /** RSA keys have another signature than those of the other tests. */
    @Test
    void pairOfRsaKeysIsTaken() throws Exception {
        KeyStore store = keys();
        assertThat(store.isKeyEntry("rsa")).isTrue();
        SslBundle rsa = SslBundle.of(jks().getStores(), SslBundleKey.of(PASSWORD, "rsa"));
        stores.apply(rsa, "the bundle", config);
        assertThat(written("keyStore").isKeyEntry("rsa")).isTrue();
        stores.destroy();
    }

    @Test
    void bundleWithoutStoresIsRefused() {
        assertThatThrownBy(() -> stores.apply(SslBundle.of(SslStoreBundle.NONE), "the bundle", config))
                .hasMessageContaining("no key store and no trust store");
    }

    @Test
    void aliasThatIsNotThereIsRefused() throws Exception {
        SslBundle other = SslBundle.of(jks().getStores(), SslBundleKey.of(PASSWORD, "three"));
        assertThatThrownBy(() -> stores.apply(other, "the bundle", config))
                .hasMessageContaining("no private key \"three\"");
        stores.destroy();
    }
}
