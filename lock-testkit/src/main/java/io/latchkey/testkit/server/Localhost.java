// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The address 127.0.0.1, independent of the machine's preference, and its free ports. */
final class Localhost {
    private static final int LOWEST = 15_000;
    private static final int HIGHEST = 30_000;
    /** As many ports a process has for itself. */
    private static final int BLOCK = 125;
    /** The first port of this process's block, as long as the process lives: no other process takes that block. */
    private static final List<ServerSocket> KEPT = new ArrayList<>();

    /** 0 before the first draw. */
    private static int block;

    private static int drawn;

    private Localhost() {}

    static InetSocketAddress port(int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }

    static void close(Closeable socket) {
        try {
            socket.close();
        } catch (IOException alreadyBroken) {
            return; // it is closed nevertheless
        }
    }

    /**
     * Different free ports for servers that come and go. They lie below those that systems give to connections by
     * themselves, and no other process of the kit draws them: one of those could be taken while its server is down,
     * which then could not come back.
     */
    static synchronized IntStream freePorts(int count) {
        List<ServerSocket> taken = new ArrayList<>();
        try {
            for (int tried = 0; taken.size() < count; tried++) {
                if (block == 0 || tried % BLOCK == BLOCK - 1) { // all of them were tried
                    block = claimed();
                }
                drawn = drawn % (BLOCK - 1) + 1;
                bound(block + drawn).ifPresent(taken::add);
            }
            return IntStream.of(
                    taken.stream().mapToInt(ServerSocket::getLocalPort).toArray());
        } catch (IOException e) {
            throw new UncheckedIOException("no free port", e);
        } finally {
            taken.forEach(Localhost::close);
        }
    }

    private static int claimed() throws IOException {
        int blocks = (HIGHEST - LOWEST) / BLOCK;
        int start = ThreadLocalRandom.current().nextInt(blocks);
        for (int i = 0; i < blocks; i++) {
            int first = LOWEST + (start + i) % blocks * BLOCK;
            Optional<ServerSocket> free = bound(first);
            if (free.isPresent()) {
                KEPT.add(free.get());
                return first;
            }
        }
        return LOWEST + start * BLOCK; // shared: there are more processes than blocks
    }

    private static Optional<ServerSocket> bound(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.bind(port(port));
            return Optional.of(socket);
        } catch (BindException inUse) {
            close(socket);
            return Optional.empty();
        }
    }

    /**
     * Binds a socket to the port of a server that is down. It does not listen, so connections are refused. But the system
     * gives the port to no other socket that asks for any.
     *
     * @return null if that is not possible: then another process may take the port
     */
    static @Nullable SocketChannel reserved(int port) {
        try {
            SocketChannel socket = SocketChannel.open();
            try {
                socket.setOption(StandardSocketOptions.SO_REUSEADDR, true); // beside connections that are closing
                return socket.bind(port(port));
            } catch (IOException inUse) {
                socket.close();
                return null;
            }
        } catch (IOException noSocket) {
            return null;
        }
    }

    static void free(@Nullable SocketChannel reservation) {
        if (reservation != null) {
            try {
                reservation.close();
            } catch (IOException alreadyFree) {
                // Nothing is bound then.
            }
        }
    }
}
