// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.proxy.FrameReader.ConnectResponse;
import io.latchkey.testkit.proxy.WireRecord.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The state of one proxy. Everything but the log and what is known of sessions lives on the loop's thread. */
final class ProxyState {
    private final EventLoop loop;
    /** Guarded by itself. */
    private final List<WireRecord> log = new ArrayList<>();

    private final FaultPlan plan = new FaultPlan();
    private final FrameQueue.DirectionFaults toServer = new FrameQueue.DirectionFaults();
    private final FrameQueue.DirectionFaults toClient = new FrameQueue.DirectionFaults();
    private final List<ProxiedConnection> connections = new ArrayList<>();
    private final Map<Long, Long> creators = new ConcurrentHashMap<>();
    private final Set<Long> endedSessions = new HashSet<>();
    private final List<InetSocketAddress> upstreams;
    private final ServerSocketChannel listener;
    private final int port;
    private int opened;
    private boolean refusing;
    /** The pending false expiries; several, if one schedule ends a session twice. */
    private final List<FaultNotice> tellings = new ArrayList<>();

    private Runnable whenConnectionChanges = () -> {};
    private volatile boolean connected;
    private volatile @Nullable ConnectResponse lastSession;

    ProxyState(List<InetSocketAddress> upstreams) {
        this.upstreams = List.copyOf(upstreams);
        try {
            listener = ServerSocketChannel.open();
            listener.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0));
            port = listener.socket().getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen", e);
        }
        loop = new EventLoop("latchkey-proxy-" + port, this::close);
        loop.run(() -> loop.watch(listener, SelectionKey.OP_ACCEPT, this::connectionWaits));
    }

    EventLoop loop() {
        return loop;
    }

    void log(WireRecord record) {
        synchronized (log) {
            log.add(record);
        }
    }

    Wire.Mark mark() {
        synchronized (log) {
            return new Wire.Mark(log.size());
        }
    }

    Wire since(Wire.Mark mark) {
        synchronized (log) {
            return new Wire(List.copyOf(log.subList(mark.position(), log.size())));
        }
    }

    FaultPlan plan() {
        return plan;
    }

    int port() {
        return port;
    }

    FrameQueue.DirectionFaults faults(Direction direction) {
        return direction == Direction.TO_SERVER ? toServer : toClient;
    }

    private void connectionWaits() {
        SocketChannel client;
        try {
            client = listener.accept();
            if (client == null) {
                return;
            }
        } catch (IOException gone) {
            return; // the client has given up already
        }
        if (refusing) {
            reset(client);
            return;
        }
        InetSocketAddress upstream = upstreams.get(opened % upstreams.size());
        opened++;
        try {
            connections.add(ProxiedConnection.open(opened, this, client, upstream));
            lookForConnections();
        } catch (IOException refused) {
            note("server on port " + upstream.getPort() + " refused");
            reset(client);
        }
    }

    private static void reset(SocketChannel client) {
        try {
            client.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException alreadyBroken) {
            Channels.close(client);
        }
        Channels.close(client);
    }

    void note(String text) {
        log(new WireRecord.Note(System.nanoTime(), 0, text));
    }

    void refuse() {
        note("refusing connections");
        refusing = true;
    }

    void accept() {
        note("accepting connections");
        refusing = false;
    }

    void cut() {
        List.copyOf(connections).forEach(connection -> connection.cut("cut"));
    }

    void heal() {
        note("healed");
        toServer.blackHole = false;
        toClient.blackHole = false;
        drain();
    }

    void endFaults() {
        plan.clear();
        refusing = false;
        toServer.delayNanos = 0;
        toClient.delayNanos = 0;
        takeTellingsBack();
        heal();
    }

    void drain() {
        for (ProxiedConnection connection : List.copyOf(connections)) {
            for (Direction direction : Direction.values()) {
                connection.queue(direction).drain();
            }
        }
    }

    void ended(ProxiedConnection connection) {
        if (connection.isOver()) {
            connections.remove(connection);
        }
        lookForConnections();
    }

    private void lookForConnections() {
        connected = connections.stream().anyMatch(ProxiedConnection::hasClient);
        whenConnectionChanges.run();
    }

    void whenConnectionChanges(Runnable action) {
        whenConnectionChanges = action;
    }

    boolean isConnected() {
        return connected;
    }

    void connected(ConnectResponse connected) {
        if (connected.session() != 0) {
            lastSession = connected;
        }
    }

    void created(long zxid, long session) {
        creators.put(zxid, session);
    }

    OptionalLong sessionThatCreated(long zxid) {
        Long session = creators.get(zxid);
        return session == null ? OptionalLong.empty() : OptionalLong.of(session);
    }

    /** Ends a session at the server, past this proxy. */
    CompletableFuture<Long> endSession(ConnectResponse session) {
        note("session 0x" + Long.toHexString(session.session()) + " expired at the server");
        return new SessionCloser(upstreams, session).start().thenApply(ended -> {
            if (listener.isOpen()) {
                loop.post(() -> sessionEnded(ended));
            }
            return ended;
        });
    }

    /**
     * Ends the connections that the server has left in an ended session. If a client takes its session back in the
     * moment of its end, the server confirms it and then drops all requests; the client waits for two thirds of its
     * session timeout.
     */
    private void sessionEnded(long session) {
        endedSessions.add(session);
        List.copyOf(connections).forEach(connection -> connection.endIfOf(session));
    }

    boolean hasEnded(long session) {
        return endedSessions.contains(session);
    }

    @Nullable
    ConnectResponse lastSession() {
        return lastSession;
    }

    private record FaultNotice(long session, Fault fault) {}

    void tellExpired(long session, Fault fault) {
        tellings.add(new FaultNotice(session, fault));
    }

    /**
     * The false expiries for a client that is connecting. They stay until the client has got the answer, because its
     * connection may be cut before. A client that requests another session has given up the former by itself.
     */
    List<Fault> faultsToTell(Request connect, long session) {
        for (FaultNotice telling : List.copyOf(tellings)) {
            if (telling.session != session) {
                telling.fault.struck().complete(connect);
            }
        }
        tellings.removeIf(telling -> !telling.fault.isArmed());
        return tellings.stream().map(FaultNotice::fault).toList();
    }

    private void takeTellingsBack() {
        List.copyOf(tellings).forEach(telling -> telling.fault.close());
        tellings.clear();
    }

    void close() {
        List.copyOf(connections).forEach(ProxiedConnection::close);
        plan.clear();
        takeTellingsBack();
        Channels.close(listener);
        connected = false;
    }
}
