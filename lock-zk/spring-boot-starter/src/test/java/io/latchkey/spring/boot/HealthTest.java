// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Health and readiness by the client's session. */
@Tag("slow")
@Timeout(60)
class HealthTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final Duration SOON = Duration.ofSeconds(20);

    private final ApplicationContextRunner application = SERVER.application(
                    LatchkeyHealthAutoConfiguration.class,
                    ApplicationAvailabilityAutoConfiguration.class,
                    AvailabilityHealthContributorAutoConfiguration.class,
                    AvailabilityProbesAutoConfiguration.class,
                    HealthContributorAutoConfiguration.class,
                    HealthContributorRegistryAutoConfiguration.class,
                    HealthEndpointAutoConfiguration.class)
            .withPropertyValues("management.endpoints.web.exposure.include=health");

    @Test
    void healthFollowsTheSession() {
        application.run(context -> {
            HealthIndicator health = context.getBean("locksHealthIndicator", HealthIndicator.class);
            assertThat(health.health().getStatus()).isEqualTo(Status.UP);
            SERVER.server().stop();
            try {
                Eventually.holds("out of service", SOON, () -> health.health()
                        .getStatus()
                        .equals(Status.OUT_OF_SERVICE));
            } finally {
                SERVER.server().restart();
            }
            Eventually.holds("up", SOON, () -> health.health().getStatus().equals(Status.UP));
            assertThat(health.health().getDetails()).containsKeys("state", "since", "sessionTimeout");
            context.getBean(io.latchkey.lock.LockClient.class).close();
            assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
        });
    }

    @Test
    void healthIsAPartOfReadiness_andNotOfLiveness() {
        application.run(context -> {
            assertThat(readiness(context).isMember("locks")).isTrue();
            assertThat(readiness(context).isMember("readinessState")).isTrue();
            assertThat(readiness(context).isMember("diskSpace")).isFalse();
            assertThat(context.getBean(HealthEndpointGroups.class)
                            .get("liveness")
                            .isMember("locks"))
                    .isFalse();
        });
    }

    @Test
    void readinessIsLeftAlone_whenItIsSwitchedOffOrSetByTheApplication() {
        application
                .withPropertyValues("latchkey.health.readiness=false")
                .run(context -> assertThat(readiness(context).isMember("locks")).isFalse());
        for (String property : List.of("include", "include[0]")) {
            application
                    .withPropertyValues("management.endpoint.health.group.readiness." + property + "=readinessState")
                    .run(context ->
                            assertThat(readiness(context).isMember("locks")).isFalse());
        }
    }

    private static HealthEndpointGroup readiness(AssertableApplicationContext context) {
        HealthEndpointGroup group = context.getBean(HealthEndpointGroups.class).get("readiness");
        assertThat(group).isNotNull();
        return group;
    }

    @Test
    void healthHasASwitch_andBacksOff() {
        application.withPropertyValues("management.health.locks.enabled=false").run(context -> {
            assertThat(context).doesNotHaveBean("locksHealthIndicator");
            assertThat(readiness(context).isMember("locks")).isFalse();
        });
        application
                .withBean("locksHealthIndicator", HealthIndicator.class, () -> () -> null)
                .run(context -> assertThat(context).doesNotHaveBean(LocksHealthIndicator.class));
    }

    @Test
    void noHealth_withoutTheModule() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(LatchkeyAutoConfiguration.class, LatchkeyHealthAutoConfiguration.class))
                .withClassLoader(new org.springframework.boot.test.context.FilteredClassLoader(HealthIndicator.class))
                .withPropertyValues("latchkey.connect-string=" + SERVER.connectString())
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("locksHealthIndicator"));
    }
}
