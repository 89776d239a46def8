// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.queue.PrintableText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.UnrecoverableKeyException;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.common.X509Util;
import org.jspecify.annotations.Nullable;

/**
 * The TLS settings of ZooKeeper's client, and the check of them before a handle is opened. ZooKeeper's client reads the
 * stores at each attempt to connect, logs what is wrong with them, and goes on trying.
 */
final class TlsSettings {
    private static final String NIO = "org.apache.zookeeper.ClientCnxnSocketNIO";
    private static final String NETTY = "org.apache.zookeeper.ClientCnxnSocketNetty";
    private static final String NETTY_SETTING = ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET + '=' + NETTY;
    private static final String SECURE_SETTING = ZKClientConfig.SECURE_CLIENT + "=true";
    /** The prefix of the type of a setting's value: {@code NIO}, as ZooKeeper's client takes it too. */
    private static final String PACKAGE = "org.apache.zookeeper.";

    private static final String FIPS = "zookeeper.fips-mode";

    private final ZKClientConfig config;
    private final X509Util names = new ClientX509Util();

    TlsSettings(ZKClientConfig config) {
        this.config = config;
    }

    /** Returns whether the client is to connect by TLS. */
    boolean isSecure() {
        return config.getBoolean(ZKClientConfig.SECURE_CLIENT);
    }

    /** Returns the setting of the first store that is configured. */
    Optional<String> storeSetting() {
        return isSet(names.getSslKeystoreLocationProperty())
                ? Optional.of(names.getSslKeystoreLocationProperty())
                : Optional.of(names.getSslTruststoreLocationProperty()).filter(this::isSet);
    }

    Optional<String> keyStore() {
        return Optional.ofNullable(config.getProperty(names.getSslKeystoreLocationProperty()));
    }

    String keyStoreSetting() {
        return names.getSslKeystoreLocationProperty();
    }

    String trustStoreSetting() {
        return names.getSslTruststoreLocationProperty();
    }

    /**
     * Returns whether a handshake of ZooKeeper's client leaves the check of the host name to the JDK, as it does in FIPS
     * mode. Without that mode the trust manager of the context checks it.
     */
    boolean jdkChecksHostName() {
        return config.getBoolean(names.getSslHostnameVerificationEnabledProperty(), true)
                && config.getBoolean(FIPS, true);
    }

    /** Returns the settings for TLS, for an error text. */
    static String wanted() {
        return SECURE_SETTING + " and " + NETTY_SETTING;
    }

    /**
     * Checks the settings of a client with TLS.
     *
     * @throws LockServiceUnavailableException if no connection can come about with them, whatever the servers do
     */
    void check() {
        if (!isSecure()) {
            return;
        }
        String socket = config.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET);
        if (socket == null) {
            throw wrong(
                    "TLS is asked for by " + SECURE_SETTING
                            + ", but no socket is named, and ZooKeeper's default one has no TLS. Nothing was sent. Set "
                            + NETTY_SETTING
                            + ".",
                    null);
        }
        if (socket.equals(NIO) || (PACKAGE + socket).equals(NIO)) {
            throw wrong(
                    "TLS is asked for by " + SECURE_SETTING + ", but " + ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET
                            + " is " + socket + ", which has no TLS. Nothing was sent. Set " + NETTY_SETTING + ".",
                    null);
        }
        checkFile(names.getSslKeystoreLocationProperty());
        checkFile(names.getSslTruststoreLocationProperty());
        try {
            SSLContext unused = context();
        } catch (X509Exception unusable) {
            throw unusable(unusable);
        }
    }

    /** Returns the context that ZooKeeper's client makes its connections with. */
    SSLContext context() throws X509Exception {
        return names.createSSLContext(config);
    }

    private boolean isSet(String setting) {
        String value = config.getProperty(setting);
        return value != null && !value.isEmpty();
    }

    private void checkFile(String setting) {
        if (!isSet(setting)) {
            return;
        }
        Path file = Path.of(config.getProperty(setting));
        try (InputStream in = Files.newInputStream(file)) {
            int unused = in.read();
        } catch (IOException unreadable) {
            throw wrong(
                    "The TLS store " + file + " (" + setting + ") "
                            + (unreadable instanceof NoSuchFileException ? "does not exist" : "cannot be read")
                            + ". Nothing was sent. Check the path, and the rights of this process.",
                    unreadable);
        }
    }

    /** Names the store: the cause says only that a password is wrong. */
    private LockServiceUnavailableException unusable(X509Exception cause) {
        boolean trust = has(cause, X509Exception.TrustManagerException.class);
        boolean key = has(cause, X509Exception.KeyManagerException.class);
        if (!trust && !key) {
            return wrong(
                    "The TLS settings of ZooKeeper's client cannot be used: " + deepest(cause)
                            + ". Nothing was sent. Compare them with docs/security.md.",
                    cause);
        }
        String setting = trust ? names.getSslTruststoreLocationProperty() : names.getSslKeystoreLocationProperty();
        String password = trust ? names.getSslTruststorePasswdProperty() : names.getSslKeystorePasswdProperty();
        String why = has(cause, UnrecoverableKeyException.class) ? "its password is another one" : deepest(cause);
        return wrong(
                "The TLS store " + config.getProperty(setting) + " (" + setting + ") cannot be opened: " + why
                        + ". Nothing was sent. Check " + password + " and the type of the file.",
                cause);
    }

    private static boolean has(Throwable error, Class<?> type) {
        return causes(error).anyMatch(type::isInstance);
    }

    static Stream<Throwable> causes(Throwable error) {
        return Stream.iterate(error, each -> each != null, Throwable::getCause);
    }

    /** Returns the text of the cause that says most: the one at the end of the chain. */
    static String deepest(Throwable error) {
        String text = causes(error)
                .map(Throwable::getMessage)
                .filter(message -> message != null && !message.isBlank())
                .reduce((above, below) -> below)
                .orElse(error.toString());
        return PrintableText.printable(text.replaceAll("\\.+$", ""), PrintableText.LONGEST);
    }

    /** Returns the error for settings that cannot work. */
    static LockServiceUnavailableException wrong(String message, @Nullable Throwable cause) {
        return error(message, Reason.TLS_MISCONFIGURED, cause);
    }

    static LockServiceUnavailableException error(String message, Reason reason, @Nullable Throwable cause) {
        LockServiceUnavailableException error = new LockServiceUnavailableException(message, reason);
        if (cause != null) {
            Throwable unused = error.initCause(cause);
        }
        return error;
    }
}
