// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.LockClient;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the actuator endpoint {@code locks}. */
@AutoConfiguration(after = LatchkeyAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnAvailableEndpoint(LocksEndpoint.class)
@ConditionalOnBooleanProperty(name = "latchkey.enabled", matchIfMissing = true)
public final class LatchkeyEndpointAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    LocksEndpoint locksEndpoint(LockClient client, LatchkeyClientProperties properties) {
        return new LocksEndpoint(client, properties.endpoint());
    }
}
