// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.BadPathException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.ZkLockClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.ConfigException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.core.env.Environment;

/** Opens the lock client of the application by its properties, and says what to do where that fails. */
final class ClientFactory {
    private static final int LONGEST_LABEL = 256;
    /** What a client of ZooKeeper without TLS is told to set. The starter has a property for it. */
    private static final Pattern WITHOUT_TLS =
            Pattern.compile("Set zookeeper\\.client\\.secure=true and .*certificates\\.");

    private final LatchkeyClientProperties properties;
    private final LatchkeyConnectionDetails servers;
    private final BundleStores stores;
    private final ObjectProvider<SslBundles> bundles;
    private final Environment environment;

    ClientFactory(
            LatchkeyClientProperties properties,
            LatchkeyConnectionDetails servers,
            BundleStores stores,
            ObjectProvider<SslBundles> bundles,
            Environment environment) {
        this.properties = properties;
        this.servers = servers;
        this.stores = stores;
        this.bundles = bundles;
        this.environment = environment;
    }

    LockClient open(List<LockObserver> observers, List<LatchkeyClientCustomizer> customizers) {
        String connectString = servers.connectString();
        SslBundle bundle = bundle();
        boolean waits = !properties.connectTimeout().isZero();
        StartLog log = new StartLog(connectString, bundle != null, properties.connectTimeout());
        List<LockObserver> all = new ArrayList<>(observers);
        if (!waits) {
            all.add(log);
        }
        try {
            ZkLockClient.Builder builder = builder(connectString, bundle, !customizers.isEmpty());
            if (!all.isEmpty()) {
                builder.observer(all.size() == 1 ? all.get(0) : new Observers(all));
            }
            customizers.forEach(each -> each.customize(builder));
            LockClient client = waits ? log.whileWaiting(builder::build) : builder.build();
            log.opened(client);
            return client;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ClientStartException(
                    "The start was interrupted while the lock client waited for " + connectString + ".",
                    "Start the application again.",
                    stopped);
        } catch (LockServiceUnavailableException unavailable) {
            throw new ClientStartException(
                    description(unavailable, bundle), whenUnavailable(unavailable, bundle), unavailable);
        } catch (AccessDeniedException denied) {
            throw new ClientStartException(
                    text(denied),
                    "Check the login (latchkey.auth.*, latchkey.client-config, latchkey.ssl.bundle), and the rights to"
                            + " the chroot at the end of latchkey.connect-string.",
                    denied);
        } catch (BadPathException bad) {
            throw new ClientStartException(text(bad), "Correct latchkey.base-path.", bad);
        } catch (IllegalStateException unfit) { // such as a library on the class path that is too old
            throw new ClientStartException(
                    text(unfit),
                    "Correct the class path, or the bean of LatchkeyClientCustomizer that set up the client.",
                    unfit);
        } catch (IllegalArgumentException wrong) {
            throw new ClientStartException(
                    "The lock client refuses its settings: " + text(wrong),
                    "Correct the properties latchkey.*: latchkey.connect-string is " + connectString + ".",
                    wrong);
        }
    }

    private static String text(Exception failed) {
        String message = failed.getMessage();
        return message == null ? failed.toString() : message;
    }

    /** Returns the SSL bundle. A bundle with a file that cannot be read may fail here. */
    private @Nullable SslBundle bundle() {
        try {
            return servers.sslBundle();
        } catch (IllegalStateException unreadable) {
            throw BundleStores.unreadable(bundleName(), unreadable);
        }
    }

    private String bundleName() {
        String name = properties.ssl().bundle();
        return name == null ? "the SSL bundle" : "the SSL bundle '" + name + '\'';
    }

    /** Returns what is wrong, in terms of the application's properties. */
    private String description(LockServiceUnavailableException unavailable, @Nullable SslBundle bundle) {
        String said = text(unavailable);
        if (bundle != null) {
            return stores.inTermsOfTheBundle(said, bundleName());
        }
        return properties.clientConfig() == null
                ? WITHOUT_TLS.matcher(said).replaceFirst("Set latchkey.ssl.bundle.")
                : said;
    }

    private String whenUnavailable(LockServiceUnavailableException unavailable, @Nullable SslBundle bundle) {
        boolean byConfig = bundle == null && properties.clientConfig() != null;
        return switch (unavailable.reason()) {
            case TLS_REFUSED ->
                (byConfig
                                ? "Correct the TLS settings of latchkey.client-config"
                                : "Correct " + bundleName() + " (spring.ssl.bundle.*)")
                        + ", or the certificates and trust stores of the servers.";
            case TLS_MISCONFIGURED ->
                bundle != null
                        ? "Correct " + bundleName() + ", or give the servers' port for TLS in latchkey.connect-string."
                        : byConfig
                                ? "Correct the TLS settings of latchkey.client-config, or the port in"
                                        + " latchkey.connect-string."
                                : "Set latchkey.ssl.bundle to an SSL bundle (spring.ssl.bundle.*) with the servers'"
                                        + " authority in its trust store, and with a key store if the servers ask for a"
                                        + " certificate.";
            default ->
                "Check latchkey.connect-string, and that the servers run. A start that has to wait for them for longer"
                        + " needs a longer latchkey.connect-timeout, which is " + seconds(properties.connectTimeout())
                        + "; with 0s the application starts without them. logging.level.org.apache.zookeeper=info shows"
                        + " what ZooKeeper's client says.";
        };
    }

    private static String seconds(Duration time) {
        return time.toMillis() / 1000.0 + " s";
    }

    private ZkLockClient.Builder builder(String connectString, @Nullable SslBundle bundle, boolean customized) {
        ZkLockClient.Builder builder = ZkLockClient.builder()
                .connectString(connectString)
                .sessionTimeout(properties.sessionTimeout())
                .connectTimeout(properties.connectTimeout())
                .ownerLabel(label());
        String basePath = properties.basePath();
        if (basePath != null && !basePath.isEmpty()) {
            builder.basePath(basePath);
        }
        Integer turns = properties.localTurns().maxTurns();
        if (turns != null) {
            builder.localTurns(turns, properties.localTurns().maxTime());
        }
        String credentials = properties.auth().credentials();
        if (credentials != null) {
            checkCredentials(properties.auth().scheme(), credentials);
            builder.auth(properties.auth().scheme(), credentials.getBytes(StandardCharsets.UTF_8));
        }
        Boolean creatorOnly = properties.creatorOnly();
        if (creatorOnly != null) {
            builder.acl(creatorOnly ? ZooDefs.Ids.CREATOR_ALL_ACL : ZooDefs.Ids.OPEN_ACL_UNSAFE);
        }
        ZKClientConfig config = clientConfig(properties.clientConfig());
        if (bundle != null) {
            stores.apply(bundle, bundleName(), config);
            String name = properties.ssl().bundle();
            if (name != null) {
                bundles.ifAvailable(all -> all.addBundleUpdateHandler(name, stores::update));
            }
        }
        if (Boolean.TRUE.equals(creatorOnly) && credentials == null && !customized && !mayLogIn(config)) {
            throw new ClientStartException(
                    "latchkey.creator-only is true, and the lock client has no login. The servers would refuse each of its"
                            + " requests (INVALIDACL), since its nodes would have no creator.",
                    "Set a login: latchkey.auth.credentials, latchkey.ssl.bundle with a key store, or"
                            + " latchkey.client-config with a login by SASL. Or leave out latchkey.creator-only.",
                    null);
        }
        return builder.clientConfig(config);
    }

    private static void checkCredentials(String scheme, String credentials) {
        if (scheme.equals("digest") && credentials.indexOf(':') <= 0) {
            throw new ClientStartException(
                    "latchkey.auth.credentials has no user name before a colon, as the scheme digest needs it.",
                    "Set latchkey.auth.credentials=USER:PASSWORD, or the scheme (latchkey.auth.scheme) that the"
                            + " credentials are for.",
                    null);
        }
    }

    /** Returns whether a connection may have a login: by a certificate, by SASL, or by what a file of settings says. */
    private boolean mayLogIn(ZKClientConfig config) {
        try (ClientX509Util names = new ClientX509Util()) {
            return properties.clientConfig() != null
                    || config.getProperty(names.getSslKeystoreLocationProperty()) != null
                    || (config.isSaslClientEnabled() && hasSaslLogin(config));
        }
    }

    private static boolean hasSaslLogin(ZKClientConfig config) {
        String section = config.getProperty(
                ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, ZKClientConfig.LOGIN_CONTEXT_NAME_KEY_DEFAULT);
        try {
            return javax.security.auth.login.Configuration.getConfiguration().getAppConfigurationEntry(section) != null;
        } catch (SecurityException none) {
            return false; // no file with logins, or one that cannot be read
        }
    }

    private String label() {
        String label = properties.ownerLabel();
        if (label == null) {
            label = environment.getProperty("spring.application.name", "");
            return label.length() > LONGEST_LABEL ? label.substring(0, LONGEST_LABEL) : label;
        }
        return label;
    }

    private static ZKClientConfig clientConfig(@Nullable Path file) {
        if (file == null) {
            return new ZKClientConfig();
        }
        if (!Files.isReadable(file)) {
            throw new ClientStartException(
                    "latchkey.client-config names " + file.toAbsolutePath() + ", which cannot be read.",
                    "Correct the path, or the rights to the file.",
                    null);
        }
        try {
            return new ZKClientConfig(file);
        } catch (ConfigException bad) {
            throw new ClientStartException(
                    "latchkey.client-config names " + file.toAbsolutePath() + ", which is no properties file: "
                            + text(bad),
                    "Correct the file.",
                    bad);
        }
    }
}
