// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** Spring Integration's locks, those with a time to live, and its leaders. */
@Tag("slow")
@Timeout(60)
class LatchkeyLockRegistryTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final Duration SOON = Duration.ofSeconds(20);

    private final ApplicationContextRunner application = SERVER.application(LatchkeyIntegrationAutoConfiguration.class);

    @Test
    void registryIsABean_withASwitch_andBacksOff() {
        application.run(context -> assertThat(context).hasSingleBean(LatchkeyLockRegistry.class));
        application.withPropertyValues("latchkey.integration.enabled=false").run(context -> assertThat(context)
                .doesNotHaveBean(LockRegistry.class));
        application.withBean(LockRegistry.class, DefaultLockRegistry::new).run(context -> assertThat(context)
                .doesNotHaveBean(LatchkeyLockRegistry.class));
        application
                .withClassLoader(new FilteredClassLoader(LockRegistry.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("lockRegistry"));
        application.withPropertyValues("latchkey.integration.path=bad").run(context -> assertThat(context)
                .hasFailed());
    }

    @Test
    void keyIsLockedAcrossClients() {
        application.withPropertyValues("latchkey.integration.path=/spring").run(context -> {
            LockRegistry<DistributedLock> mine = context.getBean(LatchkeyLockRegistry.class);
            try (LockClient other = SERVER.client()) {
                LockRegistry<DistributedLock> theirs = new LatchkeyLockRegistry(other, "/spring");
                DistributedLock lock = mine.obtain("order/1");
                assertThat(lock.tryLock()).isTrue();
                assertThat(other.mutex("/spring/key-order%2F1").queue()).hasSize(1);
                assertThat(mine.obtain("order/1").tryLock())
                        .as("the same thread, the same key: re-entered")
                        .isTrue();
                assertThat(theirs.obtain("order/1").tryLock()).isFalse();
                assertThat(theirs.obtain("order/2").tryLock())
                        .as("another key, another lock")
                        .isTrue();
                assertThatThrownBy(() -> theirs.executeLocked("order/1", Duration.ofMillis(50), () -> {
                            throw new AssertionError("another client holds");
                        }))
                        .isInstanceOf(TimeoutException.class);
                lock.unlock();
                lock.unlock();
                theirs.executeLocked(
                        "order/1", SOON, () -> assertThat(mine.obtain("order/1").tryLock())
                                .isFalse());
            }
        });
    }

    @Test
    void lockEnds_afterItsTimeToLive() {
        application.run(context -> {
            LatchkeyLockRegistry mine = context.getBean(LatchkeyLockRegistry.class);
            try (LockClient other = SERVER.client()) {
                LatchkeyLockRegistry theirs = new LatchkeyLockRegistry(other, "/integration");
                mine.obtain("a").lock(Slowness.stretched(Duration.ofSeconds(2))); // the next line is faster
                assertThat(theirs.obtain("a").tryLock()).isFalse();
                assertThat(theirs.obtain("a").tryLock(SOON, Duration.ofMinutes(1)))
                        .isTrue();
                assertThatThrownBy(() -> mine.obtain("a").unlock()).isInstanceOf(LockOwnershipLostException.class);
                assertThat(mine.obtain("a").tryLock(Duration.ofMillis(50), Duration.ofMinutes(1)))
                        .isFalse();
                theirs.obtain("a").unlock();
            }
        });
    }

    @Test
    void leaderIsRevoked_whenItsSessionHasEnded_andAnotherLeads() {
        application.run(context -> {
            LockRegistryLeaderInitiator first = initiator(context.getBean(LatchkeyLockRegistry.class));
            first.start();
            Eventually.holds("a leader", SOON, () -> first.getContext().isLeader());
            try (LockClient other = SERVER.client()) {
                LockRegistryLeaderInitiator second = initiator(new LatchkeyLockRegistry(other, "/integration"));
                second.start();
                SERVER.server()
                        .expireSession(
                                context.getBean(LockClient.class).session().id());
                Eventually.holds(
                        "another leader",
                        SOON,
                        () -> second.getContext().isLeader()
                                && !first.getContext().isLeader());
                second.stop();
                Eventually.holds(
                        "the first one again", SOON, () -> first.getContext().isLeader());
                first.stop();
            }
        });
    }

    private static LockRegistryLeaderInitiator initiator(LockRegistry<?> locks) {
        LockRegistryLeaderInitiator initiator =
                new LockRegistryLeaderInitiator(locks, new DefaultCandidate(null, "dunning"));
        initiator.setApplicationEventPublisher(event -> {});
        return initiator;
    }
}
