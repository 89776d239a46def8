// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.server.ServerWatch;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
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
 * One simulated server that carries every request out at once, for clients on ordinary threads. All of it is confined to a serial
 * executor without a thread of its own: whichever thread brings something carries it out, with whatever others have brought
 * meanwhile, and never waits in there.
 */
public final class ImmediateZooKeeper implements AutoCloseable {
    private static final Duration FIRST_CONTACT = Duration.ofSeconds(10);
    /** As long as ZooKeeper's client waits between attempts to connect where it has one server. */
    private static final long BETWEEN_ATTEMPTS_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Where other threads keep on asking there is no quiet to wait for. */
    private static final int ROUNDS_TO_QUIET = 1_000;

    private final Executor serial = MoreExecutors.newSequentialExecutor(MoreExecutors.directExecutor());
    private final SimulatedTime time = new SimulatedTime();
    private final Leader leader = new Leader(time, Sessions.Expiry.BY_TIME);
    private final Server server = new Server(leader);
    private final SimulatedTime.View attempts = time.view();
    private final Map<Engine, Line> lines = Collections.synchronizedMap(new LinkedHashMap<>());
    private final Callbacks callbacks = new Callbacks();
    private final LongSupplier clock;

    /** What the clock is ahead of its source, by {@link #advance}. */
    private volatile long ahead;

    private long carried;

    /**
     * @param clock where time comes from, in nanoseconds: never goes back
     */
    public ImmediateZooKeeper(LongSupplier clock) {
        this.clock = clock;
    }

    /** Where a connection breaks, chosen beforehand. */
    public enum Cut {
        /** In place of the request: the server does not get it. */
        BEFORE,
        /** In place of the answer: the server has carried the request out. */
        AFTER
    }

    /** A fault that strikes at a request to come. */
    private static final class Armed {
        private final Cut cut;
        private final RequestMatch match;
        private final Fault fault;
        private int left;

        Armed(Cut cut, RequestMatch match, int number, Fault fault) {
            this.cut = cut;
            this.match = match;
            this.left = number;
            this.fault = fault;
        }
    }

    /** Messages that do not get to the client, with all that come behind the first of them. */
    private record Held(Predicate<SimulatedPort.Message> match, HeldFrames hold) {
        boolean holds(SimulatedPort.Message next) {
            if (match.test(next)) {
                hold.firstCaught().complete(null);
            }
            return hold.firstCaught().isDone();
        }
    }

    /** One client's way to the server: its present port, and what the network does to it. */
    private final class Line implements ClientConfig.Opener {
        private final Duration sessionTimeout;
        private @Nullable SimulatedPort port;
        private boolean silent;
        private boolean refusing;
        /** When the client tries to connect, if it is refused until then. */
        private long nextAttempt;
        /** Called in place of opening a handle. */
        private volatile Optional<ClientConfig.Opener> failing = Optional.empty();

        private final List<Armed> armed = new ArrayList<>(0);
        private final List<Held> held = new ArrayList<>(0);

        Line(Duration sessionTimeout) {
            this.sessionTimeout = sessionTimeout;
        }

        @Override
        public ZnodeStore open(ZnodeStore.Listener listener) throws IOException {
            if (failing.isPresent()) {
                return failing.get().open(listener);
            }
            CarryingPort door = new CarryingPort(ImmediateZooKeeper.this);
            carry(() -> {
                SimulatedPort opened = new SimulatedPort(leader, sessionTimeout, listener);
                if (silent) {
                    opened.silence();
                }
                port = opened;
                door.carryTo(opened);
            });
            return door;
        }

        SimulatedPort port() {
            if (port == null) {
                throw new IllegalStateException("the client is not started");
            }
            return port;
        }

        /** Does the next of what is to be done; says whether there was anything. */
        boolean settle() {
            SimulatedPort present = port;
            if (present == null) {
                return false;
            }
            if (present.seeksConnection() && (!refusing || nextAttempt <= time.nanos())) {
                connect(present);
            } else if (present.hasMessage()) {
                return takeMessage(present);
            } else if (present.hasRequest()) {
                takeRequest(present);
            } else {
                return false;
            }
            return true;
        }

        private void connect(SimulatedPort present) {
            if (refusing) {
                nextAttempt = time.nanos() + BETWEEN_ATTEMPTS_NANOS;
                attempts.at(nextAttempt, () -> {});
                present.refused();
            } else {
                present.connect(server);
            }
        }

        /** Pings pass what is held: the connection stays up. When it is lost, what has come before is there. */
        private boolean takeMessage(SimulatedPort present) {
            SimulatedPort.Message next = Objects.requireNonNull(present.peekMessage());
            if (present.isUp() && held.stream().anyMatch(each -> each.holds(next))) {
                return present.takePing();
            }
            present.takeMessage();
            return true;
        }

        private void takeRequest(SimulatedPort present) {
            Optional<Armed> strikes = armed.isEmpty() ? Optional.empty() : strikes(present.peekRequest());
            if (strikes.isEmpty()) {
                present.takeRequest();
                return;
            }
            WireRecord.Request request = present.peekRequest().onTheWire();
            if (strikes.get().cut == Cut.AFTER) {
                present.loseNextAnswer();
            } else {
                present.breakOff();
            }
            strikes.get().fault.struck().complete(request);
        }

        private Optional<Armed> strikes(SimulatedPort.Sent next) {
            WireRecord.Request request = next.onTheWire();
            armed.removeIf(each -> each.fault.struck().isDone());
            for (Iterator<Armed> all = armed.iterator(); all.hasNext(); ) {
                Armed each = all.next();
                if (each.match.matches(request) && --each.left == 0) {
                    all.remove();
                    return Optional.of(each);
                }
            }
            return Optional.empty();
        }

        void heal() {
            silent = false;
            refusing = false;
            nextAttempt = 0;
            failing = Optional.empty();
            armed.forEach(each -> each.fault.close());
            armed.clear();
            held.clear();
            port().heal();
        }
    }

    /** A started engine with a session of its own, whose requests are named in this way, and that tells the observer if there is one. */
    public Engine start(String label, Duration sessionTimeout, Naming naming, Optional<ObserverDispatcher> observer) {
        Line line = new Line(sessionTimeout);
        SplittableRandom ids = new SplittableRandom(ThreadLocalRandom.current().nextLong());
        Engine engine = new Engine(new ClientConfig(
                new ClientConfig.Source.Own(line),
                sessionTimeout,
                Optional.empty(),
                new Owner("simulated", ProcessHandle.current().pid(), label),
                ids::nextLong,
                new CarryingTime(this, ask(time::view), () -> lines.values().remove(line)),
                callbacks,
                Runnable::run,
                path -> path,
                naming,
                observer));
        lines.put(engine, line);
        try {
            engine.start();
            engine.awaitConnection(FIRST_CONTACT);
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new LockUnavailableException("Interrupted while connecting to the simulated server.");
        }
        return engine;
    }

    // ---- faults

    public void expire(Engine engine, ExpiryOrder order) {
        Line line = line(engine);
        switch (order) {
            case SERVER_FIRST -> carry(() -> leader.closeSession(line.port().session()));
            case CLIENT_FIRST -> carry(() -> line.port().giveUpSession());
            case BOTH ->
                carry(() -> {
                    SimulatedPort port = line.port();
                    port.giveUpSession();
                    leader.closeSession(port.session());
                });
            case PARTITION -> {
                long session = session(engine);
                cutOff(engine);
                while (sessions().contains(session)) {
                    advance(line.sessionTimeout.dividedBy(2));
                }
                heal(engine);
            }
        }
        awaitQuiet();
    }

    public void cutOff(Engine engine) {
        Line line = line(engine);
        carry(() -> {
            line.silent = true;
            line.port().silence();
        });
        awaitQuiet();
    }

    public void disconnect(Engine engine) {
        Line line = line(engine);
        carry(() -> {
            line.refusing = true;
            if (line.port().isUp()) {
                line.port().cut();
            }
        });
        awaitQuiet();
    }

    public void refuse(Engine engine) {
        Line line = line(engine);
        carry(() -> line.refusing = true);
    }

    /** From now on no handle of the client is opened, until it is healed: this is called instead, and throws. */
    void failToOpen(Engine engine, ClientConfig.Opener failing) {
        line(engine).failing = Optional.of(failing);
    }

    public void cut(Engine engine, Cut cut, RequestMatch match, int number, Fault fault) {
        Line line = line(engine);
        carry(() -> line.armed.add(new Armed(cut, match, number, fault)));
    }

    /** Holds the answers to these requests, or events where there is no match. */
    public void hold(Engine engine, Optional<RequestMatch> answersTo, HeldFrames hold) {
        Line line = line(engine);
        Predicate<SimulatedPort.Message> which = answersTo
                .<Predicate<SimulatedPort.Message>>map(match -> message ->
                        message.to() != null && match.matches(message.to().onTheWire()))
                .orElse(SimulatedPort.Message::isEvent);
        carry(() -> line.held.add(new Held(which, hold)));
    }

    public void letGo(Engine engine, HeldFrames hold) {
        Line line = lines.get(engine);
        if (line != null) {
            carry(() -> line.held.removeIf(each -> each.hold().equals(hold)));
            awaitQuiet();
        }
    }

    public void refuseWrites(Engine engine, int writes) {
        Line line = line(engine);
        carry(() -> line.port().refuseWrites(writes));
    }

    public void heal(Engine engine) {
        Line line = lines.get(engine);
        if (line == null) {
            return; // closed: nothing passes any more
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
        if (!ask(() -> leader.tree().has(path))) {
            throw new IllegalArgumentException("no such node: " + path);
        }
        carry(() -> leader.delete(path));
        awaitQuiet();
    }

    // ---- what the server knows

    public long session(Engine engine) {
        Line line = line(engine);
        return ask(() -> line.port().session());
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

    public List<ServerWatch> watches() {
        return ask(() -> {
            List<ServerWatch> found = new ArrayList<>();
            for (SimulatedPort port : ports()) {
                for (SimulatedPort.Watch watch : port.watches()) {
                    ServerWatch.Kind kind =
                            watch.what() == SimulatedPort.Of.DATA ? ServerWatch.Kind.DATA : ServerWatch.Kind.CHILDREN;
                    found.add(new ServerWatch(watch.path(), kind, port.session()));
                }
            }
            return found;
        });
    }

    // ---- time

    /** What time it is, for whoever asks. */
    long nanos() {
        return clock.getAsLong() + ahead;
    }

    /** Lets so much more time pass, and runs what is due until then, one after the other, each with its consequences. */
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

    /** Runs what is due by now; to be called again and again where time passes by itself. */
    public void catchUp() {
        carry(() -> catchUp(nanos()));
    }

    private void catchUp(long moment) {
        while (time.nextAt() <= moment) {
            time.runNext();
            settle();
        }
        time.moveTo(moment);
    }

    // ---- carrying out

    /** Does something with the servers, and lets everything follow that follows at once. */
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
                answer.complete(question.get());
                settle();
            } catch (RuntimeException failed) {
                answer.completeExceptionally(failed);
            }
        });
        try {
            return answer.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException error ? error : failed;
        }
    }

    private List<SimulatedPort> ports() {
        List<SimulatedPort> ports = new ArrayList<>();
        for (Line line : List.copyOf(lines.values())) {
            if (line.port != null) {
                ports.add(line.port);
            }
        }
        return ports;
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
     * Waits until every engine has done what follows from what happened, since engines run on whichever thread is at them, and
     * until users' callbacks have run, unless they block. Threads that ask for something meanwhile are not waited for.
     */
    private void awaitQuiet() {
        long before = -1;
        long now = ask(() -> carried);
        for (int round = 0; now != before && round < ROUNDS_TO_QUIET; round++) {
            for (Engine engine : List.copyOf(lines.keySet())) {
                CompletableFuture<Boolean> passed = new CompletableFuture<>();
                engine.context().execute(() -> passed.complete(true));
                try {
                    Uninterruptibles.getUninterruptibly(passed);
                } catch (ExecutionException impossible) {
                    throw new IllegalStateException(impossible);
                }
            }
            callbacks.awaitIdle();
            before = now;
            now = ask(() -> carried);
        }
    }

    /** Ends the threads of callbacks; clients must have been closed. */
    @Override
    public void close() {
        callbacks.close();
    }
}
