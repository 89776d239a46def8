// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.PlainClient;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("once")
@Timeout(30)
class EmbeddedZooKeeperTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void heldExpiryLetsSilentSessionsLive() throws Exception {
        server.holdExpiry();
        try (FaultProxy proxy = FaultProxy.to(server);
                PlainClient client = new PlainClient(proxy.connectString(), Duration.ofMillis(500))) {
            long session = client.session();
            proxy.blackHole();
            assertThrows(
                    AssertionError.class,
                    () -> Eventually.holds("expiry", Duration.ofMillis(1500), () -> !server.hasSession(session)));
            server.resumeExpiry();
            Eventually.holds("expiry", SOON, () -> !server.hasSession(session));
            proxy.heal();
        }
    }

    /** Another test process would take the port, and the server could not come back. */
    @Test
    void portIsReservedWhileTheServerIsStopped_andFreeOnceItIsClosed() throws Exception {
        server.kill();
        assertThrows(BindException.class, this::listen);
        assertThrows(ConnectException.class, this::connect);
        server.restart();
        connect();
        server.stop();
        assertThrows(BindException.class, this::listen);
        server.close();
        Eventually.holds("the port is free", SOON, () -> {
            try {
                listen();
                return true;
            } catch (IOException notYet) {
                return false; // connections of the test are closing
            }
        });
    }

    /** Takes the port as the system gives it to a socket that asks for any: only if no other is bound to it. */
    private void listen() throws IOException {
        try (ServerSocket other = new ServerSocket()) {
            other.setReuseAddress(false);
            other.bind(Localhost.port(server.port()));
        }
    }

    private void connect() throws IOException {
        try (Socket socket = new Socket()) {
            socket.setOption(StandardSocketOptions.SO_LINGER, 0); // leaves nothing of the connection
            socket.connect(Localhost.port(server.port()));
        }
    }

    @Test
    void leavesNoFiles() throws Exception {
        Path folder;
        try (EmbeddedZooKeeper another = EmbeddedZooKeeper.start()) {
            folder = another.folder();
            assertTrue(Files.isDirectory(folder));
        }
        assertFalse(Files.exists(folder));
    }
}
