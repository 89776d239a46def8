// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A simulated server that executes every request at once, for clients on ordinary threads. All state is confined to a
 * serial executor without a thread of its own. The submitting thread runs the task, or leaves it to the thread that is
 * already draining the queue. A task never blocks.
 *
 * <p>The class is long because requests, faults, questions of a test and the passing of time are all tasks of that
 * executor, and after each of them all clients have to be quiet.
 */
public final class ImmediateZooKeeper implements AutoCloseable {
    private static final Duration FIRST_CONTACT = Duration.ofSeconds(10);
    /** The pause between connection attempts of ZooKeeper's client with a single server. */
    private static final long BETWEEN_ATTEMPTS_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The limit of a wait for quiescence: other threads may keep sending requests. */
    private static final int ROUNDS_TO_QUIET = 1_000;

    private final Executor serial = MoreExecutors.newSequentialExecutor(MoreExecutors.directExecutor());
    private final SimulatedTime time = new SimulatedTime();
    private final Leader leader = new Leader(time, Sessions.Expiry.BY_TIME);
    private final Server server = new Server(leader);
    private final SimulatedTime.View attempts = time.view();
    private final Map<Engine, Line> lines = Collections.synchronizedMap(new LinkedHashMap<>());
    private final Callbacks callbacks = new Callbacks();
    private final LongSupplier clock;

    /** The offset of the clock from its source, set by {@link #advance}. */
    private volatile long ahead;

    private long carried;

    /**
     * @param clock the source of time, in nanoseconds; never goes back
     */
    public ImmediateZooKeeper(LongSupplier clock) {
        this.clock = clock;
    }

    /** What a planned fault does. */
    public enum FaultKind {
        /** Breaks the connection before the request: the server does not receive it. */
        CUT_BEFORE,
        /** Breaks the connection before the response: the server has executed the request. */
        CUT_AFTER,
        /** Has the server refuse the request, as one that throttles. */
        THROTTLE,
        /** Has the server refuse the request, as that of a client without the right. */
        DENY,
        /** Has the server refuse the request, as that of a client beyond a quota. */
        EXCEED_QUOTA
    }

    /** A planned fault of a future request. */
    private static final class PlannedFault {
        private final FaultKind kind;
        private final RequestMatch match;
        private final Fault fault;
        private int left;

        PlannedFault(FaultKind kind, RequestMatch match, int number, Fault fault) {
            this.kind = kind;
            this.match = match;
            this.left = number;
            this.fault = fault;
        }
    }

    /**
     * A hold of messages to the client, which also delays all messages behind the first of them, of later connections
     * too.
     */
    private record HeldMessages(Predicate<SimulatedStore.Message> match, HeldFrames hold) {
        boolean holds(SimulatedStore.Message next) {
            if (match.test(next)) {
                hold.firstCaught().complete(null);
            }
            return hold.firstCaught().isDone() && !hold.firstCaught().isCompletedExceptionally();
        }
    }

    /** One client's line to the server: its current store and the network's state. */
    private final class Line implements ClientConfig.Opener {
        private final Duration sessionTimeout;
        private @Nullable SimulatedStore store;
        private boolean silent;
        private boolean refusing;
        /** The time of the next connection attempt, if attempts are refused until then. */
        private long nextAttempt;
        /** If set, called instead of opening a handle. */
        private volatile Optional<ClientConfig.Opener> failing = Optional.empty();

        private final List<PlannedFault> armed = new ArrayList<>(0);
        private final List<HeldMessages> held = new ArrayList<>(0);

        Line(Duration sessionTimeout) {
            this.sessionTimeout = sessionTimeout;
        }

        @Override
        public ZnodeStore open(ZnodeStore.Listener listener) throws IOException {
            if (failing.isPresent()) {
                return failing.get().open(listener);
            }
            SimulatedStore opened =
                    new SimulatedStore(leader, sessionTimeout, listener, ImmediateZooKeeper.this::carry);
            carry(() -> {
                if (silent) {
                    opened.silence();
                }
                store = opened;
            });
            return opened;
        }

        SimulatedStore store() {
            if (store == null) {
                throw new IllegalStateException("the client is not started");
            }
            return store;
        }

        /** Performs the next pending step; returns whether there was one. */
        boolean settle() {
            SimulatedStore present = store;
            if (present == null) {
                return false;
            }
            if (present.seeksConnection() && (!refusing || nextAttempt <= time.nanos())) {
                connect(present);
            } else if (!present.hasMessage() || !takeMessage(present)) {
                if (!present.hasRequest()) {
                    return false;
                }
                takeRequest(present); // pings too, while messages are held
            }
            return true;
        }

        private void connect(SimulatedStore present) {
            if (refusing) {
                nextAttempt = time.nanos() + BETWEEN_ATTEMPTS_NANOS;
                attempts.at(SimulatedTime.ORIGIN + nextAttempt, () -> {});
                present.refused();
            } else {
                present.connect(server);
            }
        }

        /**
         * Pings pass held messages, so that the connection stays up. If it is lost, earlier messages are still
         * delivered.
         */
        private boolean takeMessage(SimulatedStore present) {
            SimulatedStore.Message next = Objects.requireNonNull(present.peekMessage());
            if (present.isUp() && held.stream().anyMatch(each -> each.holds(next))) {
                return present.takePing();
            }
            present.takeMessage();
            return true;
        }

        private void takeRequest(SimulatedStore present) {
            Optional<PlannedFault> strikes = armed.isEmpty() ? Optional.empty() : strikes(present.peekRequest());
            if (strikes.isEmpty()) {
                present.takeRequest();
                return;
            }
            WireRecord.Request request = present.peekRequest().onTheWire();
            switch (strikes.get().kind) {
                case CUT_BEFORE -> present.breakOff();
                case CUT_AFTER -> present.loseNextAnswer();
                case THROTTLE -> present.throttleNextRequest();
                case DENY -> present.denyNextRequest();
                case EXCEED_QUOTA -> present.exceedQuotaOfNextRequest();
            }
            strikes.get().fault.struck().complete(request);
        }

        /** The request counts for all; of those whose number it is, the first strikes and the others cannot any more. */
        private Optional<PlannedFault> strikes(SimulatedStore.SentRequest next) {
            WireRecord.Request request = next.onTheWire();
            armed.removeIf(each -> each.fault.struck().isDone());
            List<PlannedFault> due = armed.stream()
                    .filter(each -> each.match.matches(request, each.fault.struck()) && --each.left == 0)
                    .toList();
            armed.removeAll(due);
            due.stream().skip(1).forEach(each -> each.fault
                    .struck()
                    .completeExceptionally(new IllegalStateException("another fault has struck the same request")));
            return due.stream().findFirst();
        }

        void heal() {
            silent = false;
            refusing = false;
            nextAttempt = 0;
            failing = Optional.empty();
            armed.forEach(each -> each.fault.close());
            armed.clear();
            held.clear();
            store().heal();
        }
    }

    /** Returns a started engine with its own session. */
    public Engine start(String label, Duration sessionTimeout, Naming naming, Optional<ObserverDispatcher> observer) {
        Line line = new Line(sessionTimeout);
        SplittableRandom ids = new SplittableRandom(ThreadLocalRandom.current().nextLong());
        Engine engine = new Engine(new ClientConfig(
                new ClientConfig.Source.Own(line),
                sessionTimeout,
                Optional.empty(),
                new OwnerData("simulated", ProcessHandle.current().pid(), label),
                ids::nextLong,
                new ImmediateClock(this, ask(time::view), () -> lines.values().remove(line)),
                Outbox.inPlace(callbacks, observer),
                Runnable::run,
                naming));
        lines.put(engine, line);
        try {
            engine.start();
            engine.awaitConnection(FIRST_CONTACT);
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new LockServiceUnavailableException("Interrupted while connecting to the simulated server.");
        }
        return engine;
    }

    // ---- faults

    /** The server ends the session, and the client learns it as soon as it is connected. */
    public void expireAtServer(Engine engine) {
        Line line = line(engine);
        carry(() -> leader.closeSession(line.store().session()));
        awaitQuiet();
    }

    /** The client treats its session as ended; the server keeps it until its time-out. */
    public void expireAtClient(Engine engine) {
        Line line = line(engine);
        carry(() -> line.store().giveUpSession());
        awaitQuiet();
    }

    public void expireAtBoth(Engine engine) {
        Line line = line(engine);
        carry(() -> {
            SimulatedStore store = line.store();
            store.giveUpSession();
            leader.closeSession(store.session());
        });
        awaitQuiet();
    }

    /** Cuts the client off until the server has ended the session by time. */
    public void expireByTime(Engine engine) {
        Line line = line(engine);
        long session = session(engine);
        cutOff(engine);
        while (sessions().contains(session)) {
            advance(line.sessionTimeout.dividedBy(2));
        }
        heal(engine);
        awaitQuiet();
    }

    public void cutOff(Engine engine) {
        Line line = line(engine);
        carry(() -> {
            line.silent = true;
            line.store().silence();
        });
        awaitQuiet();
    }

    public void disconnect(Engine engine) {
        Line line = line(engine);
        carry(() -> {
            line.refusing = true;
            if (line.store().isUp()) {
                line.store().cut();
            }
        });
        awaitQuiet();
    }

    public void refuse(Engine engine) {
        Line line = line(engine);
        carry(() -> line.refusing = true);
    }

    /** Fails every attempt of the client to open a handle by calling {@code opening}, which throws; until healed. */
    void failToOpen(Engine engine, ClientConfig.Opener failing) {
        line(engine).failing = Optional.of(failing);
    }

    public void arm(Engine engine, FaultKind kind, RequestMatch match, int number, Fault fault) {
        Line line = line(engine);
        carry(() -> line.armed.add(new PlannedFault(kind, match, number, fault)));
    }

    /** Holds the responses to matching requests, or events if there is no match. */
    public void hold(Engine engine, Optional<RequestMatch> answersTo, HeldFrames hold) {
        Line line = line(engine);
        Predicate<SimulatedStore.Message> which = answersTo
                .<Predicate<SimulatedStore.Message>>map(match -> message ->
                        message.to() != null && match.matches(message.to().onTheWire(), hold.firstCaught()))
                .orElse(SimulatedStore.Message::isEvent);
        carry(() -> line.held.add(new HeldMessages(which, hold)));
    }

    public void release(Engine engine, HeldFrames hold) {
        Line line = lines.get(engine);
        if (line != null) {
            carry(() -> line.held.removeIf(each -> each.hold().equals(hold)));
            awaitQuiet();
        }
    }

    public void refuseWrites(Engine engine, int writes) {
        Line line = line(engine);
        carry(() -> line.store().refuseWrites(writes));
    }

    public void heal(Engine engine) {
        Line line = lines.get(engine);
        if (line == null) {
            return; // closed
        }
        carry(line::heal);
        awaitQuiet();
    }

    private Line line(Engine engine) {
        Line line = lines.get(engine);
        if (line == null) {
            throw new IllegalArgumentException("not a client of this simulation, or closed");
        }
        return line;
    }

    public void delete(String path) {
        String refusal = ask(() -> {
            Tree.Node node = leader.tree().find(path);
            if (node == null) {
                return "no such node: " + path;
            }
            if (path.equals(Tree.ROOT) || !node.children().isEmpty()) {
                return "not deleted by a server, because it is the root or has children: " + path;
            }
            leader.delete(path);
            return "";
        });
        if (!refusal.isEmpty()) {
            throw new IllegalArgumentException(refusal);
        }
        awaitQuiet();
    }

    // ---- what the server knows

    public long session(Engine engine) {
        Line line = line(engine);
        return ask(() -> line.store().session());
    }

    public List<Long> sessions() {
        return ask(() -> {
            List<Long> all = new ArrayList<>();
            leader.sessions().ids().forEach(all::add);
            all.sort(null);
            return all;
        });
    }

    public List<ServerNode> nodesUnder(String path) {
        String below = path.endsWith("/") ? path : path + '/';
        return ask(() -> {
            List<ServerNode> found = new ArrayList<>();
            leader.tree().forEach((at, node) -> {
                if (at.startsWith(below) && !at.equals(below)) {
                    long owner = node.isEphemeral() ? node.owner : 0;
                    found.add(new ServerNode(
                            at, ByteBuffer.wrap(node.data), owner, node.czxid, node.mzxid, node.creates));
                }
            });
            found.sort((a, b) -> a.path().compareTo(b.path()));
            return found;
        });
    }

    public List<ServerNode.Watch> watches() {
        return ask(() -> {
            List<ServerNode.Watch> found = new ArrayList<>();
            for (SimulatedStore store : stores()) {
                for (SimulatedStore.Watch watch : store.watches()) {
                    ServerNode.Watch.Kind kind = watch.what() == SimulatedStore.WatchedPart.DATA
                            ? ServerNode.Watch.Kind.DATA
                            : ServerNode.Watch.Kind.CHILDREN;
                    found.add(new ServerNode.Watch(watch.path(), kind, store.session()));
                }
            }
            return found;
        });
    }

    // ---- time

    /** Returns the current time; may be called by any thread. */
    long nanos() {
        return clock.getAsLong() + ahead;
    }

    /** Advances the clock by that duration and runs due timers one after the other, each with its consequences. */
    public void advance(Duration span) {
        long target = nanos() + span.toNanos();
        boolean there = false;
        while (!there) {
            there = ask(() -> {
                long next = Math.min(target, time.nextAt());
                ahead = Math.max(ahead, next - clock.getAsLong());
                catchUp(next);
                return next == target;
            });
            awaitQuiet();
        }
    }

    /** Runs due timers; must be called repeatedly if the source of time advances by itself. */
    public void catchUp() {
        // Not counted as a step of a client: a wait for quiescence would go on for as long as time passes.
        serial.execute(() -> {
            catchUp(nanos());
            settle();
        });
    }

    private void catchUp(long moment) {
        while (time.nextAt() <= moment) {
            time.runNext();
            settle();
        }
        time.moveTo(moment);
    }

    // ---- execution

    /** Runs an action on the servers, then everything that follows from it at once. */
    void carry(Runnable step) {
        serial.execute(() -> {
            carried++;
            step.run();
            settle();
        });
    }

    private <T> T ask(Supplier<T> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        serial.execute(() -> {
            try {
                T value = question.get();
                settle();
                answer.complete(value);
            } catch (RuntimeException | Error failed) {
                answer.completeExceptionally(failed);
            }
        });
        try {
            return answer.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException error ? error : failed;
        }
    }

    private List<SimulatedStore> stores() {
        List<SimulatedStore> stores = new ArrayList<>();
        for (Line line : List.copyOf(lines.values())) {
            if (line.store != null) {
                stores.add(line.store);
            }
        }
        return stores;
    }

    private void settle() {
        boolean moved = true;
        while (moved) {
            moved = false;
            while (server.lags()) {
                server.applyNext();
                moved = true;
            }
            for (Line line : List.copyOf(lines.values())) {
                moved |= line.settle();
            }
            while (time.nextAt() <= time.nanos()) {
                time.runNext();
                moved = true;
            }
        }
    }

    /**
     * Waits until every engine has processed all consequences, and until users' callbacks have run or blocked. Does not
     * wait for requests that other threads send at the same time.
     */
    private void awaitQuiet() {
        long before = -1;
        long now = ask(() -> carried);
        for (int round = 0; now != before && round < ROUNDS_TO_QUIET; round++) {
            List.copyOf(lines.keySet()).forEach(ImmediateZooKeeper::awaitIdle);
            callbacks.awaitIdle();
            before = now;
            now = ask(() -> carried);
        }
    }

    /**
     * Waits until the engine has no step to run. Steps may follow each other in another thread, without a request to
     * the server. A step that is submitted here runs in this thread only if there was no other.
     */
    private static void awaitIdle(Engine engine) {
        Thread here = Thread.currentThread();
        boolean idle = false;
        for (int round = 0; !idle && !engine.context().hasFailed() && round < ROUNDS_TO_QUIET; round++) {
            CompletableFuture<Thread> passed = new CompletableFuture<>();
            engine.context().execute(() -> passed.complete(Thread.currentThread()));
            try {
                idle = Uninterruptibles.getUninterruptibly(passed).equals(here);
            } catch (ExecutionException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    /** Stops the threads of callbacks; clients must have been closed. */
    @Override
    public void close() {
        callbacks.close();
    }
}
