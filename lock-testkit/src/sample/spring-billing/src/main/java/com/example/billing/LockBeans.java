// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.lock.LockClient;
import io.latchkey.zk.ZkLockClient;
import io.latchkey.lock.micrometer.LockMeters;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.LockProvider;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ConfigException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

/** One lock client for the whole service, and the beans that are made of it. */
@Configuration(proxyBeanMethods = false)
class LockBeans {
    @Bean
    LockClient locks(
            LockSettings settings, @Value("${spring.application.name}") String name, MeterRegistry meters)
            throws ConfigException, InterruptedException {
        ZkLockClient.Builder builder = ZkLockClient.builder()
                .connectString(settings.servers())
                .sessionTimeout(settings.sessionTimeout())
                .connectTimeout(settings.connectTimeout())
                .ownerLabel(name)
                .observer(LockMeters.of(meters));
        if (settings.clientConfig() != null) {
            builder.clientConfig(new ZKClientConfig(settings.clientConfig()))
                    .acl(ZooDefs.Ids.CREATOR_ALL_ACL); // a login by certificate is not seen by the builder
        }
        return builder.build();
    }

    @Bean
    LocksLifecycle locksLifecycle(LockClient locks, LockSettings settings) {
        return new LocksLifecycle(locks, settings.grace());
    }

    /** Named "locks" in the answer of the health endpoint, and a part of the readiness probe. */
    @Bean
    HealthIndicator locksHealthIndicator(LockClient locks) {
        return () -> {
            var session = locks.session();
            Health.Builder health = session.isConnected() ? Health.up() : Health.outOfService();
            return health.withDetail("state", session.state())
                    .withDetail("since", session.since())
                    .build();
        };
    }

    /** The locks of Spring Integration: aggregators, file filters, leaders. */
    @Bean
    LockRegistry<Lock> lockRegistry(LockClient locks) {
        return new LatchkeyLockRegistry(locks, "/billing/registry");
    }

    /** One instance at a time is the leader of the role; it publishes OnGrantedEvent and OnRevokedEvent. */
    @Bean
    LockRegistryLeaderInitiator leaderInitiator(LockRegistry<Lock> registry) {
        return new LockRegistryLeaderInitiator(registry, new DefaultCandidate(null, "dunning"));
    }

    /** The locks of scheduled jobs. */
    @Bean
    LockProvider lockProvider(LockClient locks) {
        return new LatchkeyLockProvider(locks, "/billing/jobs");
    }
}
