// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.micrometer.LockMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Auto-configuration of the lock client's meters. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration"
        })
@ConditionalOnClass({MeterRegistry.class, LockMeters.class})
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnBooleanProperty(
        name = {"latchkey.enabled", "latchkey.metrics.enabled"},
        matchIfMissing = true)
public final class LatchkeyMetricsAutoConfiguration {
    /**
     * Lazy, so made for a client alone: the starter's, or one of the application that takes it. The gauges of one that no
     * client notifies would say for ever that it is not connected.
     */
    @Bean
    @Lazy
    @ConditionalOnMissingBean
    LockMeters lockMeters(MeterRegistry meters) {
        return LockMeters.of(meters);
    }

    /** Describes the meters that Micrometer makes of observations, which have no description. */
    @Bean
    @ConditionalOnMissingBean(name = "latchkeyMeterDescriptions")
    static MeterFilter latchkeyMeterDescriptions() {
        return new MeterDescriptions();
    }
}
