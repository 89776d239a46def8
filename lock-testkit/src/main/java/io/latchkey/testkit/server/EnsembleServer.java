// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.PrimitiveIterator;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxn.DisconnectReason;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.jspecify.annotations.Nullable;

/** One server of an ensemble: its place, which stays, and the running peer, which comes and goes. */
final class EnsembleServer {
    private static final String ADMIN_SERVER = "zookeeper.admin.enableServer";
    private static final int FLEXIBLE_ELECTION = 3;
    private static final int TICKS_TO_JOIN = 50;
    private static final int TICKS_TO_FOLLOW = 10;
    private static final long ENDS_WITHIN_MILLIS = 10_000;

    private final Place place;
    private final List<Place> all;
    private final int tickMillis;
    private final int maxSessionMillis;
    private final Map<Integer, Relay> relays = new TreeMap<>();
    private @Nullable QuorumPeer peer;
    private @Nullable NIOServerCnxnFactory connections;

    /** Where a server lives: the same through restarts. */
    record Place(int id, Path folder, int clientPort, int quorumPort, int electionPort) {
        /** The places of an ensemble, on ports that are free now. */
        static List<Place> all(int size, Path folder) {
            return all(1, size, folder);
        }

        /** As {@link #all(int, Path)}, with ids from {@code firstId} on. */
        static List<Place> all(int firstId, int size, Path folder) {
            PrimitiveIterator.OfInt ports = Localhost.freePorts(3 * size).iterator();
            return IntStream.range(firstId, firstId + size)
                    .mapToObj(id -> new Place(
                            id, folder.resolve("server-" + id), ports.nextInt(), ports.nextInt(), ports.nextInt()))
                    .toList();
        }

        private QuorumServer asMember(int portToFollow) {
            return new QuorumServer(
                    id, Localhost.port(portToFollow), Localhost.port(electionPort), Localhost.port(clientPort));
        }
    }

    EnsembleServer(Place place, List<Place> all, int tickMillis, int maxSessionMillis) {
        this.place = place;
        this.all = List.copyOf(all);
        this.tickMillis = tickMillis;
        this.maxSessionMillis = maxSessionMillis;
        all.stream()
                .filter(other -> other.id() != place.id())
                .forEach(other -> relays.put(other.id(), Relay.to(Localhost.port(other.quorumPort()))));
    }

    Place place() {
        return place;
    }

    void start() {
        try {
            Files.createDirectories(place.folder());
            NIOServerCnxnFactory opened = QuietConnections.make();
            opened.configure(Localhost.port(place.clientPort()), 0, -1, false);
            QuorumPeer made = ServerFiles.unforced(() -> peer(opened));
            made.setMaxSessionTimeout(maxSessionMillis);
            made.setDaemon(true);
            made.setName("latchkey-ensemble-server-" + place.id());
            Elections.lively(made::start);
            peer = made;
            connections = opened;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start server " + place.id() + " of the ensemble", e);
        }
    }

    /** Without the HTTP server that ZooKeeper would otherwise open on a fixed port where Jetty is there. */
    private QuorumPeer peer(NIOServerCnxnFactory opened) throws IOException {
        Map<Long, QuorumServer> members = new TreeMap<>();
        // Servers connect to each other through relays, which can be cut; each server listens at its own port.
        all.forEach(each -> members.put((long) each.id(), each.asMember(portToFollow(each))));
        return SystemProperties.during(
                ADMIN_SERVER,
                "false",
                () -> new QuorumPeer(
                        members,
                        place.folder().toFile(),
                        place.folder().toFile(),
                        FLEXIBLE_ELECTION,
                        place.id(),
                        tickMillis,
                        TICKS_TO_JOIN,
                        TICKS_TO_FOLLOW,
                        0,
                        false,
                        opened,
                        new QuorumMaj(members)));
    }

    private int portToFollow(Place other) {
        Relay relay = relays.get(other.id());
        return relay == null ? other.quorumPort() : relay.port();
    }

    /** Nothing gets through any more between this server and one that it follows. */
    void cutOff() {
        relays.values().forEach(Relay::cut);
    }

    void mend() {
        relays.values().forEach(Relay::mend);
    }

    /** Ends the connections by which this server follows another. */
    private void resetRelays() {
        relays.values().forEach(Relay::reset);
    }

    /** Ends the connections by which this server follows that one. */
    void resetRelayTo(int id) {
        Relay relay = relays.get(id);
        if (relay != null) {
            relay.reset();
        }
    }

    void close() {
        stop();
        relays.values().forEach(Relay::close);
    }

    /** Its clients lose it before it can say anything more. */
    void kill() {
        NIOServerCnxnFactory dying = connections;
        if (dying != null) {
            resetRelays();
            dying.closeAll(DisconnectReason.SERVER_SHUTDOWN);
        }
        stop();
    }

    void stop() {
        QuorumPeer stopping = peer;
        peer = null;
        connections = null;
        if (stopping == null) {
            return;
        }
        stopping.shutdown();
        try {
            stopping.join(ENDS_WITHIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isLeading() {
        return peer != null && peer.getPeerState() == ServerState.LEADING && serving() != null;
    }

    /** Whether it takes part: leads or follows, and serves clients. */
    boolean isServing() {
        return serving() != null;
    }

    private @Nullable ZooKeeperServer serving() {
        QuorumPeer now = peer;
        ZooKeeperServer server = now == null ? null : now.getActiveServer();
        return server != null && server.isRunning() ? server : null;
    }

    private ZooKeeperServer server() {
        ZooKeeperServer server = serving();
        if (server == null) {
            throw new IllegalStateException("server " + place.id() + " does not serve");
        }
        return server;
    }

    ServerTruth truth() {
        return new ServerTruth(server());
    }

    boolean hasTraceOf(long session) {
        ServerTruth truth = truth();
        return truth.sessions().contains(session)
                || truth.nodesUnder("/").stream().anyMatch(node -> node.session() == session);
    }

    void expire(long session) {
        server().expire(session);
    }
}
