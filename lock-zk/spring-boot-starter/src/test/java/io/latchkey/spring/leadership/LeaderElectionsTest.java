// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.leadership;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.lock.Leadership;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.spring.CapturedLog;
import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.spring.boot.LatchkeyLifecycle;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.EventListener;

/** Candidates by properties and by beans. */
@Tag("slow")
@Timeout(60)
class LeaderElectionsTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final Duration SOON = Duration.ofSeconds(20);

    private final ApplicationContextRunner application = SERVER.application(LatchkeyLeadershipAutoConfiguration.class);

    static class Listener {
        final List<String> seen = new CopyOnWriteArrayList<>();

        @EventListener
        void elected(LeaderElectedEvent event) {
            seen.add("elected " + event.role() + " " + event.lease().isValid());
        }

        @EventListener
        void over(LeaderTermOverEvent event) {
            seen.add("over " + event.role());
        }
    }

    @Test
    void eventsTellOfTheTerms_forRolesByProperty() {
        ApplicationContextRunner candidate = application
                .withBean(Listener.class)
                .withPropertyValues("latchkey.leadership.roles=dunning,cleanup", "latchkey.leadership.path=/lead");
        candidate.run(first -> {
            LeaderElections elections = first.getBean(LeaderElections.class);
            assertThat(elections.roles()).containsExactly("dunning", "cleanup");
            Eventually.holds("both roles", SOON, () -> elections.isLeader("dunning") && elections.isLeader("cleanup"));
            Listener listener = first.getBean(Listener.class);
            Eventually.holds("events", SOON, () -> listener.seen.size() == 2);
            candidate.run(second -> {
                LeaderElections other = second.getBean(LeaderElections.class);
                assertThat(other.isLeader("dunning")).isFalse();
                Eventually.holds(
                        "a queue of two",
                        SOON,
                        () -> other.candidate("dunning")
                                        .orElseThrow()
                                        .candidates()
                                        .size()
                                == 2);
                elections.candidate("dunning").orElseThrow().stepDown();
                Eventually.holds("the other one", SOON, () -> other.isLeader("dunning"));
                assertThat(listener.seen)
                        .containsExactlyInAnyOrder("elected dunning true", "elected cleanup true", "over dunning");
            });
            Eventually.holds("the first one again", SOON, () -> elections.isLeader("dunning"));
        });
    }

    @Test
    void candidatesLeaveAndQueueAgain_whenTheContextIsPausedAndRestarted() {
        application
                .withBean(Listener.class)
                .withPropertyValues("latchkey.leadership.roles=dunning", "latchkey.leadership.path=/paused")
                .run(context -> {
                    LeaderElections elections = context.getBean(LeaderElections.class);
                    Eventually.holds("a leader", SOON, () -> elections.isLeader("dunning"));
                    var paused = context.getSourceApplicationContext(ConfigurableApplicationContext.class);
                    paused.pause();
                    assertThat(elections.candidate("dunning")).isEmpty();
                    try (LockClient other = SERVER.client()) {
                        assertThat(other.mutex("/paused/dunning").queue()).isEmpty();
                    }
                    paused.restart();
                    Eventually.holds("the leader again", SOON, () -> elections.isLeader("dunning"));
                    Listener listener = context.getBean(Listener.class);
                    Eventually.holds("events", SOON, () -> listener.seen.size() == 3);
                    assertThat(listener.seen)
                            .containsExactly("elected dunning true", "over dunning", "elected dunning true");
                });
    }

    static class Task implements LeaderTask {
        final CountDownLatch interrupted = new CountDownLatch(1);

        @Override
        public String role() {
            return "worker";
        }

        @Override
        public Leadership.Next lead(Lease lease) throws InterruptedException {
            try {
                Thread.sleep(Duration.ofMinutes(10).toMillis());
            } catch (InterruptedException stopped) {
                interrupted.countDown();
                throw stopped;
            }
            return Leadership.Next.END;
        }
    }

    @Test
    void workOfTheLeaderIsABean_andIsInterruptedAtTheEnd() throws Exception {
        Task task = new Task();
        application.withBean(Listener.class).withBean(Task.class, () -> task).run(context -> {
            LeaderElections elections = context.getBean(LeaderElections.class);
            assertThat(elections.getPhase())
                    .as("after the web server, and before the client")
                    .isLessThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE)
                    .isGreaterThan(LatchkeyLifecycle.PHASE);
            Eventually.holds("a leader", SOON, () -> elections.isLeader("worker"));
            assertThat(task.interrupted.getCount()).isEqualTo(1);
        });
        assertThat(task.interrupted.getCount()).isZero();
        try (LockClient other = SERVER.client()) {
            assertThat(other.mutex("/leaders/worker").queue()).isEmpty();
        }
    }

    static class FailingListener {
        final AtomicInteger calls = new AtomicInteger();

        @EventListener
        void elected(LeaderElectedEvent event) {
            calls.incrementAndGet();
            throw new IllegalStateException("listener of " + event.role());
        }

        @EventListener
        void over(LeaderTermOverEvent event) {
            calls.incrementAndGet();
            throw new AssertionError("listener of " + event.role());
        }
    }

    @Test
    void candidacyGoesOn_whenAListenerThrows() {
        try (CapturedLog log = new CapturedLog(LeaderElections.class)) {
            application
                    .withBean(FailingListener.class)
                    .withBean(Task.class, Task::new)
                    .withPropertyValues("latchkey.leadership.roles=dunning", "latchkey.leadership.path=/failing")
                    .run(context -> {
                        LeaderElections elections = context.getBean(LeaderElections.class);
                        for (String role : elections.roles()) {
                            Eventually.holds("a leader of " + role, SOON, () -> elections.isLeader(role));
                            Leadership candidate = elections.candidate(role).orElseThrow();
                            long epoch = candidate.epoch().orElseThrow();
                            candidate.stepDown();
                            Eventually.holds(
                                    "the next term",
                                    SOON,
                                    () -> candidate.epoch().orElse(0) > epoch);
                        }
                        FailingListener listener = context.getBean(FailingListener.class);
                        Eventually.holds("events of three terms each", SOON, () -> listener.calls.get() == 6);
                    });
            assertThat(log.text())
                    .contains(
                            "ERROR A listener threw on the LeaderElectedEvent of the role dunning. This instance leads")
                    .contains("ERROR A listener threw on the LeaderTermOverEvent of the role worker. The term with")
                    .contains(": listener of dunning");
        }
    }

    /** It keeps its status when it is interrupted, as code does that may not throw. */
    static class PoliteTask implements LeaderTask {
        @Override
        public String role() {
            return "polite";
        }

        @Override
        public Leadership.Next lead(Lease lease) {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            return Leadership.Next.QUEUE_AGAIN;
        }
    }

    static class WaitingListener {
        final List<String> seen = new CopyOnWriteArrayList<>();

        @EventListener
        void over(LeaderTermOverEvent event) throws InterruptedException {
            seen.add("over");
            assertThat(new CountDownLatch(0).await(1, TimeUnit.SECONDS)).isTrue(); // throws if it is interrupted
            seen.add("done");
        }
    }

    @Test
    void listenersOfTheEndAreNotInterrupted_byWhatEndedTheWork() {
        application.withBean(WaitingListener.class).withBean(PoliteTask.class).run(context -> {
            LeaderElections elections = context.getBean(LeaderElections.class);
            Eventually.holds("a leader", SOON, () -> elections.isLeader("polite"));
            Leadership candidate = elections.candidate("polite").orElseThrow();
            long epoch = candidate.epoch().orElseThrow();
            candidate.stepDown();
            Eventually.holds("the next term", SOON, () -> candidate.epoch().orElse(0) > epoch);
            assertThat(context.getBean(WaitingListener.class).seen).containsExactly("over", "done");
        });
    }

    static class InterruptedListener {
        @EventListener
        void elected(LeaderElectedEvent event) throws InterruptedException {
            throw new InterruptedException("listener of " + event.role());
        }
    }

    /** Here by itself; by other code it would be the same. */
    @Test
    void interruptOfAListenerIsLogged_whenNothingEndsTheTerm() {
        try (CapturedLog log = new CapturedLog(LeaderElections.class)) {
            application
                    .withBean(InterruptedListener.class)
                    .withPropertyValues("latchkey.leadership.roles=dunning", "latchkey.leadership.path=/interrupted")
                    .run(context -> {
                        Leadership candidate = context.getBean(LeaderElections.class)
                                .candidate("dunning")
                                .orElseThrow();
                        Eventually.holds("the end", SOON, () -> candidate.state() == Leadership.State.ENDED);
                    });
            assertThat(log.text())
                    .contains("ERROR A listener threw on the LeaderElectedEvent of the role dunning")
                    .contains(": listener of dunning");
        }
    }

    /**
     * The release cannot be sent. It is waited for until the lease would be lost, after 8 s at most, and not for the
     * whole grace, nor until the client gives up its session, after about 14 s.
     */
    @Test
    void applicationEndsWithItsLease_whenTheServersAreAway() {
        AtomicLong stopped = new AtomicLong();
        try {
            application
                    .withBean(Task.class, Task::new)
                    .withPropertyValues("latchkey.grace=5m", "latchkey.session-timeout=10s")
                    .run(context -> {
                        LeaderElections elections = context.getBean(LeaderElections.class);
                        Eventually.holds("a leader", SOON, () -> elections.isLeader("worker"));
                        SERVER.server().stop();
                        stopped.set(System.nanoTime());
                    });
            assertThat(Duration.ofNanos(System.nanoTime() - stopped.get())).isLessThan(Duration.ofSeconds(12));
        } finally {
            SERVER.server().restart();
        }
    }

    @Test
    void leadershipHasASwitch_andRefusesMistakes() {
        application.withPropertyValues("latchkey.leadership.enabled=false").run(context -> assertThat(context)
                .doesNotHaveBean(LeaderElections.class));
        application.withPropertyValues("latchkey.leadership.roles=a//b").run(context -> assertThat(
                        context.getStartupFailure())
                .rootCause()
                .message()
                .contains("a//b"));
        application.withPropertyValues("latchkey.leadership.roles=a,a/b").run(context -> assertThat(
                        context.getStartupFailure())
                .rootCause()
                .message()
                .contains("The role \"a/b\" has a slash"));
        application
                .withBean("one", Task.class, Task::new)
                .withBean("two", Task.class, Task::new)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .message()
                        .contains("Two beans of LeaderTask"));
    }
}
