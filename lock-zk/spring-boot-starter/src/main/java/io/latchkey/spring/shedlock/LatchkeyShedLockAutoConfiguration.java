// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.shedlock;

import io.latchkey.lock.LockClient;
import io.latchkey.spring.boot.LatchkeyAutoConfiguration;
import io.latchkey.spring.boot.LatchkeyClientProperties;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of ShedLock's lock provider. */
@AutoConfiguration(after = LatchkeyAutoConfiguration.class)
@ConditionalOnClass(LockProvider.class)
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnBooleanProperty(
        name = {"latchkey.enabled", "latchkey.shedlock.enabled"},
        matchIfMissing = true)
public final class LatchkeyShedLockAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(LockProvider.class)
    LatchkeyLockProvider lockProvider(LockClient client, LatchkeyClientProperties properties) {
        return new LatchkeyLockProvider(client, properties.shedlock().path());
    }
}
