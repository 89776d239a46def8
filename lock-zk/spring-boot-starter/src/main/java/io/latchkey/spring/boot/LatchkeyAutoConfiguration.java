// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.zk.ZkLockClient;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Auto-configuration of the lock client and of its end. */
@AutoConfiguration(after = {SslAutoConfiguration.class, LatchkeyMetricsAutoConfiguration.class})
@ConditionalOnClass(ZkLockClient.class)
@ConditionalOnBooleanProperty(name = "latchkey.enabled", matchIfMissing = true)
@EnableConfigurationProperties(LatchkeyClientProperties.class)
public final class LatchkeyAutoConfiguration {
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(LockClient.class)
    static class Client {
        @Bean
        @ConditionalOnMissingBean(LatchkeyConnectionDetails.class)
        PropertiesConnectionDetails latchkeyConnectionDetails(
                LatchkeyClientProperties properties, ObjectProvider<SslBundles> bundles) {
            return new PropertiesConnectionDetails(properties, bundles);
        }

        /** Deletes its files after the client, which depends on it, is destroyed. */
        @Bean
        BundleStores latchkeyBundleStores() {
            return new BundleStores();
        }

        @Bean(destroyMethod = "close")
        LockClient lockClient(
                LatchkeyClientProperties properties,
                LatchkeyConnectionDetails servers,
                BundleStores stores,
                ObjectProvider<SslBundles> bundles,
                ObjectProvider<LockObserver> observers,
                ObjectProvider<LatchkeyClientCustomizer> customizers,
                Environment environment) {
            return new ClientFactory(properties, servers, stores, bundles, environment)
                    .open(
                            observers.orderedStream().toList(),
                            customizers.orderedStream().toList());
        }
    }

    /** Registered after {@link Client}, as the methods of a class are after its nested ones. */
    @Bean
    @ConditionalOnSingleCandidate(LockClient.class)
    @ConditionalOnMissingBean
    @ConditionalOnBooleanProperty(name = "latchkey.lifecycle.enabled", matchIfMissing = true)
    LatchkeyLifecycle latchkeyLifecycle(LockClient client, LatchkeyClientProperties properties) {
        return new LatchkeyLifecycle(client, properties.grace());
    }
}
