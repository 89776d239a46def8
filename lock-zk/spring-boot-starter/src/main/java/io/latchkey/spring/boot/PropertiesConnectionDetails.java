// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/** The servers and the SSL bundle by the properties {@code latchkey.*}. */
final class PropertiesConnectionDetails implements LatchkeyConnectionDetails {
    private final LatchkeyClientProperties properties;
    private final ObjectProvider<SslBundles> bundles;

    PropertiesConnectionDetails(LatchkeyClientProperties properties, ObjectProvider<SslBundles> bundles) {
        this.properties = properties;
        this.bundles = bundles;
    }

    @Override
    public String connectString() {
        String servers = properties.connectString();
        if (servers == null || servers.isBlank()) {
            throw new ClientStartException(
                    "latchkey.connect-string is not set, so the lock client has no servers.",
                    "Set latchkey.connect-string to the ZooKeeper servers, such as zk1:2181,zk2:2181,zk3:2181/app, or"
                            + " latchkey.enabled=false for a run without locks.",
                    null);
        }
        return servers;
    }

    @Override
    public @Nullable SslBundle sslBundle() {
        String name = properties.ssl().bundle();
        if (name == null) {
            return null;
        }
        SslBundles all = bundles.getIfAvailable();
        try {
            if (all != null) {
                return all.getBundle(name);
            }
        } catch (NoSuchSslBundleException missing) {
            throw missing(name, missing);
        }
        throw missing(name, null);
    }

    private static ClientStartException missing(String name, @Nullable Throwable cause) {
        return new ClientStartException(
                "latchkey.ssl.bundle names the SSL bundle '" + name + "', and there is no such bundle.",
                "Define it by spring.ssl.bundle.jks." + name + ".* or spring.ssl.bundle.pem." + name
                        + ".*, or correct the name.",
                cause);
    }
}
