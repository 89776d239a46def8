// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.docs.Docs;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.micrometer.LockMeters;
import io.latchkey.lock.micrometer.ObservedLock;
import io.latchkey.log.HostileLog;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Slowness;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.cumulative.CumulativeCounter;
import io.micrometer.core.instrument.cumulative.CumulativeTimer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A process that misbehaves, in each way of the table, against each promise of the locks. Each cell is held, is not
 * promised, or does not apply; {@code docs/archive/hostile-process.md} is the table, made from here.
 */
@Tag("slow")
@Tag("once")
class HostileProcessTest {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(4));
    /** The body begins in it, beside a busy machine too. */
    private static final Duration LIMIT = Slowness.stretched(Duration.ofMillis(200));

    private static final Duration TRY = Duration.ofMillis(300);
    /** Beyond a caller's time, a busy machine included. */
    private static final Duration SLACK = Slowness.stretched(Duration.ofSeconds(2));

    private static EmbeddedZooKeeper server;
    private static ZkLockClient other;
    private static int cases;

    /** What is hostile. */
    enum HostilePart {
        LOGGER("logging backend"),
        OBSERVER("observer"),
        METERS("meter registry"),
        OBSERVATION("handler of observations"),
        EXECUTOR("callback executor"),
        STAGE("stage of a future"),
        BODY("body, as it is interrupted"),
        INTERRUPT("`interrupt()` of the body's thread"),
        CHANNEL("channel below a body, as it is closed");

        private final String text;

        HostilePart(String text) {
            this.text = text;
        }
    }

    enum Behaviour {
        THROWS("throws an exception"),
        ERRS("throws an error"),
        BLOCKS("blocks for ever"),
        SLOW("is slow"),
        CALLS_BACK("calls back into the client"),
        CLOSES("closes the client");

        private final String text;

        Behaviour(String text) {
            this.text = text;
        }
    }

    enum Promise {
        EXCLUSION("no two hold"),
        LOSS_TOLD("`lost()` before the next grant"),
        BODY_INTERRUPTED("body interrupted"),
        TIMED_CALL("a timed call returns in time"),
        RELEASE_FREES("a release frees the lock"),
        CLOSE_ENDS("`close()` ends"),
        NOTHING_LEFT("nothing is left");

        private final String text;

        Promise(String text) {
            this.text = text;
        }
    }

    private static final String UNRUN = "stages behind an executor that does not run them";
    private static final String SAME_FUTURE = "stages of one future run one after the other";
    private static final String OWN_CALL = "a handler that blocks in the caller's own thread blocks that call";
    private static final String IGNORED = "a body that ignores its interrupt";
    private static final String GONE = "the client is closed by then";

    /** Returns why a cell is not promised; empty if it is. */
    private static Optional<String> notPromised(HostilePart hostile, Behaviour how, Promise promise) {
        if (hostile == HostilePart.EXECUTOR && how == Behaviour.BLOCKS && promise == Promise.LOSS_TOLD) {
            return Optional.of(UNRUN);
        }
        if (hostile == HostilePart.STAGE && how == Behaviour.BLOCKS && promise == Promise.LOSS_TOLD) {
            return Optional.of(SAME_FUTURE);
        }
        if (hostile == HostilePart.OBSERVATION
                && how == Behaviour.BLOCKS
                && EnumSet.of(Promise.TIMED_CALL, Promise.RELEASE_FREES).contains(promise)) {
            return Optional.of(OWN_CALL);
        }
        return Optional.empty();
    }

    /** Returns why a cell does not apply; empty if it does. */
    private static Optional<String> doesNotApply(HostilePart hostile, Behaviour how, Promise promise) {
        if (hostile == HostilePart.BODY && how == Behaviour.BLOCKS && promise == Promise.BODY_INTERRUPTED) {
            return Optional.of(IGNORED);
        }
        if (how == Behaviour.CLOSES
                && EnumSet.of(Promise.TIMED_CALL, Promise.RELEASE_FREES, Promise.LOSS_TOLD, Promise.BODY_INTERRUPTED)
                        .contains(promise)) {
            return Optional.of(GONE);
        }
        return Optional.empty();
    }

    static Stream<Object[]> cells() {
        return Stream.of(HostilePart.values())
                .flatMap(hostile -> Stream.of(Behaviour.values()).map(how -> new Object[] {hostile, how}));
    }

    @BeforeAll
    static void start() throws InterruptedException {
        server = EmbeddedZooKeeper.start();
        other = ZkLockClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(SESSION)
                .build();
    }

    @AfterAll
    static void stop() {
        other.close();
        server.close();
    }

    @ParameterizedTest
    @MethodSource("cells")
    void promisesHold(HostilePart hostile, Behaviour how) throws Exception {
        Set<Promise> broken = new Scene(hostile, how).play();
        broken.removeIf(promise -> notPromised(hostile, how, promise).isPresent()
                || doesNotApply(hostile, how, promise).isPresent());
        assertEquals(Set.of(), broken);
    }

    /** With {@code -Dlatchkey.docs.renew=true} the page is written. */
    @Test
    void pageIsTheTable() throws IOException {
        StringBuilder table = new StringBuilder("| hostile | how |");
        StringBuilder line = new StringBuilder("|---|---|");
        for (Promise promise : Promise.values()) {
            table.append(' ').append(promise.text).append(" |");
            line.append("---|");
        }
        table.append('\n').append(line).append('\n');
        Map<String, Integer> reasons = new java.util.LinkedHashMap<>();
        int held = 0;
        for (Object[] cell : cells().toList()) {
            HostilePart hostile = (HostilePart) cell[0];
            Behaviour how = (Behaviour) cell[1];
            table.append("| ")
                    .append(hostile.text)
                    .append(" | ")
                    .append(how.text)
                    .append(" |");
            for (Promise promise : Promise.values()) {
                Optional<String> unpromised = notPromised(hostile, how, promise);
                Optional<String> inapplicable = doesNotApply(hostile, how, promise);
                Optional<String> reason = unpromised.or(() -> inapplicable);
                reason.ifPresent(why -> reasons.putIfAbsent(why, reasons.size() + 1));
                held += reason.isEmpty() ? 1 : 0;
                table.append(' ')
                        .append(reason.map(why ->
                                        (unpromised.isPresent() ? "not promised (" : "– (") + reasons.get(why) + ')')
                                .orElse("held"))
                        .append(" |");
            }
            table.append('\n');
        }
        table.append('\n').append(held).append(" cells are held.\n\n");
        reasons.forEach(
                (why, number) -> table.append(number).append(". ").append(why).append('\n'));
        Path page = Docs.root().resolve("docs/archive/hostile-process.md");
        String text = Files.readString(page);
        String begin = "<!-- drawn: cells -->\n";
        String drawn = text.substring(0, text.indexOf(begin) + begin.length())
                + table
                + text.substring(text.indexOf("<!-- end -->"));
        if (Boolean.getBoolean("latchkey.docs.renew")) {
            Files.writeString(page, drawn);
        }
        assertEquals(drawn, Files.readString(page));
    }

    /** One client with one hostile part, beside a client that behaves. */
    private static final class Scene {
        private final HostilePart hostile;
        private final Behaviour how;
        private final String base = "/case-" + ++cases;
        private final CountDownLatch over = new CountDownLatch(1);
        private final AtomicBoolean armed = new AtomicBoolean();
        private final AtomicBoolean attacked = new AtomicBoolean();
        private final Set<Promise> broken = EnumSet.noneOf(Promise.class);
        private final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        private final CountDownLatch runs = new CountDownLatch(1);
        private final ZkLockClient client;
        private final String number;

        Scene(HostilePart hostile, Behaviour how) throws Exception {
            this.hostile = hostile;
            this.how = how;
            ZkLockClient.Builder builder = ZkLockClient.builder()
                    .connectString(server.connectString())
                    .sessionTimeout(SESSION)
                    .basePath(base);
            if (hostile == HostilePart.OBSERVER) {
                builder.observer((LockObserver) Proxy.newProxyInstance(
                        LockObserver.class.getClassLoader(),
                        new Class<?>[] {LockObserver.class},
                        (proxy, method, args) -> {
                            if (method.getDeclaringClass() == Object.class) {
                                return method.invoke(this, args);
                            }
                            attack();
                            return null;
                        }));
            } else if (hostile == HostilePart.METERS) {
                builder.observer(LockMeters.of(new HostileRegistry()));
            } else if (hostile == HostilePart.EXECUTOR) {
                builder.callbackExecutor(task -> {
                    attack();
                    task.run();
                });
            }
            client = builder.build();
            String thread = client.mutex("/number")
                    .acquireAsync()
                    .thenApply(lease -> {
                        var unused = lease.releaseAsync();
                        return Thread.currentThread().getName();
                    })
                    .get(20, TimeUnit.SECONDS);
            number = thread.substring(thread.lastIndexOf('-'));
        }

        private void attack() {
            if (!armed.get()) {
                return;
            }
            attacked.set(true);
            switch (how) {
                case THROWS -> throw new IllegalStateException("thrown by a test");
                case ERRS -> throw new InternalError("thrown by a test");
                case BLOCKS -> await(Duration.ofMinutes(1));
                case SLOW -> await(Duration.ofMillis(50));
                case CALLS_BACK -> callBack();
                case CLOSES -> client.close();
            }
        }

        /** Without an end by interruption. */
        private void await(Duration longest) {
            boolean again = false;
            long end = System.nanoTime() + longest.toNanos();
            while (over.getCount() > 0 && System.nanoTime() < end) {
                try {
                    if (over.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                        break;
                    }
                } catch (InterruptedException ignored) {
                    again = true;
                }
            }
            if (again) {
                Thread.currentThread().interrupt();
            }
        }

        private void callBack() {
            armed.set(false);
            try {
                boolean status = Thread.interrupted();
                client.mutex("/back").tryAcquire(Duration.ofMillis(50)).ifPresent(Lease::close);
                client.diagnose();
                if (status) {
                    Thread.currentThread().interrupt();
                }
            } catch (InterruptedException | LockException | IllegalStateException late) {
                // It may not wait there.
            } finally {
                armed.set(true);
            }
        }

        private Acquirable lock(String path) {
            Acquirable lock = client.mutex(path);
            if (hostile != HostilePart.OBSERVATION) {
                return lock;
            }
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(new ObservationHandler<>() {
                @Override
                public void onStart(Observation.Context context) {
                    attack();
                }

                @Override
                public void onStop(Observation.Context context) {
                    attack();
                }

                @Override
                public void onScopeOpened(Observation.Context context) {
                    attack();
                }

                @Override
                public boolean supportsContext(Observation.Context context) {
                    return true;
                }
            });
            return ObservedLock.of(lock, "hostile", registry);
        }

        /** Its meters are made with the observer, so it is their use that is hostile. */
        private final class HostileRegistry extends SimpleMeterRegistry {
            @Override
            protected Counter newCounter(Meter.Id id) {
                return new CumulativeCounter(id) {
                    @Override
                    public void increment(double amount) {
                        attack();
                        super.increment(amount);
                    }
                };
            }

            @Override
            protected Timer newTimer(Meter.Id id, DistributionStatisticConfig distribution, PauseDetector pauses) {
                return new CumulativeTimer(id, clock, distribution, pauses, getBaseTimeUnit()) {
                    @Override
                    protected void recordNonNegative(long amount, TimeUnit unit) {
                        attack();
                        super.recordNonNegative(amount, unit);
                    }
                };
            }
        }

        private final class BlockedChannel extends AbstractInterruptibleChannel {
            void block() throws IOException {
                boolean completed = false;
                begin();
                try {
                    runs.countDown();
                    Scene.this.await(Duration.ofMinutes(1));
                    completed = true;
                } finally {
                    end(completed);
                }
            }

            @Override
            protected void implCloseChannel() {
                interrupted.complete(true);
                attack();
            }
        }

        private void body() throws IOException {
            if (hostile == HostilePart.CHANNEL) {
                new BlockedChannel().block();
                return;
            }
            runs.countDown();
            try {
                over.await();
            } catch (InterruptedException told) {
                interrupted.complete(true);
                if (hostile == HostilePart.BODY) {
                    attack();
                }
            }
        }

        private Thread bodyThread() {
            Runnable runBody = () -> {
                try {
                    client.mutex("/body").heldAtMost(LIMIT).run(OnLoss.INTERRUPT, lease -> body());
                } catch (Throwable ended) {
                    // By its loss, or as the test wants it.
                }
            };
            Thread thread = hostile == HostilePart.INTERRUPT
                    ? new Thread(runBody) {
                        @Override
                        public void interrupt() {
                            interrupted.complete(true);
                            attack();
                            super.interrupt();
                        }
                    }
                    : new Thread(runBody);
            thread.setDaemon(true);
            return thread;
        }

        Set<Promise> play() throws Exception {
            Thread body = bodyThread();
            HostileLog log =
                    HostileLog.in("latchkey-log" + number, hostile == HostilePart.LOGGER ? this::attack : () -> {});
            try {
                losses(body);
                check(Promise.TIMED_CALL, TRY.plus(SLACK), () -> lock("/m")
                        .tryAcquire(TRY)
                        .isEmpty());
                check(Promise.RELEASE_FREES, SESSION.plus(SLACK), this::releaseFrees);
                check(Promise.CLOSE_ENDS, SESSION.plus(SLACK), () -> {
                    client.close();
                    return true;
                });
            } finally {
                armed.set(false);
                over.countDown();
                log.close();
            }
            check(Promise.NOTHING_LEFT, SESSION.plus(SLACK).multipliedBy(2), () -> {
                while (!left().isEmpty()) {
                    body.join(10);
                }
                return true;
            });
            assertTrue(attacked.get(), "the hostile part was never called");
            return broken;
        }

        /** Both leases end by their limits; the other client waits behind each. */
        private void losses(Thread body) throws Exception {
            CompletableFuture<LossCause> told = new CompletableFuture<>();
            armed.set(isHostileFromTheStart());
            Lease lease = lock("/m").heldAtMost(LIMIT.multipliedBy(2)).acquire();
            var unused = lease.lost().thenAccept(told::complete);
            if (hostile == HostilePart.STAGE) {
                var unused2 = lease.lost().thenRun(this::attack);
            }
            body.start();
            assertTrue(runs.await(20, TimeUnit.SECONDS));
            armed.set(true);
            CompletableFuture<Boolean> exclusion =
                    other.mutex(base + "/m").acquireAsync().thenApply(next -> !lease.isValid());
            CompletableFuture<Boolean> tellsFirst = exclusion.thenApply(free -> told.isDone());
            CompletableFuture<Boolean> next = other.mutex(base + "/body")
                    .acquireAsync()
                    .thenApply(granted -> {
                        var unused3 = granted.releaseAsync();
                        return true;
                    });
            check(Promise.EXCLUSION, SESSION.plus(SLACK), exclusion::get);
            check(Promise.LOSS_TOLD, SESSION.plus(SLACK), tellsFirst::get);
            check(Promise.BODY_INTERRUPTED, SESSION.plus(SLACK), () -> next.get() && interrupted.get());
        }

        /** What only a loss calls is: a limit may end before the test goes on. */
        private boolean isHostileFromTheStart() {
            return switch (hostile) {
                case STAGE, BODY, INTERRUPT, CHANNEL -> true;
                case OBSERVATION -> how != Behaviour.BLOCKS && how != Behaviour.CLOSES;
                case LOGGER, OBSERVER, METERS, EXECUTOR -> false;
            };
        }

        private boolean releaseFrees() throws Exception {
            Optional<Lease> lease;
            try {
                lease = lock("/r").tryAcquire(SESSION);
            } catch (LockException closed) {
                lease = Optional.empty();
            }
            lease.ifPresent(held -> {
                var unused = held.releaseAsync();
            });
            Optional<Lease> free = other.mutex(base + "/r").tryAcquire(SESSION);
            free.ifPresent(Lease::close);
            return free.isPresent();
        }

        /** Notes the promise as broken unless the question is answered with yes in time. */
        private void check(Promise promise, Duration longest, Callable<Boolean> question) throws InterruptedException {
            CompletableFuture<Boolean> answer = new CompletableFuture<>();
            Thread asks = new Thread(() -> {
                try {
                    answer.complete(question.call());
                } catch (LockException closed) {
                    answer.complete(how == Behaviour.CLOSES);
                } catch (Throwable unexpected) {
                    answer.complete(false);
                }
            });
            asks.setDaemon(true);
            asks.start();
            try {
                if (!answer.get(longest.toMillis(), TimeUnit.MILLISECONDS)) {
                    broken.add(promise);
                }
            } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException late) {
                broken.add(promise);
            }
        }

        /** Returns what the client has left: nodes of requests but for those of the other client, and threads. */
        private List<String> left() {
            List<String> left = new ArrayList<>();
            for (String path : List.of("/body", "/r", "/back", "/number")) {
                server.nodesUnder(base + path).stream()
                        .filter(node -> node.path().contains("write-"))
                        .forEach(node -> left.add(node.path()));
            }
            Thread.getAllStackTraces().keySet().stream()
                    .map(Thread::getName)
                    .filter(name -> name.startsWith("latchkey-") && name.endsWith(number))
                    .forEach(left::add);
            return left;
        }
    }
}
