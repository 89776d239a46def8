// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.sim.ImmediateZooKeeper;
import io.latchkey.testkit.sim.ImmediateZooKeeper.FaultKind;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.threads.DaemonThreads;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * Working lock clients without a server: the shipped locks over a ZooKeeper in memory that answers every request at
 * once. A client is there in well under a millisecond once the classes are loaded, and its session ends when the test
 * says so.
 *
 * <pre>{@code
 * try (SimulatedLocks locks = SimulatedLocks.start()) {
 *     LockClient mine = locks.client();
 *     Lease lease = mine.mutex("/orders/42").acquire();
 *     locks.expire(mine);
 *     assertFalse(lease.isValid());
 * }
 * }</pre>
 *
 * <p>Time is paused until {@link #advance}: sessions do not age, leases stay valid, and a
 * {@code tryAcquire(timeout)} that has to wait blocks until another thread advances the time, or lets it have what it
 * waits for. A test of one thread asks with {@code acquireAsync()} or {@code tryAcquireAsync(timeout)}, and then
 * releases or advances. With {@link #startWithTimePassing()} time passes as on the machine, for code that waits with
 * time-outs of its own, and can be advanced besides. Any thread may call anything.
 *
 * <p>What it does not have: lagging servers, more than one order in which things can happen. For those there is
 * {@link FaultProxy} before a real server.
 */
// The class is long because more than half of it is documentation: it is the first class that users of the kit meet.
public final class SimulatedLocks implements AutoCloseable {
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(10);
    private static final int TICK_MILLIS = 1;

    private final ImmediateZooKeeper server;
    private final Duration sessionTimeout;
    private final Map<LockClient, Engine> clients = new LinkedHashMap<>();
    private final @Nullable ScheduledThreadPoolExecutor timePasses;

    private SimulatedLocks(
            ImmediateZooKeeper server, Duration sessionTimeout, @Nullable ScheduledThreadPoolExecutor timePasses) {
        this.server = server;
        this.sessionTimeout = sessionTimeout;
        this.timePasses = timePasses;
    }

    /** {@return a server with sessions of ten seconds, and time that only passes by {@link #advance}} */
    public static SimulatedLocks start() {
        return start(SESSION_TIMEOUT);
    }

    /**
     * Starts a server with time that only passes by {@link #advance}.
     *
     * @param sessionTimeout the time-out of sessions, at least six milliseconds
     * @return the server, without clients
     * @throws IllegalArgumentException if it is shorter
     */
    public static SimulatedLocks start(Duration sessionTimeout) {
        return new SimulatedLocks(new ImmediateZooKeeper(() -> 0), checked(sessionTimeout), null);
    }

    /** {@return a server with sessions of ten seconds, and time that passes as on the machine} */
    public static SimulatedLocks startWithTimePassing() {
        return startWithTimePassing(SESSION_TIMEOUT);
    }

    /**
     * Starts a server with time that passes as on the machine; one daemon thread sees to that until {@link #close()}.
     *
     * @param sessionTimeout the time-out of sessions, at least six milliseconds
     * @return the server, without clients
     * @throws IllegalArgumentException if it is shorter
     */
    public static SimulatedLocks startWithTimePassing(Duration sessionTimeout) {
        checked(sessionTimeout);
        long start = System.nanoTime();
        ImmediateZooKeeper server = new ImmediateZooKeeper(() -> System.nanoTime() - start);
        ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread daemon = new Thread(task, "latchkey-simulated-time");
            daemon.setDaemon(true);
            return daemon;
        });
        var unused = thread.scheduleWithFixedDelay(server::catchUp, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        return new SimulatedLocks(server, sessionTimeout, thread);
    }

    /** {@return a new client with a session of its own, connected} */
    public LockClient client() {
        return client("");
    }

    /**
     * A new client with a session of its own.
     *
     * @param label what the queue says of its requests, for messages
     * @return the client, connected
     */
    public LockClient client(String label) {
        return builder().ownerLabel(label).build();
    }

    /**
     * A new client with a session of its own that tells an observer, as {@link ZkLockClient.Builder#observer} has it:
     * on a thread of its own, so await what the observer should hear. The times that it hears of are those of this
     * simulation.
     *
     * @param observer told of requests, leases and the session
     * @return the client, connected
     */
    public LockClient client(LockObserver observer) {
        return builder().observer(observer).build();
    }

    /** {@return a description of a client of this simulation, in which everything has a default} */
    public ClientBuilder builder() {
        return new ClientBuilder();
    }

    /** Describes a client of a simulation, in the words of {@link ZkLockClient.Builder}. */
    public final class ClientBuilder {
        private String label = "";
        private Duration ownTimeout = sessionTimeout;
        private Layout layout = Layout.LATCHKEY;
        private Optional<LockObserver> observer = Optional.empty();
        private Function<Engine, Optional<LocalHandOff>> turns = engine -> Optional.empty();

        private ClientBuilder() {}

        /**
         * Sets what the queue says of the client's requests, for messages. Empty if not given.
         *
         * @param text the label
         * @return this
         */
        public ClientBuilder ownerLabel(String text) {
            label = Objects.requireNonNull(text, "ownerLabel");
            return this;
        }

        /**
         * Sets the time-out of the client's sessions: that of the simulation if not given.
         *
         * @param timeout at least six milliseconds
         * @return this
         * @throws IllegalArgumentException if it is shorter
         */
        public ClientBuilder sessionTimeout(Duration timeout) {
            ownTimeout = checked(timeout);
            return this;
        }

        /**
         * Sets whose znodes the client's locks are made of, as {@link ZkLockClient.Builder#layout}.
         * {@link Layout#LATCHKEY} if not given.
         *
         * @param whose the same for every client at one path
         * @return this
         */
        public ClientBuilder layout(Layout whose) {
            layout = Objects.requireNonNull(whose, "layout");
            return this;
        }

        /**
         * Lets the client's waiters for one lock take several turns with one place in the server's queue, as {@link
         * ZkLockClient.Builder#localTurns}. Off if not given.
         *
         * @param most turns that one place is good for, two or more
         * @param longest no turn begins later than this after the first; more than zero
         * @return this
         * @throws IllegalArgumentException if {@code most} is below two, or {@code longest} is not more than zero
         */
        public ClientBuilder localTurns(int most, Duration longest) {
            if (most < 2 || longest.isNegative() || longest.isZero()) {
                throw new IllegalArgumentException(
                        "localTurns: two turns or more in some time, not " + most + " in " + longest);
            }
            turns = engine -> Optional.of(new LocalHandOff(engine, most, longest));
            return this;
        }

        /**
         * Sets the client's observer, as {@link ZkLockClient.Builder#observer}: notified on a thread of its own, so
         * await what the observer should hear. The times that it hears of are those of the simulation.
         *
         * @param told notified of requests, leases and the session
         * @return this
         */
        public ClientBuilder observer(LockObserver told) {
            observer = Optional.of(told);
            return this;
        }

        /** {@return a new client with a session of its own, connected} */
        public LockClient build() {
            synchronized (SimulatedLocks.this) {
                Naming naming =
                        switch (layout) {
                            case LATCHKEY -> Namings.LATCHKEY;
                            case CURATOR -> Namings.CURATOR;
                            case KAZOO -> Namings.KAZOO;
                        };
                Engine engine = server.start(label, ownTimeout, naming, observer.map(SimulatedLocks::onAThread));
                LockClient client = new EngineLockClient(engine, turns.apply(engine));
                clients.put(client, engine);
                return client;
            }
        }
    }

    private static ObserverDispatcher onAThread(LockObserver observer) {
        ExecutorService thread =
                Executors.newSingleThreadExecutor(DaemonThreads.factory("latchkey-observer-simulated"));
        return new ObserverDispatcher(observer, thread, ClientLog.inPlace(), thread::shutdown);
    }

    // ---- faults

    /**
     * Ends the client's session at the server, by force: {@link ExpiryOrder#SERVER_FIRST}. On return its nodes are
     * deleted, its leases are lost, its waiting requests queue again in its next session. Of a client that is
     * {@linkplain #cutOff cut off} the nodes are deleted, but its leases stay valid until it is
     * {@linkplain #heal healed} or its own deadline has passed.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void expire(LockClient client) {
        expire(client, ExpiryOrder.SERVER_FIRST);
    }

    /**
     * Ends the client's session, or makes the client treat it as ended, in the given order.
     * {@link ExpiryOrder#PARTITION} cuts the client off, advances the time until the server has ended the session, and
     * heals. After {@link ExpiryOrder#CLIENT_FIRST} the old session's nodes stay until the time is advanced by its
     * time-out.
     *
     * @param client one of this simulation's
     * @param order the order in which server and client learn of the end
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void expire(LockClient client, ExpiryOrder order) {
        Engine engine = engine(client);
        switch (order) {
            case SERVER_FIRST -> server.expireAtServer(engine);
            case CLIENT_FIRST -> server.expireAtClient(engine);
            case BOTH -> server.expireAtBoth(engine);
            case PARTITION -> server.expireByTime(engine);
        }
    }

    /**
     * From now on nothing passes between the client and the server, in either direction, without notice to either. The
     * client finds its connection lost when two thirds of the session's time-out have passed since it last heard
     * anything; the server ends the session at the end of it. Requests of the client stay on their way until
     * {@link #heal}.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void cutOff(LockClient client) {
        server.cutOff(engine(client));
    }

    /**
     * From now on the client has no connection, and knows it: {@link #refuse}, and the present connection breaks. Where
     * {@link #cutOff} lets requests and answers arrive in the end, this loses them. The server ends the session when
     * its time-out has passed. Until {@link #heal}.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void disconnect(LockClient client) {
        server.disconnect(engine(client));
    }

    /**
     * From now on the client cannot connect, until {@link #heal}; an existing connection stays. Like ZooKeeper's own
     * client, it tries at once and then each second. Requests between two attempts wait for the next: they fail if it
     * fails, and are sent first if it succeeds.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void refuse(LockClient client) {
        server.refuse(engine(client));
    }

    /**
     * Breaks the connection in place of the n-th request of this sort, counted from now: the server does not get it.
     * Earlier requests of the client have been carried out. Unless it is {@linkplain #refuse refused}, the client
     * connects again at once.
     *
     * @param client one of this simulation's
     * @param match which requests are meant; the requests have no {@linkplain WireRecord#nanoTime() time} and no number
     *     of a {@linkplain WireRecord#connection() connection}
     * @param number which of them: 1 for the next one
     * @return strikes when the connection has broken; {@link #heal} takes it back
     * @throws IllegalArgumentException if the client is not of this simulation, or closed, or the number is below 1
     */
    public Fault cutBefore(LockClient client, RequestMatch match, int number) {
        return arm(client, FaultKind.CUT_BEFORE, match, number);
    }

    /**
     * Breaks the connection in place of the answer to the n-th request of this sort, counted from now: the server has
     * carried it out, the client does not know. Answers before it get to the client. Otherwise like {@link #cutBefore}.
     *
     * @param client one of this simulation's
     * @param match which requests are meant
     * @param number which of them: 1 for the next one
     * @return strikes when the connection has broken; {@link #heal} takes it back
     * @throws IllegalArgumentException if the client is not of this simulation, or closed, or the number is below 1
     */
    public Fault cutAfter(LockClient client, RequestMatch match, int number) {
        return arm(client, FaultKind.CUT_AFTER, match, number);
    }

    /**
     * The server refuses the n-th request of this sort, counted from now, and does nothing for it. If it denies a
     * transaction, its answer names the first write.
     *
     * @param client one of this simulation's
     * @param match which requests are meant
     * @param number which of them: 1 for the next one
     * @param code {@code THROTTLEDOP}, as a server of 3.7 or later answers that has too much to do, {@code NOAUTH}, as
     *     where an ACL does not let the client, or {@code QUOTAEXCEEDED}
     * @return strikes when the request is refused; {@link #heal} takes it back
     * @throws IllegalArgumentException if the client is not of this simulation, or closed, if the number is below 1, or
     *     if the code is another
     */
    public Fault refuseRequest(LockClient client, RequestMatch match, int number, KeeperException.Code code) {
        return switch (code) {
            case THROTTLEDOP -> arm(client, FaultKind.THROTTLE, match, number);
            case NOAUTH -> arm(client, FaultKind.DENY, match, number);
            case QUOTAEXCEEDED -> arm(client, FaultKind.EXCEED_QUOTA, match, number);
            default -> throw new IllegalArgumentException("code is not THROTTLEDOP, NOAUTH or QUOTAEXCEEDED: " + code);
        };
    }

    private Fault arm(LockClient client, FaultKind kind, RequestMatch match, int number) {
        if (number < 1) {
            throw new IllegalArgumentException("the first one is number 1, not " + number);
        }
        String what = kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        Fault fault = new Fault(what + " " + match + " number " + number);
        server.arm(engine(client), kind, match, number, fault);
        return fault;
    }

    /**
     * Holds back the answers to requests of this sort, and all that comes behind the first of them. Pings pass, so that
     * the connection stays up, and requests still get to the server. Until the hold is released, or {@link #heal}. If
     * the connection or the session ends before, what comes with the next is held as well; with a {@link FaultProxy}
     * it is not.
     *
     * @param client one of this simulation's
     * @param match which requests are meant
     * @return in force until it is released
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public HeldFrames holdAnswers(LockClient client, RequestMatch match) {
        return hold(client, Optional.of(match), "answers to " + match);
    }

    /**
     * Holds back watch events, and all that comes behind the first of them, as {@link #holdAnswers} does. Until the hold
     * is released, or {@link #heal}.
     *
     * @param client one of this simulation's
     * @return in force until it is released
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public HeldFrames holdEvents(LockClient client) {
        return hold(client, Optional.empty(), "watch events");
    }

    private HeldFrames hold(LockClient client, Optional<RequestMatch> answersTo, String what) {
        Engine engine = engine(client);
        HeldFrames hold = new HeldFrames("hold of " + what, released -> server.release(engine, released));
        server.hold(engine, answersTo, hold);
        return hold;
    }

    /**
     * The server refuses the next writes of the client, like a throttling server of 3.7 or later ({@code THROTTLEDOP}):
     * the response says so, and the write is not applied.
     *
     * @param client one of this simulation's
     * @param writes how many, zero or more; heartbeats count
     * @throws IllegalArgumentException if the client is not of this simulation, or closed, or the number is negative
     */
    public void refuseWrites(LockClient client, int writes) {
        if (writes < 0) {
            throw new IllegalArgumentException("how many writes are refused must not be negative: " + writes);
        }
        server.refuseWrites(engine(client), writes);
    }

    /**
     * Deletes a node, such as a request of a client, as an operator can. On return the clients have been notified.
     *
     * @param path the node's, as {@link #nodesUnder} tells it
     * @throws IllegalArgumentException if there is no such node, or it has children, or it is the root
     */
    public void delete(String path) {
        server.delete(Objects.requireNonNull(path, "path"));
    }

    /**
     * Ends {@link #cutOff}, {@link #refuse}, {@link #disconnect} and holds: messages on their way arrive. Cancels cuts
     * that have not struck. If the session is over, the client learns it and has a new one on return. For a closed
     * client there is nothing to do.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation
     */
    public void heal(LockClient client) {
        server.heal(engine(client));
    }

    /**
     * Lets time pass: connected clients keep their sessions, sessions of others end, validity deadlines and time-outs
     * pass, each at its moment, with all that follows from it. On return that has been done, callbacks too, but not
     * what other threads of the test have been woken for.
     *
     * @param span zero or more
     * @throws IllegalArgumentException if it is negative
     */
    public void advance(Duration span) {
        if (span.isNegative()) {
            throw new IllegalArgumentException("time does not go back: " + span);
        }
        server.advance(span);
    }

    // ---- what the server knows

    /**
     * Every node below the path as the server has it now.
     *
     * @param path absolute, {@code /} for everything
     * @return the nodes in alphabetical order, without the path's own; none if the path has no node
     */
    public List<ServerNode> nodesUnder(String path) {
        return server.nodesUnder(path);
    }

    /** {@return every watch that the server keeps now} */
    public List<ServerNode.Watch> watches() {
        return server.watches();
    }

    /** {@return the ids of the sessions that live now, in ascending order} */
    public List<Long> sessions() {
        return server.sessions();
    }

    /**
     * The client's present session.
     *
     * @param client one of this simulation's
     * @return its id, 0 if the server never saw it
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public long session(LockClient client) {
        return server.session(engine(client));
    }

    private synchronized Engine engine(LockClient client) {
        Engine engine = clients.get(client);
        if (engine == null) {
            throw new IllegalArgumentException("not a client of this simulation: " + client);
        }
        return engine;
    }

    /** Closes every client that is still open and ends all threads. */
    @Override
    public void close() {
        List<LockClient> all;
        synchronized (this) {
            all = List.copyOf(clients.keySet());
        }
        all.forEach(LockClient::close);
        if (timePasses != null) {
            timePasses.shutdownNow();
        }
        server.close();
    }

    private static Duration checked(Duration sessionTimeout) {
        if (sessionTimeout.compareTo(Duration.ofMillis(6)) < 0) {
            throw new IllegalArgumentException("sessionTimeout is below six milliseconds: " + sessionTimeout);
        }
        return sessionTimeout;
    }
}
