// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Three ZooKeeper servers in the test's own process that elect a leader among them, on free ports of 127.0.0.1, with
 * their files in a temporary folder that is deleted at {@link #close()}. Ready within about 1 s. The tick is 200 ms
 * unless set otherwise, so that sessions of 400 ms and more are possible.
 *
 * <p>Any two servers serve; a single one does not, and its clients are disconnected. Servers are counted from 0;
 * another number than 0 to 2 is an {@link IndexOutOfBoundsException}. Sessions and nodes are read from the leader, or
 * from a serving server while there is no leader; while no server serves, reading throws {@link IllegalStateException}.
 * All methods may be called from any thread.
 */
public final class EmbeddedEnsemble implements ZooKeeperFixture {
    private static final int SIZE = 3;
    private static final Duration READY_WITHIN = Duration.ofSeconds(30);

    private final TempFolder folder = new TempFolder("latchkey-ensemble-");
    private final List<EnsembleServer> servers;
    private boolean closed;

    private EmbeddedEnsemble(Duration tick, Duration maxSession) {
        List<EnsembleServer.Place> places = EnsembleServer.Place.all(SIZE, folder.path());
        servers = places.stream()
                .map(place -> new EnsembleServer(place, places, (int) tick.toMillis(), (int) maxSession.toMillis()))
                .toList();
    }

    /**
     * Starts three servers with a tick of 200 ms and returns when a leader is elected and all of them serve.
     *
     * @return the ensemble, which serves; close it
     * @throws AssertionError if they do not serve within 30 s
     * @throws IllegalStateException if interrupted while waiting; the interrupt status stays set
     */
    public static EmbeddedEnsemble start() {
        return start(Duration.ofMillis(200));
    }

    /**
     * Starts three servers and returns when a leader is elected and all of them serve.
     *
     * @param tick the length of a tick, 1 ms to 10 s: sessions are two ticks long at least, 60 s at most; followers
     *     that are silent for ten ticks are dropped
     * @return the ensemble, which serves; close it
     * @throws IllegalArgumentException if the tick is shorter or longer
     * @throws AssertionError if they do not serve within 30 s
     * @throws IllegalStateException if interrupted while waiting; the interrupt status stays set
     */
    public static EmbeddedEnsemble start(Duration tick) {
        if (tick.toMillis() < 1 || tick.toMillis() > 10_000) {
            throw new IllegalArgumentException("a tick must be 1 ms to 10 s: " + tick);
        }
        EmbeddedEnsemble made = new EmbeddedEnsemble(tick, Duration.ofSeconds(60));
        return Elections.serving(
                made,
                () -> made.servers.forEach(EnsembleServer::start),
                made::close,
                READY_WITHIN,
                () -> made.leader().isPresent() && made.servers.stream().allMatch(EnsembleServer::isServing));
    }

    /** {@return 3} */
    @Override
    public int size() {
        return SIZE;
    }

    @Override
    public String connectString() {
        return IntStream.range(0, SIZE).mapToObj(this::connectString).collect(Collectors.joining(","));
    }

    /**
     * {@return where clients of one server connect: {@code 127.0.0.1:port}, the same through every restart}
     *
     * @param server its number
     */
    public String connectString(int server) {
        return "127.0.0.1:" + at(server).place().clientPort();
    }

    private EnsembleServer at(int server) {
        return servers.get(Objects.checkIndex(server, SIZE));
    }

    /** {@return the number of the server that leads now; empty during an election and while fewer than two run} */
    @Override
    public synchronized OptionalInt leader() {
        return IntStream.range(0, SIZE).filter(i -> servers.get(i).isLeading()).findFirst();
    }

    /** Whether the server runs and serves clients, which takes a leader and a majority. */
    @Override
    public synchronized boolean isServing(int server) {
        return at(server).isServing();
    }

    /**
     * Shuts down one server. Its clients are disconnected at once and connect to another. If it led, the others elect a
     * new leader in about 0.5 s and serve no clients until then; sessions get their whole timeout again from the new
     * leader. Does nothing if it is stopped.
     */
    @Override
    public synchronized void stop(int server) {
        at(server).stop();
    }

    /**
     * Ends one server like a crash: messages that its clients and the other servers have not received by now are lost.
     * Its clients are disconnected at once and connect to another. If it led, the others elect a new leader in about
     * 0.5 s, as after {@link #stop}; a write that it had not yet sent to one of them is lost. It is a thread of this
     * process, so a write to its log that had begun may complete. {@link #restart} starts it again. Does nothing if it
     * is stopped.
     *
     * @param server its number
     */
    public synchronized void kill(int server) {
        EnsembleServer dying = at(server);
        servers.forEach(each -> each.resetRelayTo(dying.place().id()));
        dying.kill();
    }

    /**
     * Cuts a follower off from its leader: no byte passes between them until the partition is healed, without notice to
     * either. Its clients are not affected directly. At first it still serves them: reads return increasingly old data,
     * writes wait, and the leader hears nothing of their sessions and ends those whose timeout has passed. After ten
     * ticks of silence (2 s with a tick of 200 ms) it stops serving and disconnects its clients, which connect to
     * another server; sessions of more than ten ticks survive. The other servers are not interrupted. Elections stay
     * possible, so it finds the same leader again and again, and cannot follow it.
     *
     * @param follower its number
     * @return the partition, to await and to heal
     * @throws IllegalArgumentException if this server leads
     * @throws IllegalStateException if it does not serve
     */
    @Override
    public synchronized FollowerPartition cutOffFromLeader(int follower) {
        EnsembleServer server = at(follower);
        if (server.isLeading()) {
            throw new IllegalArgumentException("server " + follower + " leads");
        }
        if (!server.isServing()) {
            throw new IllegalStateException("server " + follower + " does not follow now");
        }
        server.cutOff();
        return new FollowerPartition(this, follower);
    }

    synchronized void mend(int follower) {
        at(follower).mend();
    }

    /**
     * {@inheritDoc} First stops it if it runs.
     *
     * @throws IllegalStateException if the ensemble is closed
     */
    @Override
    public synchronized void restart(int server) {
        if (closed) {
            throw new IllegalStateException("the ensemble is closed");
        }
        at(server).stop();
        at(server).start();
    }

    /** Returns the authoritative server: the leader, or any serving server while there is no leader. */
    private EnsembleServer authority() {
        return leader().stream()
                .mapToObj(servers::get)
                .findFirst()
                .or(() -> servers.stream().filter(EnsembleServer::isServing).findFirst())
                .orElseThrow(() -> new IllegalStateException("no server serves"));
    }

    /** {@return the ids of the sessions that live now, as the leader has them} */
    public synchronized Set<Long> sessions() {
        return authority().truth().sessions();
    }

    /** {@return the ids of the sessions that live now and whose clients have a connection to a serving server} */
    public synchronized Set<Long> connectedSessions() {
        return truths().flatMap(truth -> truth.connectedSessions().stream()).collect(Collectors.toSet());
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

    /**
     * Every node below the path as the leader has it now.
     *
     * @param path absolute, {@code /} for everything
     * @return parents before children, each level in alphabetical order, without the path's own node and
     *     {@code /zookeeper}; none if the path has no node
     */
    public synchronized List<ServerNode> nodesUnder(String path) {
        return authority().truth().nodesUnder(Objects.requireNonNull(path, "path"));
    }

    /**
     * {@return every watch that the serving servers keep now} As with {@link EmbeddedZooKeeper#watches()}, those of
     * clients without a connection are not among them.
     */
    public synchronized List<ServerNode.Watch> watches() {
        return truths().flatMap(truth -> truth.watches().stream()).toList();
    }

    /** {@return how many watches all serving servers keep together} */
    public synchronized int watchCount() {
        return truths().mapToInt(ServerTruth::watchCount).sum();
    }

    private Stream<ServerTruth> truths() {
        return servers.stream().filter(EnsembleServer::isServing).map(EnsembleServer::truth);
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            servers.forEach(EnsembleServer::close);
            folder.close();
        }
    }

    /**
     * A follower that is cut off from its leader, from {@link EmbeddedEnsemble#cutOffFromLeader}. Closing it heals it.
     */
    public static final class FollowerPartition implements AutoCloseable {
        private final EmbeddedEnsemble ensemble;
        private final int follower;
        private final AtomicBoolean healed = new AtomicBoolean();

        FollowerPartition(EmbeddedEnsemble ensemble, int follower) {
            this.ensemble = ensemble;
            this.follower = follower;
        }

        /** {@return the number of the server that is cut off} */
        public int follower() {
            return follower;
        }

        /**
         * Waits until the follower has noticed the partition and stopped serving: ten ticks after the cut.
         *
         * @param within the maximum time to wait
         * @throws AssertionError if it still serves after that time
         * @throws InterruptedException if interrupted while waiting
         */
        public void awaitNoticed(Duration within) throws InterruptedException {
            Eventually.holds(this + " noticed", within, () -> !ensemble.isServing(follower));
        }

        /**
         * Waits, after {@link #heal}, until the follower serves again: at once if it had not noticed, else up to 2 s.
         *
         * @param within the maximum time to wait
         * @throws AssertionError if it does not after that time
         * @throws InterruptedException if interrupted while waiting
         */
        public void awaitHealed(Duration within) throws InterruptedException {
            Eventually.holds(this + " healed", within, () -> ensemble.isServing(follower));
        }

        /**
         * What was stopped travels on at once. Returns before the follower serves again. Does nothing the second time.
         */
        public void heal() {
            if (healed.compareAndSet(false, true)) {
                ensemble.mend(follower);
            }
        }

        @Override
        public void close() {
            heal();
        }

        @Override
        public String toString() {
            return "partition of follower " + follower;
        }
    }
}
