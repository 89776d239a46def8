// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.LockClient;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Auto-configuration of the health of the lock client, which is a part of the readiness probe. */
@AutoConfiguration(
        after = LatchkeyAutoConfiguration.class,
        beforeName =
                "org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration",
        afterName =
                "org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration")
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnEnabledHealthIndicator("locks")
@ConditionalOnBooleanProperty(name = "latchkey.enabled", matchIfMissing = true)
public final class LatchkeyHealthAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(name = {"locksHealthIndicator", "locksHealthContributor"})
    LocksHealthIndicator locksHealthIndicator(LockClient client) {
        return new LocksHealthIndicator(client);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HealthEndpointGroupsPostProcessor.class)
    @ConditionalOnBooleanProperty(name = "latchkey.health.readiness", matchIfMissing = true)
    static class Readiness {
        @Bean
        static LocksReadiness latchkeyLocksReadiness(Environment environment) {
            return new LocksReadiness(environment);
        }
    }
}
