// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.testkit.sim.ImmediateZooKeeper;
import io.latchkey.zk.ZkLockClient;
import io.latchkey.zk.session.Engine;
import io.latchkey.zk.session.ObserverFeed;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Working lock clients without a server: the shipped locks over a ZooKeeper in memory that answers every request at once. A client
 * is there in well under a millisecond once the classes are loaded, and its session ends when the test says so.
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
 * <p>Time stands still until {@link #advance}: sessions do not age, leases stay valid, and a {@code tryAcquire(timeout)} that has to
 * wait blocks until another thread advances the time, or lets it have what it waits for. A test of one thread asks with {@code
 * acquireAsync()} or {@code tryAcquireAsync(timeout)}, and then releases or advances. With {@link #startWithTimePassing()} time
 * passes as on the machine, for code that waits with time-outs of its own, and can be advanced besides. Any thread may call
 * anything.
 *
 * <p>What it does not have: lagging servers, lost answers, more than one order in which things can happen. For those there is
 * {@link FaultProxy} before a real server.
 */
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
        return client(label, sessionTimeout);
    }

    /**
     * A new client with a session of its own.
     *
     * @param label what the queue says of its requests, for messages
     * @param ownTimeout the time-out of this client's sessions, at least six milliseconds
     * @return the client, connected
     * @throws IllegalArgumentException if the time-out is shorter
     */
    public LockClient client(String label, Duration ownTimeout) {
        return client(label, ownTimeout, Optional.empty());
    }

    /**
     * A new client with a session of its own that tells an observer, as {@link ZkLockClient.Builder#observer} has it: on a thread of
     * its own, so await what the observer should hear. The times that it hears of are those of this simulation.
     *
     * @param observer told of requests, leases and the session
     * @return the client, connected
     */
    public LockClient client(LockObserver observer) {
        Objects.requireNonNull(observer, "observer");
        return client("", sessionTimeout, Optional.of(new ObserverFeed(observer, "latchkey-observer-simulated")));
    }

    private synchronized LockClient client(String label, Duration ownTimeout, Optional<ObserverFeed> observer) {
        Engine engine = server.start(Objects.requireNonNull(label, "label"), checked(ownTimeout), observer);
        LockClient client = ZkLockClient.over(engine);
        clients.put(client, engine);
        return client;
    }

    // ---- faults

    /**
     * Ends the client's session at the server, by decree: {@link ExpiryOrder#SERVER_FIRST}. On return its nodes are gone, its leases
     * are lost, its waiting requests queue again in its next session. Of a client that is {@linkplain #cutOff cut off} the nodes are
     * gone, but it does not know: it believes to hold until it is {@linkplain #heal healed} or its own deadline has passed.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void expire(LockClient client) {
        expire(client, ExpiryOrder.SERVER_FIRST);
    }

    /**
     * Ends the client's session, or makes the client believe so, in the given order. {@link ExpiryOrder#PARTITION} cuts the client
     * off, advances the time until the server has ended the session, and heals. After {@link ExpiryOrder#CLIENT_FIRST} the old
     * session's nodes stay until the time is advanced by its time-out.
     *
     * @param client one of this simulation's
     * @param order who learns first that the session is over
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void expire(LockClient client, ExpiryOrder order) {
        server.expire(engine(client), order);
    }

    /**
     * From now on nothing passes between the client and the server, in either direction, and nobody is told. The client finds its
     * connection lost when two thirds of the session's time-out have passed since it last heard anything; the server ends the session
     * at the end of it. What the client asks meanwhile is on its way until {@link #heal}.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void cutOff(LockClient client) {
        server.cutOff(engine(client));
    }

    /**
     * From now on the client has no connection, and knows it. Where {@link #cutOff} lets requests and answers arrive in the end, this
     * loses them. The server ends the session when its time-out has passed. Until {@link #heal}.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation, or closed
     */
    public void disconnect(LockClient client) {
        server.disconnect(engine(client));
    }

    /**
     * The server refuses the next writes of the client, as one of 3.7 or later does that is told to throttle ({@code THROTTLEDOP}): it
     * says so, and nothing is done.
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
     * Deletes a node, as an operator can behind its owner's back: a request of a client, say. On return the clients have been told.
     *
     * @param path the node's, as {@link #nodesUnder} tells it
     * @throws IllegalArgumentException if there is no such node
     */
    public void delete(String path) {
        server.delete(Objects.requireNonNull(path, "path"));
    }

    /**
     * Ends {@link #cutOff} and {@link #disconnect}: what was on its way arrives. If the session is over, the client learns it and has
     * a new one on return. For a closed client there is nothing to do.
     *
     * @param client one of this simulation's
     * @throws IllegalArgumentException if the client is not of this simulation
     */
    public void heal(LockClient client) {
        server.heal(engine(client));
    }

    /**
     * Lets time pass: connected clients keep their sessions, sessions of others end, validity deadlines and time-outs pass, each at
     * its moment, with all that follows from it. On return that has been done, callbacks too, but not what other threads of the test
     * have been woken for.
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
    public List<ServerWatch> watches() {
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
