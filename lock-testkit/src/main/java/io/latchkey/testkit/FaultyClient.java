// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.proxy.FastReconnects;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A lock client with a separate session behind a separate {@link FaultProxy}, so that a test can inject faults of
 * networks and servers into this client alone. A test of {@link LatchkeyTest} has them as parameters; others
 * {@link #connect} and {@link #close} them.
 *
 * <p>Where a method takes a session's timeout, it is the one that the client asks for. The server raises or cuts it to
 * what it allows; the result is called T here. If no server answers, {@code connect} throws what the client throws:
 * with lock-zk, after 30 seconds, a {@link io.latchkey.lock.LockServiceUnavailableException}; nothing is left open
 * then. All methods may be called from any thread.
 */
public final class FaultyClient implements AutoCloseable {
    private static final AtomicInteger MADE = new AtomicInteger();
    private static final Duration PARTITION_ENDS_WITHIN = Duration.ofMinutes(2);
    /** Sessions of tests are short; a busy machine may need longer than that for the first connection. */
    static final Duration CONNECTS_WITHIN = Duration.ofSeconds(30);

    private final String name;
    private final ZooKeeperFixture fixture;
    private final FaultProxy proxy;
    private final LockClient client;
    private final Optional<FastReconnects> fast;
    private final Set<ClientRecord> records = ConcurrentHashMap.newKeySet();

    private FaultyClient(
            String name, ZooKeeperFixture fixture, FaultProxy proxy, LockClient client, Optional<FastReconnects> fast) {
        this.name = name;
        this.fixture = fixture;
        this.proxy = proxy;
        this.client = client;
        this.fast = fast;
    }

    /**
     * Connects a client of lock-zk that comes back after a disconnect as slowly as in production.
     *
     * @param fixture the servers that it may connect to
     * @param sessionTimeout the timeout of its sessions
     * @return the client, connected
     */
    public static FaultyClient connect(ZooKeeperFixture fixture, Duration sessionTimeout) {
        return connect(fixture, sessionTimeout, Reconnects.HONEST);
    }

    /**
     * Connects a client of lock-zk.
     *
     * @param fixture the servers that it may connect to
     * @param sessionTimeout the timeout of its sessions
     * @param reconnects whether it comes back after a disconnect as slowly as in production, or in milliseconds
     * @return the client, connected
     */
    public static FaultyClient connect(ZooKeeperFixture fixture, Duration sessionTimeout, Reconnects reconnects) {
        return connect(fixture, sessionTimeout, reconnects, builder -> {});
    }

    /**
     * Connects a client of lock-zk that comes back after a disconnect as slowly as in production.
     *
     * @param fixture the servers that it may connect to
     * @param sessionTimeout the timeout of its sessions
     * @param settings sets whatever else is to be set; connect string, timeout and owner's label are set already, the
     *     first has to stay
     * @return the client, connected
     */
    public static FaultyClient connect(
            ZooKeeperFixture fixture, Duration sessionTimeout, Consumer<ZkLockClient.Builder> settings) {
        return connect(fixture, sessionTimeout, Reconnects.HONEST, settings);
    }

    /**
     * Connects a client of lock-zk.
     *
     * @param fixture the servers that it may connect to
     * @param sessionTimeout the timeout of its sessions
     * @param reconnects whether it comes back after a disconnect as slowly as in production, or in milliseconds
     * @param settings sets whatever else is to be set; connect string, timeout and owner's label are set already, the
     *     first has to stay
     * @return the client, connected
     */
    public static FaultyClient connect(
            ZooKeeperFixture fixture,
            Duration sessionTimeout,
            Reconnects reconnects,
            Consumer<ZkLockClient.Builder> settings) {
        Objects.requireNonNull(settings, "settings");
        return connect(nextName(), fixture, sessionTimeout, reconnects, settings);
    }

    /**
     * Connects a client of lock-zk that lives by clocks which are not the machine's. It reconnects as slowly as in
     * production.
     *
     * @param fixture the servers that it may connect to
     * @param sessionTimeout the timeout of its sessions, by the servers' clocks
     * @param clock for this client alone, which ends it when it is closed
     * @return the client, connected
     */
    public static FaultyClient connect(ZooKeeperFixture fixture, Duration sessionTimeout, SkewedClock clock) {
        String name = nextName();
        return connect(
                fixture,
                name,
                FaultProxy.to(fixture),
                sessionTimeout,
                Reconnects.HONEST,
                (connectString, timeout) -> clock.connect(connectString, timeout, name));
    }

    /**
     * Connects a client of lock-zk to some of the servers only. It reconnects as slowly as in production.
     *
     * @param servers the connect string of those: {@code host:port[,host:port...]}
     * @param fixture all servers, which are asked about the session
     * @param sessionTimeout the timeout of its sessions
     * @return the client, connected
     */
    public static FaultyClient connectTo(String servers, ZooKeeperFixture fixture, Duration sessionTimeout) {
        String name = nextName();
        return connect(
                fixture,
                name,
                FaultProxy.to(servers),
                sessionTimeout,
                Reconnects.HONEST,
                latchkey(builder -> builder.ownerLabel(name)));
    }

    /**
     * Connects a client of any implementation of lock-api that keeps its locks in ZooKeeper.
     *
     * @param fixture the servers that it may connect to
     * @param sessionTimeout the timeout of its sessions
     * @param reconnects whether ZooKeeper's own client in it comes back after a disconnect as slowly as in production,
     *     or in milliseconds
     * @param connector makes the client
     * @return the client, as the connector made it
     */
    public static FaultyClient connect(
            ZooKeeperFixture fixture, Duration sessionTimeout, Reconnects reconnects, Connector connector) {
        return connect(fixture, nextName(), FaultProxy.to(fixture), sessionTimeout, reconnects, connector);
    }

    /**
     * Makes lock clients, each with a session of its own: how the kit comes by clients of other implementations than
     * lock-zk.
     */
    @FunctionalInterface
    public interface Connector {
        /**
         * Connects, and returns a client that {@link LockClient#close} closes together with its session.
         *
         * @param connectString of the only servers that it may connect to: {@code host:port[,host:port...]}, which are
         *     mostly proxies
         * @param sessionTimeout the timeout that its sessions have to ask for
         * @return the client; connected, or one that connects by itself
         * @throws InterruptedException if interrupted while it waits
         */
        LockClient connect(String connectString, Duration sessionTimeout) throws InterruptedException;

        /**
         * {@return one that makes clients of lock-zk, with all settings but these two at their defaults; the first
         * connection may take 30 seconds}
         */
        static Connector ofLatchkey() {
            return latchkey(builder -> {});
        }
    }

    private static Connector latchkey(Consumer<ZkLockClient.Builder> settings) {
        return (servers, timeout) -> {
            ZkLockClient.Builder builder = ZkLockClient.builder()
                    .connectString(servers)
                    .sessionTimeout(timeout)
                    .connectTimeout(CONNECTS_WITHIN);
            settings.accept(builder);
            return builder.build();
        };
    }

    /** As {@link #connect(ZooKeeperFixture, Duration, Reconnects)}, with a name that tells what it was made for. */
    static FaultyClient connectFor(
            String what, ZooKeeperFixture fixture, Duration sessionTimeout, Reconnects reconnects) {
        return connect(nextName() + " (" + what + ")", fixture, sessionTimeout, reconnects, builder -> {});
    }

    private static FaultyClient connect(
            String name,
            ZooKeeperFixture fixture,
            Duration sessionTimeout,
            Reconnects reconnects,
            Consumer<ZkLockClient.Builder> settings) {
        return connect(
                fixture,
                name,
                FaultProxy.to(fixture),
                sessionTimeout,
                reconnects,
                latchkey(builder -> settings.accept(builder.ownerLabel(name))));
    }

    private static String nextName() {
        return "client-" + MADE.incrementAndGet();
    }

    private static FaultyClient connect(
            ZooKeeperFixture fixture,
            String name,
            FaultProxy proxy,
            Duration sessionTimeout,
            Reconnects reconnects,
            Connector connector) {
        try {
            LockClient client = connector.connect(proxy.connectString(), sessionTimeout);
            Optional<FastReconnects> fast =
                    switch (reconnects) {
                        case HONEST -> Optional.empty();
                        case FAST -> Optional.of(FastReconnects.of(proxy));
                    };
            return new FaultyClient(name, fixture, proxy, client, fast);
        } catch (InterruptedException e) {
            proxy.close();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while connecting a client", e);
        } catch (RuntimeException | Error e) {
            proxy.close();
            throw e;
        }
    }

    /** {@return the client under test; {@link #close} closes it} */
    public LockClient client() {
        return client;
    }

    /** {@return what stands between it and the servers: faults at chosen requests, and a record of what passed} */
    public FaultProxy proxy() {
        return proxy;
    }

    /** {@return the servers that it may connect to, and maybe others of their ensemble} */
    public ZooKeeperFixture servers() {
        return fixture;
    }

    /**
     * {@return a name for messages and histories, unlike every other client's of this process; with lock-zk the owner's
     * label unless set}
     */
    public String name() {
        return name;
    }

    /**
     * Says that the client is recorded here: if the test fails, the record is printed. A
     * {@link io.latchkey.testkit.history.History} says so by itself where it gets the client.
     *
     * @param record where it is recorded
     */
    public void recordedIn(ClientRecord record) {
        records.add(record);
    }

    /** Where this client is recorded. */
    Set<ClientRecord> records() {
        return Set.copyOf(records);
    }

    /**
     * Ends the client's session, or makes the client treat it as ended, in the given order. Returns at once; the client
     * opens a new session by itself. Its leases are lost, and its waiting requests queue again in the new session.
     *
     * @param order the order in which server and client learn of the end, and the way in which it ends
     * @return completes with the id of the session, when the server has ended it and deleted its nodes; for
     *     {@link ExpiryOrder#BOTH} when the client has learned it as well; for {@link ExpiryOrder#CLIENT_FIRST} when
     *     the client has learned it, unless it {@linkplain Reconnects#FAST reconnects fast}. Completes exceptionally if
     *     the server could not end it, or be asked whether it has; a partition is over then too
     * @throws IllegalStateException if the client has not connected yet
     * @throws UnsupportedOperationException if the client reconnects fast, and this order needs servers on which
     *     {@linkplain ZooKeeperFixture#canExpireSessions any session can be ended}
     */
    public CompletableFuture<Long> expire(ExpiryOrder order) {
        long session = proxy.session().orElseThrow(() -> new IllegalStateException(name + " has not connected yet"));
        if (isFast() && isByTime(order) && !fixture.canExpireSessions()) {
            throw new UnsupportedOperationException(
                    order + " with fast reconnects needs servers that can end any session, not " + fixture);
        }
        return switch (order) {
            case SERVER_FIRST -> proxy.expireSession();
            case CLIENT_FIRST -> {
                CompletableFuture<Long> told = proxy.expireAtClient();
                yield isFast() ? told.thenCompose(over -> inBackground("first-" + name, () -> end(over))) : told;
            }
            case BOTH -> proxy.expireAtBoth();
            case PARTITION -> {
                proxy.blackHole();
                yield inBackground("partition-" + name, () -> {
                    try {
                        if (isFast()) {
                            end(session);
                        } else {
                            Eventually.holds(
                                    "end of " + name + "'s session by time",
                                    PARTITION_ENDS_WITHIN,
                                    () -> !fixture.hasSession(session));
                        }
                    } finally {
                        proxy.heal();
                    }
                    return session;
                });
            }
        };
    }

    /**
     * {@return whether {@link #expire} ends the session itself in this order and waits for no clock: then no clock can
     * know of it}
     *
     * @param order as in {@link #expire}
     */
    public boolean expiresByDecree(ExpiryOrder order) {
        return isFast() || !isByTime(order);
    }

    /** Whether the server ends the session by time in this order, unless the client reconnects fast. */
    private static boolean isByTime(ExpiryOrder order) {
        return order == ExpiryOrder.CLIENT_FIRST || order == ExpiryOrder.PARTITION;
    }

    private boolean isFast() {
        return fast.isPresent();
    }

    private Long end(long session) throws InterruptedException {
        fixture.expireSession(session);
        return session;
    }

    /** Something to wait for that ends with a session. */
    interface EndOfSession {
        Long await() throws InterruptedException;
    }

    /** Does it on a daemon thread. */
    static CompletableFuture<Long> inBackground(String what, EndOfSession end) {
        CompletableFuture<Long> done = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        done.complete(end.await());
                    } catch (InterruptedException | RuntimeException | AssertionError e) {
                        done.completeExceptionally(e);
                    }
                },
                "latchkey-" + what);
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    /** Ends all faults, then closes the client and its proxy. */
    @Override
    public void close() {
        try {
            proxy.endFaults();
        } finally {
            try {
                client.close();
            } finally {
                fast.ifPresent(FastReconnects::close);
                proxy.close();
            }
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
