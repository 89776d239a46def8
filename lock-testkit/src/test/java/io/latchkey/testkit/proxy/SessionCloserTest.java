// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.testkit.proxy.FrameReader.ConnectResponse;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of a session in a moment that no server can be held in. */
@Tag("slow")
@Timeout(30)
class SessionCloserTest {
    private static final long SESSION = 7;
    /** A frame as long as a connect. */
    private static final byte[] CONNECT = ByteBuffer.allocate(49).putInt(45).array();

    /**
     * The close of an earlier connection, which the owner's reconnect has dropped, is applied between the connect and
     * the close of this one: the server answers the connect only.
     */
    @Test
    void sessionIsOver_whenTheServerDropsTheCloseSinceAnEarlierOneWasApplied() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            var address = new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
            CompletableFuture<Long> gone = new SessionCloser(
                            List.of(address), new ConnectResponse(4_000, SESSION, ByteBuffer.allocate(16)))
                    .start();
            try (Socket silent = server.accept()) {
                takeRequests(silent);
                silent.getOutputStream().write(connected(SESSION));
                try (Socket next = server.accept()) {
                    takeRequests(next);
                    next.getOutputStream().write(connected(0));
                    assertEquals(SESSION, gone.get(5, TimeUnit.SECONDS));
                }
            }
        }
    }

    /** The server confirms a session that has ended: on a connection from before the end, and on one after it. */
    @Test
    void connectionEnds_whenTheServerHasLeftItInAnEndedSession() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
                FaultProxy proxy = FaultProxy.to("127.0.0.1:" + server.getLocalPort());
                Socket first = client(proxy);
                Socket owner = server.accept()) {
            isConnected(first, owner);
            CompletableFuture<Long> gone = proxy.expireSession();
            try (Socket closer = server.accept()) {
                takeRequests(closer);
                closer.getOutputStream().write(connected(0));
            }
            assertEquals(SESSION, gone.get(5, TimeUnit.SECONDS));
            assertEquals(-1, first.getInputStream().read());
            try (Socket second = client(proxy);
                    Socket back = server.accept()) {
                isConnected(second, back);
                assertEquals(-1, second.getInputStream().read());
            }
        }
    }

    private static Socket client(FaultProxy proxy) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        socket.setSoTimeout(5_000);
        return socket;
    }

    private static void isConnected(Socket client, Socket atServer) throws IOException {
        byte[] answer = connected(SESSION);
        client.getOutputStream().write(CONNECT);
        atServer.getInputStream().readNBytes(CONNECT.length);
        atServer.getOutputStream().write(answer);
        assertArrayEquals(answer, client.getInputStream().readNBytes(answer.length));
    }

    private static void takeRequests(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.readNBytes(in.readInt());
        in.readNBytes(in.readInt());
    }

    private static byte[] connected(long session) {
        ByteBuffer frame = FrameReader.sessionIsOver();
        byte[] bytes = new byte[frame.remaining()];
        frame.putLong(Integer.BYTES * 3, session).get(bytes);
        return bytes;
    }
}
