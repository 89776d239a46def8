// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.integration;

import io.latchkey.lock.LockClient;
import io.latchkey.spring.boot.LatchkeyAutoConfiguration;
import io.latchkey.spring.boot.LatchkeyClientProperties;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** Auto-configuration of Spring Integration's lock registry. */
@AutoConfiguration(after = LatchkeyAutoConfiguration.class)
@ConditionalOnClass({LockRegistry.class, DistributedLock.class})
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnBooleanProperty(
        name = {"latchkey.enabled", "latchkey.integration.enabled"},
        matchIfMissing = true)
public final class LatchkeyIntegrationAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(LockRegistry.class)
    LatchkeyLockRegistry lockRegistry(LockClient client, LatchkeyClientProperties properties) {
        return new LatchkeyLockRegistry(client, properties.integration().path());
    }
}
