// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.FaultPlan.FaultEffect;
import io.latchkey.testkit.proxy.FaultPlan.TriggeredFault;
import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.proxy.FrameReader.AnswerHeader;
import io.latchkey.testkit.proxy.FrameReader.ConnectResponse;
import io.latchkey.testkit.proxy.WireRecord.Answer;
import io.latchkey.testkit.proxy.WireRecord.Delivery;
import io.latchkey.testkit.proxy.WireRecord.Note;
import io.latchkey.testkit.proxy.WireRecord.Request;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One connection of the client and the one to the server that belongs to it. Lives on the proxy's thread.
 *
 * <p>How it ends: a cut resets the client's side, while the server gets what had passed before it and then the end of
 * the stream. If either side ends by itself, what it had sent before travels on, and then the other side ends too.
 */
final class ProxiedConnection {
    private final int number;
    private final ProxyState state;
    private final SocketChannel client;
    private final SocketChannel server;
    private final FrameQueue toServer;
    private final FrameQueue toClient;
    private final SocketReader clientEar;
    private final SocketReader serverEar;
    private final Deque<PendingRequest> unanswered = new ArrayDeque<>();
    private final List<Fault> faults = new ArrayList<>();
    private long session;
    private boolean clientSpoke;
    private boolean serverSpoke;
    private boolean deaf;
    private boolean serverDone;

    /** A request on its way, and what its answer sets off. */
    private record PendingRequest(Request request, List<TriggeredFault> triggered) {}

    private ProxiedConnection(int number, ProxyState state, SocketChannel client, SocketChannel server) {
        this.number = number;
        this.state = state;
        this.client = client;
        this.server = server;
        this.toServer = new FrameQueue(state.loop(), state.faults(Direction.TO_SERVER), server, this::serverEnded);
        this.toClient = new FrameQueue(state.loop(), state.faults(Direction.TO_CLIENT), client, this::clientEnded);
        this.clientEar = new SocketReader(client, this::fromClient, this::cut, this::clientEnded);
        this.serverEar = new SocketReader(server, this::fromServer, this::cut, this::serverEnded);
    }

    /** Begins to connect to the server, and to read from the client. */
    static ProxiedConnection open(int number, ProxyState state, SocketChannel client, InetSocketAddress upstream)
            throws IOException {
        if (upstream.isUnresolved()) {
            throw new UnknownHostException(upstream.getHostString());
        }
        SocketChannel server = SocketChannel.open();
        ProxiedConnection link = new ProxiedConnection(number, state, client, server);
        try {
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            server.setOption(StandardSocketOptions.TCP_NODELAY, true);
            state.loop().watch(server, SelectionKey.OP_CONNECT, link::serverReady);
            state.loop().watch(client, SelectionKey.OP_READ, link::clientReady);
            link.toClient.open();
            if (server.connect(upstream)) {
                link.serverConnected();
            }
        } catch (IOException refused) {
            server.close();
            throw refused;
        }
        link.note("opened to port " + upstream.getPort());
        return link;
    }

    private void serverConnected() {
        state.loop().watch(server, SelectionKey.OP_READ, this::serverReady);
        toServer.open();
    }

    boolean isOver() {
        return !client.isOpen() && !server.isOpen();
    }

    /** Whether the client's side still stands. */
    boolean hasClient() {
        return client.isOpen();
    }

    FrameQueue queue(Direction direction) {
        return direction == Direction.TO_SERVER ? toServer : toClient;
    }

    private void note(String text) {
        state.log(new Note(System.nanoTime(), number, text));
    }

    private void clientReady() {
        toClient.drain();
        clientEar.listen();
    }

    private void serverReady() {
        if (!server.isConnectionPending()) {
            toServer.drain();
            serverEar.listen();
            return;
        }
        try {
            if (server.finishConnect()) {
                serverConnected();
            }
        } catch (IOException refused) {
            note("server refused");
            serverEnded();
        }
    }

    private void fromClient(ByteBuffer frame) {
        if (deaf) {
            return;
        }
        boolean first = !clientSpoke;
        clientSpoke = true;
        long now = System.nanoTime();
        Request request = first ? FrameReader.connect(now, number) : FrameReader.request(frame, now, number);
        state.log(request);
        List<Fault> tell = first ? state.faultsToTell(request, FrameReader.sessionAskedFor(frame)) : List.of();
        if (!tell.isEmpty()) {
            tellExpired(request, tell);
            return;
        }
        List<TriggeredFault> atAnswer = new ArrayList<>();
        List<Fault> whenSent = new ArrayList<>();
        List<TriggeredFault> all = state.plan().onRequest(request);
        all.forEach(triggered -> faults.add(triggered.fault())); // those behind a cut end with the connection
        for (TriggeredFault triggered : all) {
            if (triggered.effect() == FaultEffect.CUT_BEFORE) {
                deaf = true;
                toServer.action(() -> cut("cut before " + request, triggered.fault(), request));
                return;
            } else if (triggered.effect() == FaultEffect.TELL_SENT) {
                whenSent.add(triggered.fault());
            } else if (triggered.effect() == FaultEffect.NEW_SESSION) {
                FrameReader.askForNewSession(frame);
                atAnswer.add(triggered);
            } else {
                atAnswer.add(triggered);
            }
        }
        unanswered.add(new PendingRequest(request, atAnswer));
        boolean refused = atAnswer.stream().anyMatch(triggered -> triggered.effect() == FaultEffect.REFUSE);
        toServer.frame(refused ? FrameReader.emptyRequest(frame) : frame, request.op() == WireRecord.Op.PING, null);
        whenSent.forEach(fault -> toServer.action(() -> fault.struck().complete(request)));
    }

    private void fromServer(ByteBuffer frame) {
        if (deaf) {
            return;
        }
        long now = System.nanoTime();
        if (!serverSpoke) {
            serverSpoke = true;
            ConnectResponse connected = FrameReader.connected(frame);
            session = connected.session();
            state.connected(connected);
            state.log(connected.asRecord(now, number));
            deliver(frame, unanswered.poll());
            if (state.hasEnded(session)) {
                serverEnded();
            }
            return;
        }
        AnswerHeader header = FrameReader.answerHeader(frame);
        if (header.xid() == FrameReader.EVENT_XID) {
            state.log(FrameReader.event(frame, now, number));
            toClient.frame(frame, false, state.plan().onEvent());
            return;
        }
        PendingRequest pending = pending(header.xid());
        if (pending != null) {
            for (TriggeredFault triggered : pending.triggered()) {
                if (triggered.effect() == FaultEffect.REFUSE || triggered.effect() == FaultEffect.ANSWER_WITH) {
                    FrameReader.setError(frame, triggered.code());
                }
            }
            header = FrameReader.answerHeader(frame);
            state.log(new Answer(now, number, pending.request(), header.zxid(), header.error()));
            if (header.error() == 0 && RequestMatch.create().matches(pending.request())) {
                state.created(header.zxid(), session);
            }
        }
        deliver(frame, pending);
    }

    private void deliver(ByteBuffer frame, @Nullable PendingRequest pending) {
        if (pending == null) {
            toClient.frame(frame, false, null);
            return;
        }
        Request request = pending.request();
        for (TriggeredFault triggered : pending.triggered()) {
            if (triggered.effect() == FaultEffect.CUT_AFTER && triggered.fault().isArmed()) {
                deaf = true;
                toClient.action(() -> cut("cut instead of the answer to " + request, triggered.fault(), request));
                return;
            }
        }
        toClient.frame(frame, request.op() == WireRecord.Op.PING, state.plan().onAnswer(request));
        if (request.op() != WireRecord.Op.PING) {
            toClient.action(() -> state.log(new Delivery(System.nanoTime(), number, request)));
        }
        for (TriggeredFault triggered : pending.triggered()) {
            toClient.action(() -> triggered.fault().struck().complete(request));
        }
    }

    /** The oldest unanswered request of this number: pings share theirs, and so do some others that are below zero. */
    private @Nullable PendingRequest pending(int xid) {
        for (PendingRequest pending : unanswered) {
            if (pending.request().xid() == xid) {
                unanswered.remove(pending);
                return pending;
            }
        }
        return null;
    }

    /** Ends both sides now; the server's in order, see the class comment. */
    void cut(String why) {
        if (!client.isOpen()) {
            return;
        }
        note(why);
        toClient.clear();
        toServer.clear();
        try {
            client.setOption(StandardSocketOptions.SO_LINGER, 0); // so that close() resets
        } catch (IOException alreadyBroken) {
            note("reset by the client");
        }
        clientDone();
    }

    private void cut(String why, Fault fault, Request request) {
        faults.remove(fault);
        cut(why);
        fault.struck().complete(request);
    }

    private void tellExpired(Request request, List<Fault> tell) {
        note("told that its session is over");
        deaf = true;
        toClient.frame(FrameReader.sessionIsOver(), false, null);
        toClient.action(() -> {
            clientDone();
            tell.forEach(fault -> fault.struck().complete(request));
        });
    }

    private void clientEnded() {
        if (client.isOpen()) {
            note("client ended");
            clientDone();
        }
    }

    /** Closes the client's side: queued frames still reach the server, followed by the end of the stream. */
    private void clientDone() {
        deaf = true;
        abandon();
        Channels.close(client);
        toServer.action(() -> {
            try {
                server.shutdownOutput(); // and wait for the server to close
            } catch (IOException alreadyBroken) {
                serverEnded();
            }
        });
        state.ended(this);
    }

    /** Ends as if the server had ended it, if the server has confirmed this session to the client. */
    void endIfOf(long ended) {
        if (session == ended) {
            serverEnded();
        }
    }

    private void serverEnded() {
        Channels.close(server);
        if (client.isOpen() && !serverDone) {
            serverDone = true;
            toClient.action(() -> {
                note("server ended");
                clientDone();
            });
        }
        state.ended(this);
    }

    /** Closes both sides without any order, when the proxy itself is closed. */
    void close() {
        deaf = true;
        abandon();
        Channels.close(client);
        Channels.close(server);
    }

    /** What the faults of this connection wait for does not come any more. */
    private void abandon() {
        for (Fault fault : faults) {
            fault.struck().completeExceptionally(new IllegalStateException("the connection ended before"));
        }
        faults.clear();
    }
}
