// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.OnLoss;
import io.latchkey.spring.CurrentLease;
import io.latchkey.spring.IfBusy;
import io.latchkey.spring.LockBusyException;
import io.latchkey.spring.Locked;
import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.time.Eventually;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Calls of locked methods. */
@Tag("slow")
@Timeout(60)
class LockedTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final Duration SOON = Duration.ofSeconds(20);

    private final ApplicationContextRunner application = SERVER.application(
                    AopAutoConfiguration.class, LockedAutoConfiguration.class)
            .withPropertyValues("work.path=/work", "latchkey.locked.timeout=2s")
            .withUserConfiguration(Beans.class);

    record Order(String id) {}

    static class Work {
        private final CurrentLease lease;
        private final LockClient client;
        private final Work self;

        Work(CurrentLease lease, LockClient client, Work self) {
            this.lease = lease;
            this.client = client;
            this.self = self;
        }

        @Locked(path = "${work.path}", key = "#order.id")
        public String path(Order order) {
            return lease.get().path();
        }

        @Locked("/around")
        public String around(Order order) {
            return self.path(order) + " in " + lease.get().path();
        }

        @Locked("/all")
        public long token() {
            return lease.token();
        }

        @Locked(path = "/skip", ifBusy = IfBusy.SKIP, timeout = "0s")
        public void skipped(List<String> done) {
            done.add("called");
        }

        @Locked(path = "/skip", ifBusy = IfBusy.SKIP)
        public Optional<String> skippedOptional() {
            return Optional.of("called");
        }

        @Locked(path = "/skip", ifBusy = IfBusy.SKIP)
        public CompletableFuture<Void> skippedStage(List<String> done) {
            done.add("called");
            return CompletableFuture.completedFuture(null);
        }

        /** Its own lock is free; the one of the inner method is busy. */
        @Locked(path = "/outer", ifBusy = IfBusy.SKIP)
        public void outerOfABusyOne() {
            self.token();
        }

        @Locked(path = "/stage", key = "#key")
        public CompletableFuture<String> stage(String key, CompletableFuture<String> work) {
            return work;
        }

        @Locked(path = "/limited", atMost = "300ms", onLoss = OnLoss.INTERRUPT)
        public void interrupted() throws InterruptedException {
            Thread.sleep(SOON.toMillis());
        }

        @Locked(path = "/limited", atMost = "300ms", onLoss = OnLoss.IGNORE)
        public String ignored() {
            while (lease.get().isValid()) {
                Thread.onSpinWait();
            }
            return "done";
        }

        @Locked(path = "/limited", atMost = "300ms")
        public void limited() {
            while (lease.get().isValid()) {
                Thread.onSpinWait();
            }
        }

        @Locked(path = "/limited", atMost = "300ms")
        public CompletableFuture<String> limitedStage(CompletableFuture<String> work) {
            return work;
        }

        @Locked(path = "/nested", key = "#key")
        public String nested(String key) {
            return self.inner(key);
        }

        @Locked(path = "/nested", key = "#key")
        public String inner(String key) {
            return key;
        }

        @Transactional
        @Locked("/transaction")
        public String inTransaction() throws InterruptedException {
            return client.mutex("/transaction").queue().size() + " holds, "
                    + TransactionSynchronizationManager.isActualTransactionActive();
        }

        @Async
        @Locked("/async")
        public CompletableFuture<String> async() {
            return CompletableFuture.completedFuture(
                    Thread.currentThread().getName() + ": " + lease.get().path());
        }

        @Async
        @Locked("/async")
        public void asyncVoid(CompletableFuture<String> done) {
            done.complete(lease.get().path());
        }

        @Locked("/bare")
        void packagePrivate(List<String> done) {
            done.add(lease.get().path());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    @EnableTransactionManagement
    static class Beans {
        @Bean
        Work work(CurrentLease lease, LockClient client, @Lazy Work self) {
            return new Work(lease, client, self);
        }

        @Bean
        Commits transactions() {
            return new Commits();
        }
    }

    /** A transaction manager that looks at the lock when it commits. */
    static class Commits extends AbstractPlatformTransactionManager {
        private static final long serialVersionUID = 1L;

        private final transient List<Integer> holdersAtCommit = new CopyOnWriteArrayList<>();
        private transient LockClient client;

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            if (client != null) {
                try {
                    holdersAtCommit.add(client.mutex("/transaction").queue().size());
                } catch (InterruptedException stopped) {
                    throw new AssertionError(stopped);
                }
            }
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }

    @Test
    void keyIsAnExpressionOverTheArguments() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            assertThat(work.path(new Order("a1"))).isEqualTo("/work/key-a1");
            assertThat(work.path(new Order("a/1 ü"))).isEqualTo("/work/key-a%2F1+%C3%BC");
            assertThat(work.path(new Order("lock-1700000000"))).isEqualTo("/work/key-lock%2D1700000000");
            assertThatThrownBy(() -> work.path(new Order(null))).hasMessageContaining("#order.id is null");
        });
    }

    @Test
    void tokenIsThere_insideAlone() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            assertThat(work.token()).isLessThan(work.token());
            assertThatThrownBy(() -> context.getBean(CurrentLease.class).token())
                    .isInstanceOf(IllegalStateException.class);
            List<String> done = new CopyOnWriteArrayList<>();
            work.packagePrivate(done);
            assertThat(done).containsExactly("/bare");
        });
    }

    @Test
    void busyLockAndMissingServerAreTwoExceptions() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            try (LockClient other = SERVER.client();
                    Lease held = other.mutex("/all").acquire()) {
                assertThat(held.isValid()).isTrue();
                assertThatThrownBy(work::token)
                        .isInstanceOf(LockBusyException.class)
                        .hasMessageContaining("/all")
                        .hasMessageContaining("2000 ms");
            }
            SERVER.server().stop();
            try {
                assertThatThrownBy(work::token).isInstanceOf(LockServiceUnavailableException.class);
                List<String> done = new CopyOnWriteArrayList<>();
                assertThatThrownBy(() -> work.skippedStage(done)).isInstanceOf(LockServiceUnavailableException.class);
                assertThat(done).isEmpty();
            } finally {
                SERVER.server().restart();
            }
        });
    }

    @Test
    void busyCallIsSkipped_whereTheMethodSaysSo() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            List<String> done = new CopyOnWriteArrayList<>();
            work.skipped(done);
            assertThat(done).containsExactly("called");
            try (LockClient other = SERVER.client();
                    Lease held = other.mutex("/skip").acquire();
                    Lease inner = other.mutex("/all").acquire()) {
                assertThat(held.isValid() && inner.isValid()).isTrue();
                work.skipped(done);
                assertThat(work.skippedOptional()).isEmpty();
                assertThat(work.skippedStage(done)).isCompletedWithValue(null);
                assertThat(done).containsExactly("called");
                assertThatThrownBy(work::outerOfABusyOne)
                        .isInstanceOf(LockBusyException.class)
                        .hasMessageContaining("/all");
            }
        });
    }

    @Test
    void lockIsHeld_untilTheStageIsComplete() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            CompletableFuture<String> first = new CompletableFuture<>();
            CompletableFuture<String> result = work.stage("a", first);
            assertThatThrownBy(() -> work.stage("a", new CompletableFuture<>())).isInstanceOf(LockBusyException.class);
            first.complete("done");
            assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("done");
            CompletableFuture<String> failed =
                    work.stage("a", CompletableFuture.failedFuture(new IllegalStateException("theirs")));
            assertThatThrownBy(() -> failed.get(10, TimeUnit.SECONDS)).hasRootCauseMessage("theirs");
            CompletableFuture<String> pending = new CompletableFuture<>();
            work.stage("a", pending).cancel(true);
            assertThat(pending).isCancelled();
            assertThat(work.stage("a", CompletableFuture.completedFuture("free"))
                            .get(10, TimeUnit.SECONDS))
                    .isEqualTo("free");
        });
    }

    @Test
    void lossIsHandledAsTheMethodSays() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            assertThatThrownBy(work::interrupted).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(work::limited).isInstanceOf(LeaseLostException.class);
            assertThat(work.ignored()).isEqualTo("done");
            CompletableFuture<String> slow = new CompletableFuture<>();
            CompletableFuture<String> result = work.limitedStage(slow);
            try (LockClient other = SERVER.client()) {
                other.mutex("/limited").acquire(SOON).close();
            }
            slow.complete("too late");
            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(LeaseLostException.class);
        });
    }

    @Test
    void leaseIsThatOfTheOuterMethod_afterACallOfAnother() {
        application.run(context ->
                assertThat(context.getBean(Work.class).around(new Order("1"))).isEqualTo("/work/key-1 in /around"));
    }

    @Test
    void nestedCallWithTheSameKeyIsRefused() {
        application.run(context -> {
            assertThatThrownBy(() -> context.getBean(Work.class).nested("a"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("/nested/key-a")
                    .hasMessageContaining("wait for itself");
            assertThat(context.getBean(CurrentLease.class).find()).isEmpty();
        });
    }

    @Test
    void lockIsOutsideOfTheTransaction_andACallersIsRefused() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            Commits commits = context.getBean(Commits.class);
            commits.client = context.getBean(LockClient.class);
            assertThat(work.inTransaction()).isEqualTo("1 holds, true");
            assertThat(commits.holdersAtCommit).containsExactly(1);
            TransactionTemplate caller = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            assertThatThrownBy(() -> caller.execute(status -> work.token()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Work.token() is @Locked")
                    .hasMessageContaining("its caller has a transaction");
        });
    }

    @Test
    void asyncMethodIsLocked_inTheThreadOfItsExecutor() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            Future<String> result = work.async();
            assertThat(result.get(10, TimeUnit.SECONDS))
                    .endsWith(": /async")
                    .doesNotStartWith(Thread.currentThread().getName());
            CompletableFuture<String> done = new CompletableFuture<>();
            work.asyncVoid(done);
            assertThat(done.get(10, TimeUnit.SECONDS)).isEqualTo("/async");
        });
    }

    @Test
    void interruptedCallSaysSo_andKeepsTheStatus() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            Thread.currentThread().interrupt();
            try {
                assertThatThrownBy(work::token)
                        .isInstanceOf(LockException.class)
                        .hasMessageContaining("was not called");
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> work.stage("key", new CompletableFuture<>()))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("waiting for /stage/key");
            assertThat(Thread.interrupted()).isTrue();
            Thread.currentThread().interrupt();
            assertThatThrownBy(work::interrupted).isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
        });
    }

    @Test
    void waitsAndHoldsAreObserved() {
        List<String> seen = new CopyOnWriteArrayList<>();
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public void onStop(Observation.Context stopped) {
                seen.add(stopped.getContextualName());
            }

            @Override
            public boolean supportsContext(Observation.Context any) {
                return true;
            }
        });
        ApplicationContextRunner observing = application.withBean(ObservationRegistry.class, () -> observations);
        observing.run(context -> {
            context.getBean(Work.class).path(new Order("a"));
            assertThat(seen).containsExactly("acquire /work", "hold /work");
        });
        seen.clear();
        observing.withPropertyValues("latchkey.observations.enabled=false").run(context -> {
            context.getBean(Work.class).path(new Order("a"));
            assertThat(seen).isEmpty();
        });
    }

    @Test
    void lockedHasASwitch_andNeedsNoAspectJ() {
        SERVER.application(LockedAutoConfiguration.class)
                .withPropertyValues("latchkey.locked.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(CurrentLease.class));
        SERVER.application(LockedAutoConfiguration.class)
                .withPropertyValues("work.path=/work")
                .withUserConfiguration(Beans.class)
                .run(context -> assertThat(context.getBean(Work.class).token()).isPositive());
    }

    interface LockedInterface {
        @Locked("/interface")
        boolean isLocked(LockClient other) throws InterruptedException;
    }

    private static boolean isHeld(LockClient other, String path) throws InterruptedException {
        return other.mutex(path).tryAcquire().isEmpty();
    }

    /** As a client of an HTTP interface is, or a bean that is a lambda. */
    @Test
    void beanWithoutAClassOfItsOwnIsLocked() {
        LockedInterface lambda = other -> isHeld(other, "/interface");
        LockedInterface proxy = (LockedInterface) Proxy.newProxyInstance(
                LockedInterface.class.getClassLoader(),
                new Class<?>[] {LockedInterface.class},
                (self, method, arguments) -> isHeld((LockClient) arguments[0], "/interface"));
        for (LockedInterface bean : List.of(lambda, proxy)) {
            application.withBean(LockedInterface.class, () -> bean).run(context -> {
                try (LockClient other = SERVER.client()) {
                    assertThat(context.getBean(LockedInterface.class).isLocked(other))
                            .isTrue();
                }
            });
        }
    }

    static class LockCheck {
        @Locked("/checked")
        public boolean isLocked(LockClient other) throws InterruptedException {
            return isHeld(other, "/checked");
        }
    }

    /** It is for those who inject it; the methods are locked all the same. */
    @Test
    void methodIsLocked_withACurrentLeaseOfTheUsers() {
        SERVER.application(AopAutoConfiguration.class, LockedAutoConfiguration.class)
                .withBean(CurrentLease.class, () -> Optional::empty)
                .withBean(LockCheck.class)
                .run(context -> {
                    try (LockClient other = SERVER.client()) {
                        assertThat(context.getBean(LockCheck.class).isLocked(other))
                                .isTrue();
                    }
                });
    }

    @Test
    void nothingIsLeftInTheQueues() {
        application.run(context -> {
            Work work = context.getBean(Work.class);
            work.token();
            try (LockClient other = SERVER.client()) {
                Eventually.holds("an empty queue", SOON, () -> other.mutex("/all")
                        .queue()
                        .isEmpty());
            }
        });
    }
}
