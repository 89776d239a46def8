// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.micrometer.ObservedLock;
import io.latchkey.spring.CurrentLease;
import io.latchkey.spring.Locked;
import io.latchkey.spring.boot.LatchkeyAutoConfiguration;
import io.latchkey.spring.boot.LatchkeyClientProperties;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiFunction;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Auto-configuration of {@link Locked} methods. It asks for no bean, and backs off for none: without it the annotation
 * would do nothing, and two callers would be in a method at once. What is missing fails the start of an application
 * that has such methods.
 */
@AutoConfiguration(
        after = LatchkeyAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnBooleanProperty(
        name = {"latchkey.enabled", "latchkey.locked.enabled"},
        matchIfMissing = true)
@EnableConfigurationProperties(LatchkeyClientProperties.class)
@Import(LockedAutoConfiguration.Proxies.class)
public final class LockedAutoConfiguration {
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ThreadLeases latchkeyThreadLeases() {
        return new ThreadLeases();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    @ConditionalOnMissingBean
    static CurrentLease latchkeyCurrentLease(ThreadLeases held) {
        return held::find;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedMethods latchkeyLockedMethods(ConfigurableListableBeanFactory beans) {
        return new LockedMethods(beans);
    }

    /** Made early, as all advisors are: it gets the client when a method is called. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor latchkeyLockedAdvisor(
            LockedMethods methods,
            ThreadLeases held,
            ObjectProvider<LockClient> client,
            ObjectProvider<LockedSettings> settings,
            ConfigurableListableBeanFactory beans,
            Environment environment) {
        DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(
                new AnnotationMatchingPointcut(null, Locked.class, true),
                new LockedInterceptor(methods, held, client, settings, beans));
        advisor.setOrder(
                environment.getProperty("latchkey.locked.order", Integer.class, LatchkeyClientProperties.LOCKED_ORDER));
        return advisor;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedChecks latchkeyLockedChecks(
            LockedMethods methods,
            ObjectProvider<LockClient> client,
            ConfigurableListableBeanFactory beans,
            Environment environment) {
        return new LockedChecks(beans, methods, client, new LockedChecks.Settings() {
            @Override
            public boolean proxiesClasses() {
                return Proxies.ofClasses(environment);
            }

            @Override
            public boolean checksSelfCalls() {
                return environment.getProperty("latchkey.locked.check-self-calls", Boolean.class, true);
            }
        });
    }

    @Bean
    static LockedSettings latchkeyLockedSettings(
            LatchkeyClientProperties properties, ObjectProvider<ObservedLocks> observed) {
        Optional<ObservedLocks> observing = Optional.ofNullable(observed.getIfAvailable());
        Duration timeout = properties.locked().timeout();
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("latchkey.locked.timeout is negative: " + timeout);
        }
        return new LockedSettings() {
            @Override
            public Duration timeout() {
                return timeout;
            }

            @Override
            public Acquirable observed(Acquirable lock, String name) {
                return observing.map(each -> each.apply(lock, name)).orElse(lock);
            }
        };
    }

    /** Wraps locks so that their callers are observed. */
    interface ObservedLocks extends BiFunction<Acquirable, String, Acquirable> {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ObservationRegistry.class, ObservedLock.class})
    @ConditionalOnBean(ObservationRegistry.class)
    @ConditionalOnBooleanProperty(name = "latchkey.observations.enabled", matchIfMissing = true)
    static class Observations {
        @Bean
        ObservedLocks latchkeyObservedLocks(ObservationRegistry observations) {
            return (lock, name) -> ObservedLock.of(lock, name, observations);
        }
    }

    /** Sees to it that advisors make proxies, as transactions and caches do. */
    static final class Proxies implements ImportBeanDefinitionRegistrar, EnvironmentAware {
        private boolean ofClasses = true;

        @Override
        public void setEnvironment(Environment environment) {
            ofClasses = ofClasses(environment);
        }

        static boolean ofClasses(Environment environment) {
            return environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
            BeanDefinition unused = AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
            if (ofClasses) {
                AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
            }
        }
    }
}
