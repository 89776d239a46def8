// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** The address 127.0.0.1, independent of the machine's preference, and its free ports. */
final class Localhost {
    private static final int LOWEST = 15_000;
    private static final int HIGHEST = 30_000;

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
     * themselves: one of those could be taken while its server is down, which then could not come back.
     */
    static IntStream freePorts(int count) {
        List<ServerSocket> taken = new ArrayList<>();
        try {
            while (taken.size() < count) {
                ServerSocket socket = new ServerSocket();
                socket.setReuseAddress(true);
                try {
                    socket.bind(port(ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST)));
                    taken.add(socket);
                } catch (BindException inUse) {
                    close(socket);
                }
            }
            return IntStream.of(
                    taken.stream().mapToInt(ServerSocket::getLocalPort).toArray());
        } catch (IOException e) {
            throw new UncheckedIOException("no free port", e);
        } finally {
            taken.forEach(Localhost::close);
        }
    }
}
