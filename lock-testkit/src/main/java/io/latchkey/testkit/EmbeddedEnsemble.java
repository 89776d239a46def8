package io.latchkey.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Three ZooKeeper servers in the test's own process that elect a leader among them, on free ports of 127.0.0.1, with their files in
 * a temporary folder that is deleted at {@link #close()}. Ready within about 1 s. The tick is 200 ms unless set otherwise, so that
 * sessions of 400 ms and more are possible.
 *
 * <p>Any two servers serve; one alone does not: its clients are disconnected. Servers are counted from 0. All methods may be called
 * from any thread.
 */
public final class EmbeddedEnsemble implements ZooKeeperFixture {
    private static final int SIZE = 3;
    private static final Duration READY_WITHIN = Duration.ofSeconds(30);

    private final TempFolder folder = new TempFolder("latchkey-ensemble-");
    private final List<EnsembleServer> servers;
    private boolean closed;

    private EmbeddedEnsemble(Duration tick, Duration maxSession) {
        List<EnsembleServer.Place> places = places(folder.path());
        servers = places.stream()
                .map(place -> new EnsembleServer(place, places, (int) tick.toMillis(), (int) maxSession.toMillis()))
                .toList();
    }

    /** Starts three servers with a tick of 200 ms and returns when a leader is elected and all of them serve. */
    public static EmbeddedEnsemble start() {
        return start(Duration.ofMillis(200));
    }

    /**
     * Starts three servers and returns when a leader is elected and all of them serve.
     *
     * @param tick the length of a tick: sessions are two ticks long at least, 60 s at most; followers that are silent for ten ticks
     *     are dropped
     */
    public static EmbeddedEnsemble start(Duration tick) {
        if (tick.toMillis() < 1 || tick.toMillis() > 10_000) {
            throw new IllegalArgumentException("a tick must be 1 ms to 10 s: " + tick);
        }
        EmbeddedEnsemble made = new EmbeddedEnsemble(tick, Duration.ofSeconds(60));
        try {
            made.servers.forEach(EnsembleServer::start);
            Eventually.holds(
                    "an ensemble that serves",
                    READY_WITHIN,
                    () -> made.leader().isPresent() && made.servers.stream().allMatch(EnsembleServer::isServing));
            return made;
        } catch (InterruptedException e) {
            made.close();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting an ensemble", e);
        } catch (RuntimeException | AssertionError e) {
            made.close();
            throw e;
        }
    }

    /** Asks the system for free ports, all at once, so that they are different ones. */
    private static List<EnsembleServer.Place> places(Path folder) {
        List<ServerSocket> taken = new ArrayList<>();
        try {
            List<EnsembleServer.Place> places = new ArrayList<>();
            for (int id = 1; id <= SIZE; id++) {
                places.add(new EnsembleServer.Place(
                        id, folder.resolve("server-" + id), free(taken), free(taken), free(taken)));
            }
            return places;
        } catch (IOException e) {
            throw new UncheckedIOException("no free port", e);
        } finally {
            taken.forEach(Channels::close);
        }
    }

    private static int free(List<ServerSocket> taken) throws IOException {
        ServerSocket socket = new ServerSocket();
        taken.add(socket);
        socket.setReuseAddress(true);
        socket.bind(Localhost.port(0));
        return socket.getLocalPort();
    }

    /** Three servers. */
    public int size() {
        return SIZE;
    }

    @Override
    public String connectString() {
        return IntStream.range(0, SIZE).mapToObj(this::connectString).collect(Collectors.joining(","));
    }

    /** Where clients of one server connect. */
    public String connectString(int server) {
        return "127.0.0.1:" + at(server).place().clientPort();
    }

    private EnsembleServer at(int server) {
        return servers.get(Objects.checkIndex(server, SIZE));
    }

    /** Which server leads now; empty during an election and while fewer than two run. */
    public synchronized OptionalInt leader() {
        return IntStream.range(0, SIZE).filter(i -> servers.get(i).isLeading()).findFirst();
    }

    /**
     * Waits until some server leads: about 0.5 s after the former leader was stopped.
     *
     * @throws AssertionError if none does within that time
     * @throws InterruptedException if interrupted while waiting
     */
    public int awaitLeader(Duration within) throws InterruptedException {
        Eventually.holds("a leader", within, () -> leader().isPresent());
        return leader().orElseThrow(() -> new AssertionError("the leader has just been lost again"));
    }

    /** Whether the server runs and serves clients, which takes a leader and a majority. */
    public synchronized boolean isServing(int server) {
        return at(server).isServing();
    }

    /**
     * Stops one server in order. Its clients are disconnected at once and go on to another. If it led, the others elect a new leader
     * in about 0.5 s and serve nobody meanwhile; sessions get their whole timeout again from the new leader. Does nothing if it is
     * stopped.
     */
    public synchronized void stop(int server) {
        at(server).stop();
    }

    /** Starts a stopped server again, on the same ports and with its data; returns before it has joined the others. */
    public synchronized void restart(int server) {
        if (closed) {
            throw new IllegalStateException("the ensemble is closed");
        }
        at(server).stop();
        at(server).start();
    }

    /** The server whose word counts: the leader, or while there is none any that serves. */
    private EnsembleServer authority() {
        return leader().stream()
                .mapToObj(servers::get)
                .findFirst()
                .or(() -> servers.stream().filter(EnsembleServer::isServing).findFirst())
                .orElseThrow(() -> new IllegalStateException("no server serves"));
    }

    /** The sessions that live, as the leader has them. */
    public synchronized Set<Long> sessions() {
        return authority().sessions();
    }

    @Override
    public synchronized boolean hasSession(long sessionId) {
        return authority().hasTraceOf(sessionId);
    }

    /** {@inheritDoc} Here it is also gone from every server that serves. */
    @Override
    public void expireSession(long sessionId) throws InterruptedException {
        synchronized (this) {
            authority().expire(sessionId);
        }
        Eventually.holds("end of session 0x" + Long.toHexString(sessionId), READY_WITHIN, () -> !isAnywhere(sessionId));
    }

    private synchronized boolean isAnywhere(long sessionId) {
        return servers.stream().filter(EnsembleServer::isServing).anyMatch(server -> server.hasTraceOf(sessionId));
    }

    /** Every node below the path as the leader has it, parents first; without the path itself and {@code /zookeeper}. */
    public synchronized List<ServerNode> nodesUnder(String path) {
        return authority().nodesUnder(Objects.requireNonNull(path, "path")).toList();
    }

    /** How many watches all serving servers keep together. */
    public synchronized int watchCount() {
        return servers.stream()
                .filter(EnsembleServer::isServing)
                .mapToInt(EnsembleServer::watchCount)
                .sum();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            servers.forEach(EnsembleServer::stop);
            folder.close();
        }
    }
}
