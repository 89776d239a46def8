// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.FrameReader.ConnectResponse;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Ends the session of another client: connects with its id and password and closes it. It speaks the protocol itself,
 * four frames long, because ZooKeeper's client returns from its {@code close()} 100 ms after the server has answered.
 *
 * <p>The server moves the session from the owner's connection to this one and closes the former. An owner that
 * reconnects at once moves it back, possibly before the close has been read. So the close is sent together with the
 * connect, and both are repeated if the session was moved back.
 */
final class SessionCloser {
    private static final int ANSWERS_WITHIN_MILLIS = 10_000;
    /** A slower server has read the close; a longer time only makes a rare repetition late. */
    private static final int CLOSED_WITHIN_MILLIS = 1_000;

    private static final int CLOSE_SESSION = -11;
    private static final int MOST_ROUNDS = 100;

    private final List<InetSocketAddress> servers;
    private final ConnectResponse session;

    SessionCloser(List<InetSocketAddress> servers, ConnectResponse session) {
        this.servers = servers;
        this.session = session;
    }

    /** Completes with the session's id when a server has answered that it is gone, on a thread of its own. */
    CompletableFuture<Long> start() {
        CompletableFuture<Long> gone = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        closeAnywhere();
                        gone.complete(session.session());
                    } catch (IOException | RuntimeException e) {
                        gone.completeExceptionally(e);
                    }
                },
                "latchkey-expire-0x" + Long.toHexString(session.session()));
        thread.setDaemon(true);
        thread.start();
        return gone;
    }

    /** Tries one server after another: some may be stopped. */
    private void closeAnywhere() throws IOException {
        IOException failure = new IOException("no server to ask");
        for (InetSocketAddress server : servers) {
            try {
                closeAt(server);
                return;
            } catch (IOException e) {
                e.addSuppressed(failure);
                failure = e;
            }
        }
        throw failure;
    }

    private void closeAt(InetSocketAddress server) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ANSWERS_WITHIN_MILLIS);
        for (int round = 0; round < MOST_ROUNDS && System.nanoTime() - end < 0; round++) {
            if (isClosedAt(server)) {
                return;
            }
        }
        throw new IOException("session 0x" + Long.toHexString(session.session()) + " was always taken back, or "
                + server + " does not serve");
    }

    /**
     * One connection. False if it has to be repeated, as when the session's owner took it back, maybe before the
     * connect was answered.
     */
    private boolean isClosedAt(InetSocketAddress server) throws IOException {
        int xid = 1;
        try (Socket socket = new Socket()) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(ANSWERS_WITHIN_MILLIS);
            socket.connect(server, ANSWERS_WITHIN_MILLIS);
            socket.getOutputStream().write(connectAndClose(xid));
            return isOver(socket, xid);
        }
    }

    private static boolean isOver(Socket socket, int xid) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        try {
            if (FrameReader.connected(frame(in)).session() == 0) {
                return true; // already
            }
            socket.setSoTimeout(CLOSED_WITHIN_MILLIS);
            return isClosed(in, xid);
        } catch (EOFException | SocketException dropped) {
            return false;
        }
    }

    /**
     * False if the server is silent: it drops, without an answer, a request that it takes up when the session has just
     * ended, as by the close of a connection that was dropped before.
     */
    private static boolean isClosed(DataInputStream in, int xid) throws IOException {
        try {
            while (FrameReader.answerHeader(frame(in)).xid() != xid) {
                // a watch event; another answer cannot come
            }
            return true;
        } catch (SocketTimeoutException silent) {
            return false;
        }
    }

    private byte[] connectAndClose(int xid) {
        byte[] connect = connectRequest();
        return ByteBuffer.allocate(connect.length + 12)
                .put(connect)
                .putInt(8)
                .putInt(xid)
                .putInt(CLOSE_SESSION)
                .array();
    }

    private byte[] connectRequest() {
        ByteBuffer password = session.password().duplicate();
        int length = 4 + 8 + 4 + 8 + 4 + password.remaining() + 1;
        int protocol = 0;
        long lastZxidSeen = 0;
        byte readOnly = 0;
        return ByteBuffer.allocate(4 + length)
                .putInt(length)
                .putInt(protocol)
                .putLong(lastZxidSeen)
                .putInt(session.timeoutMillis())
                .putLong(session.session())
                .putInt(password.remaining())
                .put(password)
                .put(readOnly)
                .array();
    }

    private static ByteBuffer frame(DataInputStream in) throws IOException {
        int length = in.readInt();
        return ByteBuffer.allocate(4 + length)
                .putInt(length)
                .put(in.readNBytes(length))
                .rewind();
    }
}
