// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.OnLoss;
import io.latchkey.spring.IfBusy;
import io.latchkey.spring.Locked;
import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.SimulatedLocks;
import jakarta.annotation.PostConstruct;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import reactor.core.publisher.Mono;

/** Wrong uses of {@link Locked}, each of which ends the start with its place. */
@Tag("slow")
@Timeout(60)
class LockedMistakesTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private final ApplicationContextRunner application = SERVER.application(
            AopAutoConfiguration.class, PropertyPlaceholderAutoConfiguration.class, LockedAutoConfiguration.class);

    private void startFails(Class<?> bean, String... parts) {
        application.withBean(bean).run(context -> {
            Throwable failure = context.getStartupFailure();
            assertThat(failure).as("the start with " + bean).isNotNull();
            assertThat(said(failure)).contains(bean.getName() + ".").contains(parts);
        });
    }

    private static String said(Throwable failure) {
        return NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
    }

    static class NoPath {
        @Locked
        public void work() {}
    }

    static class RelativePath {
        @Locked("work")
        public void work() {}
    }

    static class ForbiddenPath {
        @Locked("/zookeeper/locks")
        public void work() {}
    }

    static class UnknownPlaceholder {
        @Locked("${nowhere}/work")
        public void work() {}
    }

    static class UnparsableKey {
        @Locked(path = "/work", key = "#order.")
        public void work(String order) {}
    }

    static class UnknownName {
        @Locked(path = "/work", key = "#ordr")
        public void work(String order) {}
    }

    static class MarkForgotten {
        @Locked(path = "/work", key = "order")
        public void work(String order) {}
    }

    static class NoDuration {
        @Locked(path = "/work", timeout = "ten seconds")
        public void work() {}
    }

    static class NegativeTimeout {
        @Locked(path = "/work", timeout = "-1s")
        public void work() {}
    }

    static class NoTimeAtAll {
        @Locked(path = "/work", atMost = "0s")
        public void work() {}
    }

    @SuppressWarnings("UnusedMethod")
    static class PrivateMethod {
        @Locked("/work")
        private void work() {}
    }

    static class StaticMethod {
        @Locked("/work")
        public static void work() {}
    }

    static class FinalMethod {
        @Locked("/work")
        public final void work() {}
    }

    static final class FinalClass {
        @Locked("/work")
        public void work() {}
    }

    static class ReactiveWork {
        @Locked("/work")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class SkippedResult {
        @Locked(path = "/work", ifBusy = IfBusy.SKIP)
        public long work() {
            return 1;
        }
    }

    static class InterruptedStage {
        @Locked(path = "/work", onLoss = OnLoss.INTERRUPT)
        public CompletableFuture<String> work() {
            return CompletableFuture.completedFuture("");
        }
    }

    @Test
    void pathIsMissingOrBad() {
        startFails(NoPath.class, "work() is @Locked", "it has no path");
        startFails(RelativePath.class, "must begin with /");
        startFails(ForbiddenPath.class, "belongs to the server");
        startFails(UnknownPlaceholder.class, "cannot be resolved", "nowhere");
    }

    @Test
    void keyCannotBeTrue() {
        startFails(UnparsableKey.class, "work(String) is @Locked", "cannot be parsed");
        startFails(UnknownName.class, "uses #ordr", "its parameters are order");
        startFails(MarkForgotten.class, "The parameter is #order");
    }

    @Test
    void timeIsNone() {
        startFails(NoDuration.class, "timeout \"ten seconds\" is no duration");
        startFails(NegativeTimeout.class, "is negative");
        startFails(NoTimeAtAll.class, "its atMost is zero");
    }

    @Test
    void methodHasNoProxy() {
        startFails(PrivateMethod.class, "it is private");
        startFails(StaticMethod.class, "it is static");
        startFails(FinalMethod.class, "it is final");
        startFails(FinalClass.class, "is final");
    }

    @Test
    void resultDoesNotFit() {
        startFails(ReactiveWork.class, "it returns a Mono");
        startFails(SkippedResult.class, "ifBusy is SKIP", "no long to return");
        startFails(InterruptedStage.class, "no thread to interrupt");
    }

    // ---- calls on the own object

    static class CallsItself {
        @Locked(path = "/work", key = "#key")
        public long work(String key, long amount) {
            return amount;
        }
    }

    static class PlainSelfCall extends CallsItself {
        public long twice(boolean more) {
            long first = 1;
            return first + work(more ? "a" : "b", first * 2);
        }
    }

    static class SelfCallInALambda extends CallsItself {
        public LongSupplier later() {
            return () -> work("a", 1);
        }
    }

    static class SelfCallByReference {
        @Locked(path = "/work", key = "#key")
        public long work(String key) {
            return 1;
        }

        public ToLongFunction<String> later() {
            return this::work;
        }
    }

    static class SelfCallInATry extends CallsItself {
        public long tried(String key) {
            try {
                return Long.parseLong(key);
            } catch (NumberFormatException none) {
                synchronized (this) {
                    return work(
                            switch (key) {
                                case "a" -> "b";
                                case "c" -> "d";
                                default -> key;
                            },
                            1L);
                }
            }
        }
    }

    interface CallsInADefault {
        long work(String key, long amount);

        default long twice() {
            return work("a", 2);
        }
    }

    static class SelfCallInADefault extends CallsItself implements CallsInADefault {}

    static class SelfCallInAClassWithin extends CallsItself {
        public LongSupplier later() {
            return new LongSupplier() {
                @Override
                public long getAsLong() {
                    return work("a", 1);
                }
            };
        }
    }

    static class SelfCallByAVariable extends CallsItself {
        public long twice(boolean more) {
            SelfCallByAVariable same = this;
            return more ? same.work("a", 1) : 0;
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                PlainSelfCall.class,
                SelfCallInALambda.class,
                SelfCallByReference.class,
                SelfCallInATry.class,
                SelfCallInADefault.class,
                SelfCallInAClassWithin.class,
                SelfCallByAVariable.class
            })
    void callOnTheOwnObjectIsRefused(Class<?> bean) {
        application.withBean(bean).run(context -> assertThat(said(context.getStartupFailure()))
                .contains("calls it on its own object")
                .contains(bean == SelfCallInADefault.class ? "CallsInADefault.twice" : bean.getName())
                .contains("latchkey.locked.check-self-calls=false"));
        application
                .withBean(bean)
                .withPropertyValues("latchkey.locked.check-self-calls=false")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** Calls on another object of the class, and one of a method that has the same lock. */
    static class NoSelfCalls {
        private NoSelfCalls self = this;
        private long calls;

        @Locked(path = "/work", key = "#key")
        public long work(String key) {
            return work(key, 2);
        }

        @Locked(path = "/work", key = "#key")
        public long work(String key, long amount) {
            calls += amount;
            return calls;
        }

        public long byReference(NoSelfCalls other, boolean own) {
            this.calls++;
            return (own ? self : other).work("a", calls) + self.work("b") + this.self.work(name(this));
        }

        private static String name(Object any) {
            return any.getClass().getSimpleName();
        }
    }

    @Test
    void callOnAnotherObjectIsAllowed() {
        application.withBean(NoSelfCalls.class).run(context -> assertThat(context)
                .hasNotFailed());
    }

    interface WorkInterface {
        void work();
    }

    static class HiddenWork implements WorkInterface {
        @Override
        public void work() {}

        @Locked("/work")
        public void hidden() {}
    }

    @Test
    void methodIsInNoInterface_whereProxiesHaveInterfacesOnly() {
        application
                .withBean(HiddenWork.class)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context ->
                        assertThat(said(context.getStartupFailure())).contains("it is in no interface of its bean"));
    }

    // ---- calls past the proxy, and beans without one

    static class AtTheBegin {
        @PostConstruct
        @Locked("/work")
        public void work() {}
    }

    static class AfterItsProperties implements InitializingBean {
        @Override
        @Locked("/work")
        public void afterPropertiesSet() {}
    }

    static class AtTheEnd implements AutoCloseable {
        @Override
        @Locked("/work")
        public void close() {}
    }

    static class WorkWithInitMethod {
        @Locked("/work")
        public void begin() {}
    }

    @Test
    void methodIsCalledByTheContainer() {
        startFails(AtTheBegin.class, "past the proxy");
        startFails(AfterItsProperties.class, "past the proxy");
        startFails(AtTheEnd.class, "past the proxy");
        application
                .withBean(
                        WorkWithInitMethod.class,
                        WorkWithInitMethod::new,
                        definition -> definition.setInitMethodName("begin"))
                .run(context -> assertThat(said(context.getStartupFailure())).contains("past the proxy"));
    }

    static class EarlyWork {
        @Locked("/work")
        public void work() {}
    }

    static class EarlyProcessor implements BeanPostProcessor, Ordered {
        private final EarlyWork early;

        EarlyProcessor(EarlyWork early) {
            this.early = early;
        }

        @Override
        public int getOrder() {
            return early.hashCode() & 1;
        }
    }

    static class FactoryProcessor implements BeanFactoryPostProcessor {
        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
            assertThat(beans.getBean(EarlyWork.class)).isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {EarlyProcessor.class, FactoryProcessor.class})
    void beanIsMadeBeforeItsProxyCouldBe(Class<?> user) {
        application.withBean(EarlyWork.class).withBean(user).run(context -> assertThat(
                        said(context.getStartupFailure()))
                .contains(EarlyWork.class.getName() + ".work()")
                .contains("no proxy"));
    }

    @Test
    void severalClientsAreThere() {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            application
                    .withBean("one", LockClient.class, locks::client)
                    .withBean("two", LockClient.class, locks::client)
                    .withBean(EarlyWork.class)
                    .run(context -> assertThat(said(context.getStartupFailure()))
                            .contains("2 beans of LockClient")
                            .contains("@Primary"));
        }
    }

    @Test
    void beanHasTwoProxies() {
        application
                .withBean(EarlyWork.class)
                .withBean(DefaultAdvisorAutoProxyCreator.class)
                .run(context -> assertThat(said(context.getStartupFailure())).contains("two proxies"));
    }
}
