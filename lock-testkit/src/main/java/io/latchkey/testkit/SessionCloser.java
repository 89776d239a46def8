package io.latchkey.testkit;

import io.latchkey.testkit.FrameReader.Connected;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Ends somebody else's session: connects with its id and password and closes it in order. It speaks the protocol itself, four frames
 * long, because ZooKeeper's client returns from its {@code close()} 100 ms after the server has answered.
 */
final class SessionCloser {
    private static final int ANSWERS_WITHIN_MILLIS = 10_000;
    private static final int CLOSE_SESSION = -11;

    private final List<InetSocketAddress> servers;
    private final Connected session;

    SessionCloser(List<InetSocketAddress> servers, Connected session) {
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
        try (Socket socket = new Socket()) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(ANSWERS_WITHIN_MILLIS);
            socket.connect(server, ANSWERS_WITHIN_MILLIS);
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            DataInputStream in = new DataInputStream(socket.getInputStream());
            out.write(connectRequest());
            if (FrameReader.connected(frame(in)).session() == 0) {
                return; // it is over already
            }
            int xid = 1;
            out.write(ByteBuffer.allocate(12)
                    .putInt(8)
                    .putInt(xid)
                    .putInt(CLOSE_SESSION)
                    .array());
            while (FrameReader.answerHeader(frame(in)).xid() != xid) {
                // a watch event; another answer cannot come
            }
        }
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
