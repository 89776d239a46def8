// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.micrometer.LockMeters;
import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.time.Eventually;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.env.MockEnvironment;

/** The client of an application: its properties, its conditions, and what a failed start says. */
@Tag("slow")
@Timeout(60)
class ClientTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final Duration SOON = Duration.ofSeconds(20);

    private final ApplicationContextRunner application = SERVER.application();

    @Test
    void clientIsABean_withOneProperty() {
        ServerOfTheTests.withoutServers()
                .withPropertyValues("latchkey.connect-string=" + SERVER.connectString())
                .run(context -> {
                    LockClient client = context.getBean(LockClient.class);
                    try (Lease lease = client.mutex("/one").acquire()) {
                        assertThat(lease.isValid()).isTrue();
                    }
                    assertThat(context).hasSingleBean(LatchkeyLifecycle.class);
                });
    }

    @Test
    void clientIsClosed_whenTheApplicationEnds() {
        AtomicReference<LockClient> client = new AtomicReference<>();
        application.run(context -> client.set(context.getBean(LockClient.class)));
        assertThat(client.get().session().state().name()).isEqualTo("CLOSED");
    }

    /** As the test framework does it to a context that another test class will use. */
    @Test
    void clientStaysOpen_whenTheContextIsPausedAndRestarted() {
        application.run(context -> {
            var paused = context.getSourceApplicationContext(ConfigurableApplicationContext.class);
            paused.pause();
            assertThat(paused.isRunning()).isFalse();
            paused.restart();
            try (Lease lease =
                    context.getBean(LockClient.class).mutex("/paused").acquire()) {
                assertThat(lease.isValid()).isTrue();
            }
        });
    }

    @Test
    void startFails_whenTheContextWasStopped() {
        application.run(context -> {
            var stopped = context.getSourceApplicationContext(ConfigurableApplicationContext.class);
            stopped.stop();
            assertThatThrownBy(stopped::start)
                    .rootCause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("was closed when the application context was stopped")
                    .hasMessageContaining("start a new one");
        });
    }

    @Test
    void nothingIsThere_whenItIsSwitchedOff() {
        application.withPropertyValues("latchkey.enabled=false").run(context -> assertThat(context)
                .doesNotHaveBean(LockClient.class)
                .doesNotHaveBean(LatchkeyLifecycle.class));
    }

    @Test
    void lifecycleHasASwitch_andBacksOff() {
        application.withPropertyValues("latchkey.lifecycle.enabled=false").run(context -> assertThat(context)
                .hasSingleBean(LockClient.class)
                .doesNotHaveBean(LatchkeyLifecycle.class));
    }

    @Test
    void clientBacksOff_forABeanOfTheApplication() {
        ServerOfTheTests.withoutServers()
                .withUserConfiguration(OwnClient.class)
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .run(context -> {
                    assertThat(context).hasSingleBean(LockClient.class).hasSingleBean(LatchkeyLifecycle.class);
                    assertThat(context).hasBean("ownClient");
                    assertThat(context.getBean(MeterRegistry.class).getMeters())
                            .as("meters that no client keeps")
                            .isEmpty();
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnClient {
        @Bean
        LockClient ownClient() throws InterruptedException {
            return SERVER.client();
        }
    }

    @Test
    void ownClientCanTakeTheMetersOfTheStarter() {
        ServerOfTheTests.withoutServers()
                .withUserConfiguration(ObservedClient.class)
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .run(context -> assertThat(context.getBean(MeterRegistry.class)
                                .get("latchkey.connected")
                                .gauge()
                                .value())
                        .isEqualTo(1.0));
    }

    @Configuration(proxyBeanMethods = false)
    static class ObservedClient {
        @Bean
        LockClient ownClient(LockMeters meters) throws InterruptedException {
            meters.sessionChanged(SessionState.CONNECTED);
            return SERVER.client();
        }
    }

    @Test
    void serversAreThoseOfTheConnectionDetails() {
        ServerOfTheTests.withoutServers()
                .withBean(LatchkeyConnectionDetails.class, () -> SERVER::connectString)
                .run(context -> assertThat(
                                context.getBean(LockClient.class).session().isConnected())
                        .isTrue());
    }

    @Test
    void sessionTimeoutIsAskedFor() {
        application.withPropertyValues("latchkey.session-timeout=7s").run(context -> assertThat(
                        context.getBean(LockClient.class).session().timeout())
                .isEqualTo(Duration.ofSeconds(7)));
    }

    @Test
    void basePathGoesBeforeAllPaths() {
        application.withPropertyValues("latchkey.base-path=/of-one").run(context -> {
            Lease held = context.getBean(LockClient.class).mutex("/based").acquire();
            try (LockClient other = SERVER.client()) {
                assertThat(other.mutex("/of-one/based").queue()).hasSize(1);
            }
            held.close();
        });
    }

    @Test
    void labelIsTheNameOfTheApplication_orItsOwn() {
        application.withPropertyValues("spring.application.name=billing").run(context -> assertThat(labelIn(context))
                .isEqualTo("billing"));
        application
                .withPropertyValues("spring.application.name=billing", "latchkey.owner-label=till-1")
                .run(context -> assertThat(labelIn(context)).isEqualTo("till-1"));
    }

    private static String labelIn(AssertableApplicationContext context) throws InterruptedException {
        var mutex = context.getBean(LockClient.class).mutex("/labelled");
        try (Lease held = mutex.acquire()) {
            assertThat(held.isValid()).isTrue();
            return mutex.queue().get(0).owner().label();
        }
    }

    @Test
    void nodesAreTheCreators_whenItLogsIn() {
        application
                .withPropertyValues("latchkey.auth.credentials=billing:secret")
                .run(context -> {
                    try (Lease held =
                            context.getBean(LockClient.class).mutex("/private").acquire()) {
                        assertThat(held.isValid()).isTrue();
                        assertThat(aclOf("/private")).contains("'digest").doesNotContain("'world");
                    }
                });
        application
                .withPropertyValues("latchkey.auth.credentials=billing:secret", "latchkey.creator-only=false")
                .run(context -> {
                    try (Lease held =
                            context.getBean(LockClient.class).mutex("/public").acquire()) {
                        assertThat(held.isValid()).isTrue();
                        assertThat(aclOf("/public")).contains("'world");
                    }
                });
    }

    private static String aclOf(String path) throws Exception {
        ZooKeeper handle = new ZooKeeper(SERVER.connectString(), 4000, event -> {});
        try {
            handle.addAuthInfo("digest", "billing:secret".getBytes(StandardCharsets.UTF_8));
            return handle.getACL(path, null).toString();
        } finally {
            handle.close();
        }
    }

    @Test
    void turnsAreTakenLocally_whenTheirNumberIsSet() {
        application
                .withPropertyValues("latchkey.local-turns.max-turns=1")
                .run(context -> assertThat(analysed(context).getDescription()).contains("two turns or more"));
        application
                .withPropertyValues("latchkey.local-turns.max-turns=5", "latchkey.local-turns.max-time=50ms")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void customizersAreCalledInTheEnd() {
        application
                .withPropertyValues("latchkey.owner-label=by-property")
                .withBean(LatchkeyClientCustomizer.class, () -> builder -> builder.ownerLabel("by-customizer"))
                .run(context -> assertThat(labelIn(context)).isEqualTo("by-customizer"));
    }

    @Test
    void clientHasMeters_ifThereIsARegistry() {
        application.withBean(MeterRegistry.class, SimpleMeterRegistry::new).run(context -> {
            assertThat(context).hasSingleBean(LockMeters.class);
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            context.getBean(LockClient.class).mutex("/metered").acquire().close();
            Eventually.holds("a hold", SOON, () -> meters.find("latchkey.hold").timer() != null);
        });
        application.run(context -> assertThat(context).doesNotHaveBean(LockMeters.class));
        application
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withPropertyValues("latchkey.metrics.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(LockMeters.class));
    }

    @Test
    void observersOfTheApplicationAreNotified_besidesTheMeters() {
        AtomicInteger requests = new AtomicInteger();
        application
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean("mine", LockObserver.class, () -> new LockObserver() {
                    @Override
                    public void requested(Request request) {
                        requests.incrementAndGet();
                    }
                })
                .run(context -> {
                    context.getBean(LockClient.class)
                            .mutex("/observed")
                            .acquire()
                            .close();
                    MeterRegistry meters = context.getBean(MeterRegistry.class);
                    Eventually.holds(
                            "both observers",
                            SOON,
                            () -> requests.get() == 1
                                    && meters.find("latchkey.hold").timer() != null);
                });
    }

    @Test
    void observersAreNotified_whateverAnotherOneThrows() {
        AtomicInteger requests = new AtomicInteger();
        AssertionError thrown = new AssertionError("of an observer");
        LockObserver throwing = new LockObserver() {
            @Override
            public void requested(Request request) {
                requests.incrementAndGet();
                throw thrown;
            }
        };
        LockObserver.Request request = new LockObserver.Request(1, "/a", LockObserver.Kind.MUTEX, 1, "");
        Observers observers = new Observers(List.of(throwing, throwing, new LockObserver() {
            @Override
            public void requested(Request request) {
                requests.incrementAndGet();
                throw new IllegalStateException("of the last one");
            }
        }));
        assertThatThrownBy(() -> observers.requested(request)).isSameAs(thrown);
        assertThat(requests).hasValue(3);
        assertThat(thrown.getSuppressed()).singleElement().isInstanceOf(IllegalStateException.class);
    }

    // ---- starts that fail

    @Test
    void startFails_whenNoServersAreGiven() {
        ServerOfTheTests.withoutServers().run(context -> {
            FailureAnalysis analysis = analysed(context);
            assertThat(analysis.getDescription()).contains("latchkey.connect-string is not set");
            assertThat(analysis.getAction()).contains("zk1:2181").contains("latchkey.enabled=false");
        });
    }

    @Test
    void startFails_whenNoServerAnswers() {
        ServerOfTheTests.withoutServers()
                .withPropertyValues("latchkey.connect-string=127.0.0.1:1", "latchkey.connect-timeout=1500ms")
                .run(context -> {
                    FailureAnalysis analysis = analysed(context);
                    assertThat(analysis.getDescription()).contains("127.0.0.1:1");
                    assertThat(analysis.getAction())
                            .contains("latchkey.connect-timeout, which is 1.5 s")
                            .doesNotContain("latchkey.ssl.bundle");
                });
    }

    @Test
    void startFails_whenTheConnectStringIsMalformed() {
        ServerOfTheTests.withoutServers()
                .withPropertyValues("latchkey.connect-string=zk1:2181/app,zk2:2181/app")
                .run(context -> assertThat(analysed(context).getAction()).contains("zk1:2181/app,zk2:2181/app"));
    }

    @Test
    void startFails_whenTheBasePathIsBad() {
        application
                .withPropertyValues("latchkey.base-path=locks")
                .run(context -> assertThat(analysed(context).getAction()).contains("latchkey.base-path"));
    }

    @Test
    void startFails_whenTheClientConfigIsMissing(@TempDir Path folder) throws Exception {
        application
                .withPropertyValues("latchkey.client-config=" + folder.resolve("none"))
                .run(context -> assertThat(analysed(context).getDescription()).contains("cannot be read"));
        Path config = Files.writeString(folder.resolve("client.properties"), "zookeeper.disableAutoWatchReset=true");
        application.withPropertyValues("latchkey.client-config=" + config).run(context -> assertThat(
                        analysed(context).getDescription())
                .contains("zookeeper.disableAutoWatchReset"));
    }

    @Test
    void startFails_whenThereIsNoSuchBundle() {
        application
                .withPropertyValues("latchkey.ssl.bundle=zk")
                .run(context -> assertThat(analysed(context).getAction()).contains("spring.ssl.bundle.pem.zk"));
    }

    @Test
    void startFails_whenAFileOfTheBundleIsMissing(@TempDir Path folder) {
        for (String reload : new String[] {"false", "true"}) {
            application
                    .withPropertyValues(
                            "latchkey.ssl.bundle=zk",
                            "spring.ssl.bundle.pem.zk.reload-on-update=" + reload,
                            "spring.ssl.bundle.pem.zk.truststore.certificate=file:" + folder.resolve("ca.crt"))
                    .run(context -> {
                        Throwable failure = context.getStartupFailure();
                        BundleFailureAnalyzer ofBundles = new BundleFailureAnalyzer(
                                new MockEnvironment().withProperty("latchkey.ssl.bundle", "zk"));
                        FailureAnalysis analysis = Boolean.parseBoolean(reload)
                                ? ofBundles.analyze(failure) // Boot reads the files to watch them
                                : analysed(context);
                        assertThat(analysis).isNotNull();
                        assertThat(analysis.getDescription())
                                .contains("the SSL bundle 'zk'")
                                .contains(folder.resolve("ca.crt").toString());
                        assertThat(analysis.getAction())
                                .contains("spring.ssl.bundle")
                                .contains("have to exist");
                    });
        }
    }

    @Test
    void startFails_whenATimeIsNegative() {
        for (String name : new String[] {"grace", "connect-timeout", "session-timeout", "locked.timeout"}) {
            application.withPropertyValues("latchkey." + name + "=-1s").run(context -> {
                FailureAnalysis analysis = analysed(context);
                assertThat(analysis.getDescription()).isEqualTo("latchkey." + name + " is negative: PT-1S.");
                assertThat(analysis.getAction()).contains("such as 10s");
            });
        }
    }

    @Test
    void startFails_whenOnlyTheCreatorHasRightsAndThereIsNoLogin(@TempDir Path folder) throws Exception {
        application.withPropertyValues("latchkey.creator-only=true").run(context -> {
            FailureAnalysis analysis = analysed(context);
            assertThat(analysis.getDescription())
                    .contains("latchkey.creator-only is true")
                    .contains("no login");
            assertThat(analysis.getAction())
                    .contains("latchkey.auth.credentials", "latchkey.ssl.bundle", "latchkey.client-config");
        });
        Path config = Files.writeString(folder.resolve("client.properties"), "zookeeper.sasl.clientconfig=Other");
        application
                .withPropertyValues(
                        "latchkey.creator-only=true", "latchkey.client-config=" + config, "latchkey.connect-timeout=0s")
                .run(context -> assertThat(context).hasNotFailed());
        application
                .withPropertyValues("latchkey.creator-only=true", "latchkey.auth.credentials=billing:secret")
                .run(context -> assertThat(context).hasNotFailed());
        application
                .withPropertyValues("latchkey.creator-only=true")
                .withBean(
                        LatchkeyClientCustomizer.class,
                        () -> builder -> builder.auth("digest", "billing:secret".getBytes(StandardCharsets.UTF_8)))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void loginBySaslIsALogin_whenItIsInTheConfigurationOfTheRuntime() {
        javax.security.auth.login.Configuration.setConfiguration(new javax.security.auth.login.Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String section) {
                return section.equals("Client") ? new AppConfigurationEntry[0] : null;
            }
        });
        try {
            ServerOfTheTests.withoutServers()
                    .withPropertyValues(
                            "latchkey.creator-only=true",
                            "latchkey.connect-string=127.0.0.1:1",
                            "latchkey.connect-timeout=0s")
                    .run(context -> assertThat(context).hasNotFailed());
        } finally {
            javax.security.auth.login.Configuration.setConfiguration(null);
        }
    }

    @Test
    void startFails_whenCredentialsHaveNoColon() {
        application.withPropertyValues("latchkey.auth.credentials=secret").run(context -> {
            FailureAnalysis analysis = analysed(context);
            assertThat(analysis.getDescription())
                    .contains("latchkey.auth.credentials")
                    .doesNotContain("secret");
            assertThat(analysis.getAction()).contains("USER:PASSWORD");
        });
    }

    @Test
    void startFails_whenABoundOfTheEndpointIsZero() {
        LatchkeyClientProperties.Endpoint none = new LatchkeyClientProperties.Endpoint("/", 0, 1);
        assertThatThrownBy(() -> new LocksEndpoint(null, none)).hasMessageContaining("latchkey.endpoint.max-locks");
    }

    @Test
    void startDoesNotWait_whenTheConnectTimeoutIsZero() {
        ServerOfTheTests.withoutServers()
                .withPropertyValues("latchkey.connect-string=127.0.0.1:1", "latchkey.connect-timeout=0s")
                .run(context -> assertThat(
                                context.getBean(LockClient.class).session().isConnected())
                        .isFalse());
    }

    /** What Spring Boot shows at the end of a failed start. */
    private static FailureAnalysis analysed(AssertableApplicationContext context) {
        Throwable failure = context.getStartupFailure();
        assertThat(failure).isNotNull();
        FailureAnalysis analysis = new ClientStartFailureAnalyzer().analyze(failure);
        assertThat(analysis).as(() -> "no analysis of " + failure).isNotNull();
        return analysis;
    }
}
