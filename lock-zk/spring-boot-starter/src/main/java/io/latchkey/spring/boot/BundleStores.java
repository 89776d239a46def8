// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.Certificate;
import java.util.Collections;
import java.util.HexFormat;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.util.ClassUtils;

/**
 * An SSL bundle as ZooKeeper's client takes it: as files with a key store and a trust store, which it reads at each
 * connection. They are in a folder that only the owner of the process can read, are encrypted with a password that is
 * kept in memory alone, and are deleted after the client is closed.
 */
final class BundleStores implements DisposableBean {
    private static final Logger LOG = LoggerFactory.getLogger(BundleStores.class);
    private static final String NETTY = "org.apache.zookeeper.ClientCnxnSocketNetty";
    private static final String KEY_STORE = "key.p12";
    private static final String TRUST_STORE = "trust.p12";
    private static final int PASSWORD_BYTES = 32;

    private final String password;

    private @Nullable Path folder;
    /** The bundle in error texts. */
    private String name = "the SSL bundle of the lock client";

    BundleStores() {
        byte[] random = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(random);
        password = HexFormat.of().formatHex(random);
    }

    /** Writes the stores of the bundle, and sets up the client for them. */
    synchronized void apply(SslBundle bundle, String bundleName, ZKClientConfig config) {
        name = bundleName;
        if (!ClassUtils.isPresent("io.netty.channel.ChannelHandler", null)
                || !ClassUtils.isPresent("io.netty.channel.epoll.Epoll", null)) {
            throw new ClientStartException(
                    "An SSL bundle is set for the lock client, and ZooKeeper's client has no Netty for TLS.",
                    "Add the dependencies io.netty:netty-handler and io.netty:netty-transport-classes-epoll, without"
                            + " exclusions.",
                    null);
        }
        write(bundle);
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, NETTY);
        set(config, "keyStore", keyStore());
        set(config, "trustStore", trustStore());
        list(config, "ciphersuites", bundle.getOptions().getCiphers());
        list(config, "enabledProtocols", bundle.getOptions().getEnabledProtocols());
        if (!bundle.getProtocol().equals(SslBundle.DEFAULT_PROTOCOL)) {
            config.setProperty("zookeeper.ssl.protocol", bundle.getProtocol());
        }
    }

    private void set(ZKClientConfig config, String which, Path file) {
        if (Files.exists(file)) {
            config.setProperty("zookeeper.ssl." + which + ".location", file.toString());
            config.setProperty("zookeeper.ssl." + which + ".password", password);
            config.setProperty("zookeeper.ssl." + which + ".type", "PKCS12");
        }
    }

    private static void list(ZKClientConfig config, String name, String @Nullable [] values) {
        if (values != null) {
            config.setProperty("zookeeper.ssl." + name, String.join(",", values));
        }
    }

    /** Replaces the stores by those of a bundle that was loaded again. The next connection uses them. */
    synchronized void update(SslBundle bundle) {
        if (folder == null) {
            return; // the client is closed
        }
        try {
            write(bundle);
            LOG.info("The SSL bundle of the lock client was loaded again. The next connection uses it");
        } catch (RuntimeException failed) {
            LOG.error(
                    "The SSL bundle of the lock client was loaded again, and cannot be used. New connections use the"
                            + " former one",
                    failed);
        }
    }

    /** Writes both stores, or none. */
    private void write(SslBundle bundle) {
        SslStoreBundle stores = bundle.getStores();
        KeyStore keys;
        KeyStore trusted;
        try {
            keys = stores.getKeyStore();
            trusted = stores.getTrustStore();
        } catch (RuntimeException unreadable) {
            throw unreadable(name, unreadable);
        }
        if (keys == null && trusted == null) {
            throw new ClientStartException(
                    "The SSL bundle of the lock client has no key store and no trust store.",
                    "Give the bundle a trust store, and a key store if the servers ask for a certificate. Bundles"
                            + " that consist of managers only cannot be passed to ZooKeeper's client.",
                    null);
        }
        try {
            KeyStore key = keys == null ? null : keyOf(bundle, keys);
            KeyStore certificates = trusted == null ? null : certificatesOf(trusted);
            if (key != null) {
                save(key, keyStore());
            }
            if (certificates != null) {
                save(certificates, trustStore());
            }
        } catch (IOException | GeneralSecurityException failed) {
            throw new ClientStartException(
                    "The SSL bundle of the lock client cannot be passed to ZooKeeper's client: " + failed,
                    "Check its stores, its key and their passwords. A key that cannot be exported, as from a hardware"
                            + " token, cannot be used.",
                    failed);
        }
    }

    /** Returns the error for a bundle with a store that cannot be read, such as a PEM file that does not exist. */
    static ClientStartException unreadable(String bundleName, RuntimeException why) {
        StringBuilder reason = new StringBuilder();
        for (Throwable each = why; each != null; each = each.getCause()) {
            String message = String.valueOf(each.getMessage());
            if (reason.indexOf(message) < 0) { // an exception often has the text of its cause
                reason.append(": ").append(message);
            }
        }
        return new ClientStartException(
                "A store of " + bundleName + " cannot be read" + reason + '.',
                "Correct the locations and passwords of the bundle (spring.ssl.bundle.*). The files have to exist, and the"
                        + " process needs the right to read them.",
                why);
    }

    /** Returns an error text of the client, which names ZooKeeper's settings and files, in terms of the bundle. */
    synchronized String inTermsOfTheBundle(String text, String bundleName) {
        String translated = text;
        for (Path file : folder == null ? new Path[0] : new Path[] {keyStore(), trustStore()}) {
            String store = (file.endsWith(KEY_STORE) ? "the key store of " : "the trust store of ") + bundleName;
            translated = translated.replace("the store " + file, store).replace(file.toString(), store);
        }
        return translated
                .replace("Set zookeeper.ssl.keyStore.location and its password", "Give " + bundleName + " a key store")
                .replace("the store of zookeeper.ssl.trustStore.location", "the trust store of " + bundleName);
    }

    /** Returns a store with the key of the bundle alone. */
    private KeyStore keyOf(SslBundle bundle, KeyStore keys) throws GeneralSecurityException, IOException {
        KeyStore out = empty();
        String wanted = bundle.getKey().getAlias();
        for (String alias : Collections.list(keys.aliases())) {
            if (keys.isKeyEntry(alias) && (wanted == null || wanted.equalsIgnoreCase(alias))) {
                Key key = keys.getKey(alias, keyPassword(bundle));
                if (!(key instanceof PrivateKey own) || key.getEncoded() == null) {
                    throw new GeneralSecurityException("the private key \"" + alias + "\" cannot be exported");
                }
                Certificate[] chain = keys.getCertificateChain(alias);
                checkPair(alias, own, chain[0]);
                out.setKeyEntry(alias, key, password.toCharArray(), chain);
                return out;
            }
        }
        throw new GeneralSecurityException(
                wanted == null
                        ? "its key store has no private key"
                        : "its key store has no private key \"" + wanted + '"');
    }

    /** Refuses a key whose certificate is of another key, such as that of a pair of files of which one is replaced. */
    private static void checkPair(String alias, PrivateKey key, Certificate certificate)
            throws GeneralSecurityException {
        String algorithm =
                switch (key.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    case "DSA" -> "SHA256withDSA";
                    case "EdDSA", "Ed25519", "Ed448" -> "EdDSA";
                    default -> "";
                };
        if (algorithm.isEmpty()) {
            return; // the handshake will tell
        }
        boolean pair;
        try {
            byte[] text = alias.getBytes(StandardCharsets.UTF_8);
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(text);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(text);
            pair = signature.verify(signed);
        } catch (InvalidKeyException | SignatureException another) {
            pair = false;
        }
        if (!pair) {
            throw new GeneralSecurityException("the private key \"" + alias + "\" does not match its certificate");
        }
    }

    private static char @Nullable [] keyPassword(SslBundle bundle) {
        String own = bundle.getKey().getPassword();
        String ofStore = own != null ? own : bundle.getStores().getKeyStorePassword();
        return ofStore == null ? null : ofStore.toCharArray();
    }

    private static KeyStore certificatesOf(KeyStore trusted) throws GeneralSecurityException, IOException {
        KeyStore out = empty();
        int count = 0;
        for (String alias : Collections.list(trusted.aliases())) {
            Certificate certificate = trusted.getCertificate(alias);
            if (certificate != null) {
                out.setCertificateEntry(alias, certificate);
                count++;
            }
        }
        if (count == 0) {
            throw new GeneralSecurityException("its trust store has no certificate");
        }
        return out;
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private void save(KeyStore store, Path file) throws GeneralSecurityException, IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        try (OutputStream out = Files.newOutputStream(fresh)) {
            store.store(out, password.toCharArray());
        }
        Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private Path keyStore() {
        return folder().resolve(KEY_STORE);
    }

    private Path trustStore() {
        return folder().resolve(TRUST_STORE);
    }

    private Path folder() {
        Path present = folder;
        if (present == null) {
            try {
                // Only its owner can read it: the default for temporary folders where the file system knows owners.
                present = Files.createTempDirectory("latchkey-tls-");
            } catch (IOException failed) {
                throw new ClientStartException(
                        "The stores of the SSL bundle need a temporary folder, and none can be made: " + failed,
                        "Give the process a folder that it may write to, by -Djava.io.tmpdir.",
                        failed);
            }
            folder = present;
        }
        return present;
    }

    @Override
    public synchronized void destroy() throws IOException {
        Path present = folder;
        folder = null;
        if (present != null) {
            for (String file : new String[] {KEY_STORE, TRUST_STORE, KEY_STORE + ".new", TRUST_STORE + ".new"}) {
                Files.deleteIfExists(present.resolve(file));
            }
            Files.deleteIfExists(present);
        }
    }
}
