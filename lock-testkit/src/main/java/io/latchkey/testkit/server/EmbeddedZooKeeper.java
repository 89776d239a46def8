// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxn.DisconnectReason;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.jspecify.annotations.Nullable;

/**
 * One ZooKeeper server in the test's own process, on a free port of 127.0.0.1, with its files in a temporary folder
 * that is deleted at {@link #close()}. The first one of a process starts in about 0.2 s, later ones in milliseconds.
 *
 * <p>The tick is 100 ms unless set otherwise, so that sessions of 200 ms and more are possible. Below 500 ms the order
 * of a client's events is not reliable: it may learn of the lost connection only after its session has ended.
 *
 * <p>All methods that return the server's state read it directly, without a request, even while no client is connected.
 * It throws {@link IllegalStateException} while the server is stopped, except for where to connect and whether it runs.
 * All methods may be called from any thread.
 */
public final class EmbeddedZooKeeper implements ZooKeeperFixture {
    private static final int LONGEST_SESSION_MILLIS = 60_000;
    private static final Duration SESSION_ENDS_WITHIN = Duration.ofSeconds(10);

    private final int tickMillis;
    private final TempFolder folder = new TempFolder("latchkey-zookeeper-");
    /** Outlives restarts. */
    private final AtomicBoolean holdsExpiry = new AtomicBoolean();

    private int port;
    /** While the server is stopped: bound to the port, so that the system gives it to no other socket. */
    private @Nullable SocketChannel reservation;

    private @Nullable RunningServer running;
    private boolean closed;

    private record RunningServer(EmbeddedServer server, NIOServerCnxnFactory connections) {}

    private EmbeddedZooKeeper(int tickMillis) {
        this.tickMillis = tickMillis;
    }

    /**
     * Starts a server with a tick of 100 ms and sessions of 200 ms to 60 s.
     *
     * @return the server, which takes connections; close it
     * @throws UncheckedIOException if its files cannot be made
     */
    public static EmbeddedZooKeeper start() {
        return start(Duration.ofMillis(100));
    }

    /**
     * Starts a server with another tick, at which it looks for sessions to expire.
     *
     * @param tick the length of a tick, 1 ms to 30 s: sessions are two ticks long at least, 60 s at most
     * @return the server, which takes connections; close it
     * @throws IllegalArgumentException if the tick is shorter or longer
     * @throws UncheckedIOException if its files cannot be made
     */
    public static EmbeddedZooKeeper start(Duration tick) {
        if (tick.toMillis() < 1 || 2 * tick.toMillis() > LONGEST_SESSION_MILLIS) {
            throw new IllegalArgumentException("tick must be 1 ms to 30 s: " + tick);
        }
        EmbeddedZooKeeper made = new EmbeddedZooKeeper((int) tick.toMillis());
        try {
            made.restart();
        } catch (RuntimeException e) {
            made.close();
            throw e;
        }
        return made;
    }

    @Override
    public synchronized String connectString() {
        return "127.0.0.1:" + port;
    }

    /** {@return the port on 127.0.0.1, the same through every {@link #restart()}} */
    public synchronized int port() {
        return port;
    }

    /** Where its files are until it is closed. */
    Path folder() {
        return folder.path();
    }

    /** {@return whether the server runs} */
    public synchronized boolean isRunning() {
        return running != null;
    }

    @Override
    public OptionalInt leader() {
        return isRunning() ? OptionalInt.of(0) : OptionalInt.empty();
    }

    @Override
    public boolean isServing(int server) {
        return Objects.checkIndex(server, 1) == 0 && isRunning();
    }

    /** {@inheritDoc} As {@link #stop()}. */
    @Override
    public void stop(int server) {
        Objects.checkIndex(server, 1);
        stop();
    }

    /** {@inheritDoc} As {@link #restart()}. */
    @Override
    public void restart(int server) {
        Objects.checkIndex(server, 1);
        restart();
    }

    /**
     * Shuts down the server, as for maintenance, in about 10 ms: connections are closed, and committed transactions are
     * on disk. Clients are disconnected at once, and new connections are refused. Sessions are kept and do not age
     * while the server is stopped. Does nothing if the server is stopped.
     */
    public synchronized void stop() {
        RunningServer stopping = running;
        running = null;
        if (stopping == null) {
            return;
        }
        stopping.connections().shutdown();
        if (!closed) {
            reservation = Localhost.reserved(port);
        }
        try {
            stopping.server().getZKDatabase().close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close the server's files", e);
        }
    }

    /**
     * Ends the server like a crash: its clients lose their connections first, so that no pending request gets a
     * response, whether or not it was applied. Otherwise like {@link #stop()}, and as fast; {@link #restart()} starts
     * it again. It is part of this process, so a write to its log that had begun may complete.
     */
    public synchronized void kill() {
        RunningServer dying = running;
        if (dying != null) {
            dying.connections().closeAll(DisconnectReason.SERVER_SHUTDOWN);
            stop();
        }
    }

    /**
     * Starts the stopped server again on the same port, with its data and its sessions; first stops it if it runs.
     * Takes about 10 ms. Every session has its whole timeout again from now on, so that a client has that long to come
     * back; ZooKeeper's own client takes 1 to 2 s after a disconnect.
     *
     * @throws IllegalStateException if the server is closed
     */
    public synchronized void restart() {
        if (closed) {
            throw new IllegalStateException("the server is closed");
        }
        stop();
        launch();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            stop();
            Localhost.free(reservation);
            folder.close();
        }
    }

    private void launch() {
        try {
            FileTxnSnapLog files = ServerFiles.in(folder.path());
            EmbeddedServer server =
                    new EmbeddedServer(files, tickMillis, 2 * tickMillis, LONGEST_SESSION_MILLIS, holdsExpiry);
            NIOServerCnxnFactory connections = QuietConnections.make();
            Localhost.free(reservation);
            connections.configure(Localhost.port(port), 0, -1, false);
            connections.startup(server);
            port = connections.getLocalPort();
            running = new RunningServer(server, connections);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a ZooKeeper server", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting a ZooKeeper server", e);
        }
    }

    private synchronized RunningServer running() {
        if (running == null) {
            throw new IllegalStateException("the server is stopped");
        }
        return running;
    }

    private ServerTruth truth() {
        return new ServerTruth(running().server());
    }

    /** {@return the ids of the sessions that live at the server now, with or without a connection} */
    public Set<Long> sessions() {
        return truth().sessions();
    }

    /** {@return the ids of the sessions that live now and whose clients have a connection to the server} */
    public Set<Long> connectedSessions() {
        return truth().connectedSessions();
    }

    @Override
    public boolean hasSession(long sessionId) {
        return running().server().hasSession(sessionId);
    }

    @Override
    public void expireSession(long sessionId) throws InterruptedException {
        running().server().expire(sessionId);
        Eventually.holds(
                "end of session 0x" + Long.toHexString(sessionId), SESSION_ENDS_WITHIN, () -> !hasSession(sessionId));
    }

    /**
     * From now on no session ends by time, however long its client is silent: only {@link #expireSession}, the client
     * itself, or a fault that expires it explicitly. Holds through restarts, until {@link #resumeExpiry()}.
     */
    public void holdExpiry() {
        holdsExpiry.set(true);
    }

    /** Lets sessions end by time again. One whose client is silent ends within its timeout plus a tick from now. */
    public void resumeExpiry() {
        holdsExpiry.set(false);
    }

    /**
     * Sets the longest session timeout that a client gets from now on when it connects or reconnects: the timeout of a
     * live session may become shorter or longer, as when its client connects to a server with other settings. Until
     * {@link #restart()}.
     *
     * @param longest in whole milliseconds; longer timeouts are reduced to it
     */
    public void limitSessions(Duration longest) {
        running().server().setMaxSessionTimeout((int) longest.toMillis());
    }

    /**
     * Every node below the path as the server has it now.
     *
     * @param path absolute, {@code /} for everything
     * @return parents before children, each level in alphabetical order, without the path's own node and
     *     {@code /zookeeper}; none if the path has no node
     */
    public List<ServerNode> nodesUnder(String path) {
        return truth().nodesUnder(Objects.requireNonNull(path, "path"));
    }

    /**
     * {@return every watch that the server keeps now, to show that nothing leaks} A watch of a client that has lost its
     * connection is not among them: the server forgets it, and the client sets it again when it comes back.
     */
    public List<ServerNode.Watch> watches() {
        return truth().watches();
    }

    /**
     * {@return how many watches the server keeps, of all sessions and kinds; faster to tell than {@link #watches()}}
     */
    public int watchCount() {
        return truth().watchCount();
    }

    /**
     * Raises the counter that numbers the sequential children of a node, for tests of its overflow. The next sequential
     * child gets exactly this number. The change is made in the server's database, not by a transaction, and survives a
     * {@link #restart()}; no create under the node may be under way.
     *
     * <p>ZooKeeper 3.9 keeps the counter as the parent's raw {@code cversion}: every create of a child, sequential or
     * not, first uses it as the number and then adds one; deletes leave it alone. (Clients see another figure in a
     * {@code Stat}: twice the counter minus the number of children.) The database never lowers the counter. So at
     * 2147483647 it stands still: one create after another gets that same number, and one that is prepared while
     * another is still on its way gets a negative one, from -2147483648 on.
     *
     * @param path the parent's
     * @param counter the number of its next sequential child, not below what it is now
     * @throws IllegalArgumentException if there is no such node or its counter is higher already
     * @throws UncheckedIOException if the change cannot be written to the server's files
     */
    public void setChildCounter(String path, int counter) {
        RunningServer now = running();
        new ServerTruth(now.server()).raiseChildCounter(path, counter);
        try {
            // By reflection, since the method of ZooKeeper 3.8 returns nothing and that of 3.9 a file.
            ZooKeeperServer.class.getMethod("takeSnapshot").invoke(now.server());
        } catch (ReflectiveOperationException e) {
            throw e.getCause() instanceof IOException failed
                    ? new UncheckedIOException("cannot save the counter of " + path, failed)
                    : new IllegalStateException("cannot save the counter of " + path, e);
        }
    }

    /**
     * Deletes the empty containers, as a real server does once a minute: those that have had a child and have none now.
     * Containers that never had a child stay. Returns when it is done, in a few milliseconds.
     *
     * @return the paths of those that were deleted
     * @throws InterruptedException if interrupted while waiting for the deletions, which go on
     */
    public List<String> reapContainers() throws InterruptedException {
        EmbeddedServer server = running().server();
        return ContainerReaper.reap(server.getZKDatabase(), server.pipeline());
    }
}
