package io.latchkey.testkit;

import io.latchkey.lock.LockClient;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A lock client with a session of its own behind a {@link FaultProxy} of its own, so that a test can do to this client alone what
 * networks and servers do.
 */
public final class FaultyClient implements AutoCloseable {
    private static final AtomicInteger MADE = new AtomicInteger();
    private static final Duration PARTITION_ENDS_WITHIN = Duration.ofMinutes(2);

    private final String name;
    private final ZooKeeperFixture fixture;
    private final FaultProxy proxy;
    private final ZkLockClient client;

    private FaultyClient(String name, ZooKeeperFixture fixture, FaultProxy proxy, ZkLockClient client) {
        this.name = name;
        this.fixture = fixture;
        this.proxy = proxy;
        this.client = client;
    }

    /** Connects a client; T is what the server makes of this timeout. */
    public static FaultyClient connect(ZooKeeperFixture fixture, Duration sessionTimeout) {
        return connect(fixture, sessionTimeout, builder -> {});
    }

    /**
     * Connects a client.
     *
     * @param sessionTimeout the timeout of its session, within the bounds of the server
     * @param settings whatever else is to be set; the connect string is set already and has to stay
     */
    public static FaultyClient connect(
            ZooKeeperFixture fixture, Duration sessionTimeout, Consumer<ZkLockClient.Builder> settings) {
        Objects.requireNonNull(settings, "settings");
        String name = "client-" + MADE.incrementAndGet();
        FaultProxy proxy = FaultProxy.to(fixture);
        try {
            ZkLockClient.Builder builder = ZkLockClient.builder()
                    .connectString(proxy.connectString())
                    .sessionTimeout(sessionTimeout)
                    .ownerLabel(name);
            settings.accept(builder);
            return new FaultyClient(name, fixture, proxy, builder.build());
        } catch (RuntimeException | Error e) {
            proxy.close();
            throw e;
        }
    }

    /** The client under test. */
    public LockClient client() {
        return client;
    }

    /** What stands between it and the servers. */
    public FaultProxy proxy() {
        return proxy;
    }

    /** A name for messages and histories, different for every client of this process. It is the owner's label unless set. */
    public String name() {
        return name;
    }

    /**
     * Ends the client's session, or makes it believe so, in the given order. Returns at once; the client opens a new session by
     * itself.
     *
     * @return completes with the id of the session, for {@link ExpiryOrder#SERVER_FIRST} and {@link ExpiryOrder#PARTITION} when the
     *     server has ended it and its nodes are gone, for {@link ExpiryOrder#CLIENT_FIRST} when the client has been told
     * @throws IllegalStateException if the client has not connected yet
     */
    public CompletableFuture<Long> expire(ExpiryOrder order) {
        long session = proxy.session().orElseThrow(() -> new IllegalStateException(name + " has not connected yet"));
        return switch (order) {
            case SERVER_FIRST -> proxy.expireSession();
            case CLIENT_FIRST -> proxy.expireAtClient().struck().thenApply(told -> session);
            case PARTITION -> partition(session);
        };
    }

    private CompletableFuture<Long> partition(long session) {
        CompletableFuture<Long> ended = new CompletableFuture<>();
        proxy.blackHole();
        Thread thread = new Thread(
                () -> {
                    try {
                        Eventually.holds(
                                "end of " + name + "'s session by time",
                                PARTITION_ENDS_WITHIN,
                                () -> !fixture.hasSession(session));
                        proxy.heal();
                        ended.complete(session);
                    } catch (InterruptedException | RuntimeException | AssertionError e) {
                        ended.completeExceptionally(e);
                    }
                },
                "latchkey-partition-" + name);
        thread.setDaemon(true);
        thread.start();
        return ended;
    }

    /** Ends all faults, then closes the client and its proxy. */
    @Override
    public void close() {
        proxy.endFaults();
        client.close();
        proxy.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
