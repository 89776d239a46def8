package io.latchkey.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.zookeeper.server.ZKDatabase;
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
    private @Nullable QuorumPeer peer;

    /** Where a server lives: the same through restarts. */
    record Place(int id, Path folder, int clientPort, int quorumPort, int electionPort) {
        private QuorumServer asMember() {
            return new QuorumServer(
                    id, Localhost.port(quorumPort), Localhost.port(electionPort), Localhost.port(clientPort));
        }
    }

    EnsembleServer(Place place, List<Place> all, int tickMillis, int maxSessionMillis) {
        this.place = place;
        this.all = List.copyOf(all);
        this.tickMillis = tickMillis;
        this.maxSessionMillis = maxSessionMillis;
    }

    Place place() {
        return place;
    }

    boolean isStarted() {
        return peer != null;
    }

    void start() {
        try {
            Files.createDirectories(place.folder());
            QuietConnections connections = QuietConnections.make();
            connections.configure(Localhost.port(place.clientPort()), 0, -1, false);
            QuorumPeer made = peer(connections);
            made.setMaxSessionTimeout(maxSessionMillis);
            made.setDaemon(true);
            made.setName("latchkey-ensemble-server-" + place.id());
            made.start();
            peer = made;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start server " + place.id() + " of the ensemble", e);
        }
    }

    /** Without the HTTP server that ZooKeeper would otherwise open on a fixed port where Jetty is there. */
    private QuorumPeer peer(QuietConnections connections) throws IOException {
        Map<Long, QuorumServer> members = new TreeMap<>();
        all.forEach(each -> members.put((long) each.id(), each.asMember()));
        String before = System.getProperty(ADMIN_SERVER);
        System.setProperty(ADMIN_SERVER, "false");
        try {
            return new QuorumPeer(
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
                    connections,
                    new QuorumMaj(members));
        } finally {
            if (before == null) {
                System.clearProperty(ADMIN_SERVER);
            } else {
                System.setProperty(ADMIN_SERVER, before);
            }
        }
    }

    void stop() {
        QuorumPeer stopping = peer;
        peer = null;
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

    private ZKDatabase database() {
        ZooKeeperServer server = serving();
        if (server == null) {
            throw new IllegalStateException("server " + place.id() + " does not serve");
        }
        return server.getZKDatabase();
    }

    Set<Long> sessions() {
        return Set.copyOf(database().getSessionWithTimeOuts().keySet());
    }

    boolean hasTraceOf(long session) {
        return sessions().contains(session) || nodesUnder("/").anyMatch(node -> node.session() == session);
    }

    Stream<ServerNode> nodesUnder(String path) {
        return new ServerTruth(database().getDataTree()).nodesUnder(path).stream();
    }

    int watchCount() {
        return database().getDataTree().getWatchCount();
    }

    void expire(long session) {
        ZooKeeperServer server = serving();
        if (server == null) {
            throw new IllegalStateException("server " + place.id() + " does not serve");
        }
        server.expire(session);
    }
}
