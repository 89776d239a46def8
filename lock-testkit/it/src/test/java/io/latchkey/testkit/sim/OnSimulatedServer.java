// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.management.ThreadMXBean;
import io.latchkey.lock.LockObserver;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.Clock;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A simulated server, and engines whose requests and answers take the steps that a test chooses. */
abstract class OnSimulatedServer {
    static final Duration SESSION = Duration.ofSeconds(12);

    final Leader leader = new Leader(new SimulatedTime(), Sessions.Expiry.BY_FORCE);
    final Server server = new Server(leader);

    /** One client, whose store tells of the heartbeats that are sent. */
    class Client {
        final Engine engine;
        private final Consumer<List<ZnodeStore.Write>> beats;

        private @Nullable SimulatedStore store;
        private ZnodeStore.@Nullable Listener listener;
        private long ids;

        Client(int number, Consumer<List<ZnodeStore.Write>> beats) throws IOException {
            this(number, beats, false);
        }

        Client(int number, Consumer<List<ZnodeStore.Write>> beats, boolean borrowing) throws IOException {
            this(number, beats, borrowing, leader.time().view(), Runnable::run, Optional.empty());
        }

        Client(int number, LockObserver observer) throws IOException {
            this(number, observer, Namings.LATCHKEY);
        }

        Client(
                int number,
                Consumer<List<ZnodeStore.Write>> beats,
                boolean borrowing,
                Clock clock,
                Executor callbacks,
                Optional<ObserverDispatcher> observer)
                throws IOException {
            this(number, beats, borrowing, clock, callbacks, observer, Namings.LATCHKEY);
        }

        Client(int number, Naming naming) throws IOException {
            this(number, checks -> {}, false, leader.time().view(), Runnable::run, Optional.empty(), naming);
        }

        /** Its observer is called at once, on the thread of the test. */
        Client(int number, LockObserver observer, Naming naming) throws IOException {
            this(
                    number,
                    checks -> {},
                    false,
                    leader.time().view(),
                    Runnable::run,
                    Optional.of(ObserverDispatcher.inPlace(observer)),
                    naming);
        }

        private Client(
                int number,
                Consumer<List<ZnodeStore.Write>> beats,
                boolean borrowing,
                Clock clock,
                Executor callbacks,
                Optional<ObserverDispatcher> observer,
                Naming naming)
                throws IOException {
            this.beats = beats;
            this.ids = (number + 1L) << 32;
            this.engine = new Engine(new ClientConfig(
                    borrowing ? new ClientConfig.Source.Borrowed(this::open) : new ClientConfig.Source.Own(this::open),
                    SESSION,
                    Optional.empty(),
                    new OwnerData("simulated", 1, "client " + number),
                    () -> ids++,
                    clock,
                    Outbox.inPlace(callbacks, observer),
                    Runnable::run,
                    naming));
            engine.start();
            settle();
        }

        private ZnodeStore open(ZnodeStore.Listener told) {
            listener = told;
            store = new SimulatedStore(leader, SESSION, told, Runnable::run);
            return telling(store, beats);
        }

        ZnodeStore.Listener listener() {
            return Objects.requireNonNull(listener);
        }

        SimulatedStore store() {
            return Objects.requireNonNull(store);
        }

        CompletableFuture<Optional<ZkLease>> asks(String path) {
            return asks(Recipe.MUTEX, path);
        }

        CompletableFuture<Optional<ZkLease>> asks(Recipe recipe, String... paths) {
            List<LockTarget> members = Stream.of(paths)
                    .map(path -> new LockTarget(recipe, new LockPath(path)))
                    .toList();
            return engine.acquire(members, new WaitPolicy.Forever());
        }

        CompletableFuture<Optional<ZkLease>> asksAndSettles(String path) {
            return asksAndSettles(Recipe.MUTEX, path);
        }

        CompletableFuture<Optional<ZkLease>> asksAndSettles(Recipe recipe, String... paths) {
            CompletableFuture<Optional<ZkLease>> asked = asks(recipe, paths);
            settle();
            return asked;
        }

        ZkLease acquire(String path) throws Exception {
            return acquire(Recipe.MUTEX, path);
        }

        ZkLease acquire(Recipe recipe, String... paths) throws Exception {
            return granted(asksAndSettles(recipe, paths));
        }

        /** Acquires and releases, so that the path exists and is known to the client. */
        void use(String path) throws Exception {
            var unused = acquire(path).releaseAsync();
            settle();
        }

        /** Begins to close. Returns a future that is completed once it has closed. */
        CompletableFuture<Boolean> closes() {
            CompletableFuture<Boolean> closed = new CompletableFuture<>();
            engine.onceClosed(() -> closed.complete(true));
            engine.context().execute(engine::close);
            return closed;
        }

        void cut() {
            store().cut();
        }

        /** The server passes on what is asked first, and the client hears nothing of it. */
        void loseTheAnswer() {
            store().takeRequest();
            cut();
        }

        /** Until nothing is on its way; the server applies nothing before it has to. */
        void settleBehindALaggingServer() {
            BoundedLoop.all(() -> {
                boolean moves = Delivery.next(store(), server);
                boolean lags = !moves && server.lags();
                if (lags) {
                    server.applyNext();
                }
                return moves || lags;
            });
        }

        /** Until nothing is on its way. */
        void settle() {
            BoundedLoop.all(() -> step(server));
        }

        /** Until it has taken all messages. */
        void settleAnswers() {
            BoundedLoop.until(() -> !store().hasMessage(), store()::takeMessage);
        }

        /** Until such a request is the next that the server takes; time passes if nothing is on its way. */
        void settleUntilNext(RequestMatch wanted) {
            BoundedLoop.until(() -> isNext(wanted), () -> {
                if (!step(server)) {
                    leader.time().runNext();
                }
            });
        }

        /** Returns whether such a request is the next that the server takes. */
        boolean isNext(RequestMatch wanted) {
            return store().hasRequest() && wanted.matches(store().peekRequest().onTheWire());
        }

        /** Settles, and returns the requests of this kind that the server takes until then. */
        List<WireRecord.Request> sent(RequestMatch wanted) {
            return sent(wanted, server);
        }

        List<WireRecord.Request> sent(RequestMatch wanted, Server at) {
            Set<SimulatedStore.SentRequest> sent = new LinkedHashSet<>();
            BoundedLoop.all(() -> {
                if (isNext(wanted)) {
                    sent.add(store().peekRequest());
                }
                return step(at);
            });
            return sent.stream().map(SimulatedStore.SentRequest::onTheWire).toList();
        }

        /** Says whether anything was on its way; a client without a connection connects to that server. */
        boolean step(Server at) {
            return Delivery.nextWithoutLag(store(), at);
        }
    }

    /** Returns the cause. */
    static <T extends Exception> T assertFails(Class<T> type, CompletableFuture<?> asked) {
        ExecutionException refused = assertThrows(ExecutionException.class, () -> asked.get(5, TimeUnit.SECONDS));
        return assertInstanceOf(type, refused.getCause());
    }

    static ZkLease granted(CompletableFuture<Optional<ZkLease>> asked) throws Exception {
        return asked.get(5, TimeUnit.SECONDS).orElseThrow();
    }

    /** Hands all on. */
    @SuppressWarnings("unchecked") // the first argument of a write
    private static ZnodeStore telling(ZnodeStore to, Consumer<List<ZnodeStore.Write>> beats) {
        return (ZnodeStore) Proxy.newProxyInstance(
                ZnodeStore.class.getClassLoader(), new Class<?>[] {ZnodeStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("write")) {
                        List<ZnodeStore.Write> writes = (List<ZnodeStore.Write>) args[0];
                        if (writes.stream().allMatch(ZnodeStore.Write.Check.class::isInstance)) {
                            beats.accept(writes);
                        }
                    }
                    return method.invoke(to, args);
                });
    }

    /**
     * The step that took most of the processor's time, and the one that allocated most, of those that a timer began.
     */
    record Steps(long nanos, long bytes) {}

    final Steps steps(Client client, Duration span) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        SimulatedTime time = leader.time();
        long end = time.nanos() + span.toNanos();
        long longest = 0;
        long most = 0;
        while (time.nextAt() <= end) {
            long bytes = threads.getCurrentThreadAllocatedBytes();
            long start = threads.getCurrentThreadCpuTime();
            time.runNext();
            longest = Math.max(longest, threads.getCurrentThreadCpuTime() - start);
            most = Math.max(most, threads.getCurrentThreadAllocatedBytes() - bytes);
            client.settle();
        }
        time.moveTo(end);
        return new Steps(longest, most);
    }

    final void settleBoth(Client one, Client other) {
        BoundedLoop.all(() -> one.step(server) || other.step(server));
    }

    static void steps(int most, Client client, Server at) {
        int done = 0;
        while (done < most && client.step(at)) {
            done++;
        }
    }

    final List<String> queueUnder(String path) {
        return leader.tree().find(path).listing().children().stream()
                .map(child -> path + '/' + child)
                .sorted(Comparator.comparing(child -> child.substring(child.length() - 10)))
                .toList();
    }
}
