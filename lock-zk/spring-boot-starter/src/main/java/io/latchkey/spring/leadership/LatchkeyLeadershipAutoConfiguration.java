// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.leadership;

import io.latchkey.lock.LockClient;
import io.latchkey.spring.boot.LatchkeyAutoConfiguration;
import io.latchkey.spring.boot.LatchkeyClientProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the candidates for a leadership. */
@AutoConfiguration(after = LatchkeyAutoConfiguration.class)
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnBooleanProperty(
        name = {"latchkey.enabled", "latchkey.leadership.enabled"},
        matchIfMissing = true)
public final class LatchkeyLeadershipAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    LeaderElections leaderElections(
            LockClient client,
            LatchkeyClientProperties properties,
            ObjectProvider<LeaderTask> tasks,
            ApplicationEventPublisher events) {
        LatchkeyClientProperties.LeaderElection settings = properties.leadership();
        return new LeaderElections(
                client,
                settings.path(),
                properties.grace(),
                settings.roles(),
                tasks.orderedStream().toList(),
                events);
    }
}
