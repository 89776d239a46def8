// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Servers whose state this process reads over the network: by ZooKeeper's four-letter commands {@code srvr} and
 * {@code dump}.
 */
abstract class AskedServers implements ZooKeeperFixture {
    private static final int ANSWERS_WITHIN_MILLIS = 1000;
    private static final List<String> SERVES =
            List.of("Mode: standalone", "Mode: leader", "Mode: follower", "Mode: observer");

    private final List<InetSocketAddress> addresses;

    AskedServers(List<InetSocketAddress> addresses) {
        this.addresses = List.copyOf(addresses);
    }

    final List<InetSocketAddress> addresses() {
        return addresses;
    }

    @Override
    public int size() {
        return addresses.size();
    }

    @Override
    public String connectString() {
        return IntStream.range(0, size()).mapToObj(this::connectString).collect(Collectors.joining(","));
    }

    /**
     * {@return where clients of one server connect: {@code host:port}}
     *
     * @param server its number
     */
    public String connectString(int server) {
        InetSocketAddress address = addresses.get(Objects.checkIndex(server, size()));
        return address.getHostString() + ":" + address.getPort();
    }

    /** {@inheritDoc} The server itself is asked. A paused one gives no answer, which takes a second to find out. */
    @Override
    public boolean isServing(int server) {
        String state = ask(server, "srvr");
        return SERVES.stream().anyMatch(state::contains);
    }

    /**
     * {@return the number of the server that says it leads; empty during an election, or while the leader is paused and
     * there is no other}
     */
    @Override
    public OptionalInt leader() {
        return IntStream.range(0, size())
                .filter(i -> ask(i, "srvr").matches("(?s).*Mode: (leader|standalone).*"))
                .findFirst();
    }

    /**
     * {@inheritDoc} Asks the leader; while none answers, the session counts as there.
     *
     * @throws IllegalStateException if the leader refuses to tell: its setting {@code 4lw.commands.whitelist} has to
     *     contain {@code dump}
     */
    @Override
    public boolean hasSession(long sessionId) {
        OptionalInt leads = leader();
        String dump = leads.isEmpty() ? "" : ask(leads.getAsInt(), "dump");
        if (dump.contains("not in the whitelist")) {
            throw new IllegalStateException("the server's setting 4lw.commands.whitelist has to contain dump");
        }
        return !dump.contains("SessionTracker dump")
                || dump.contains("0x" + Long.toHexString(sessionId).toLowerCase(Locale.ROOT));
    }

    /**
     * Not from here: a session is ended through its proxy,
     * {@link io.latchkey.testkit.proxy.FaultProxy#expireSession()}.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public void expireSession(long sessionId) {
        throw new UnsupportedOperationException("these servers end sessions by time, or through FaultProxy");
    }

    @Override
    public boolean canExpireSessions() {
        return false;
    }

    /** The answer to a four-letter command; empty while the server is paused, starts, or does not run. */
    final String ask(int server, String command) {
        InetSocketAddress address = addresses.get(Objects.checkIndex(server, size()));
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(ANSWERS_WITHIN_MILLIS);
            socket.connect(new InetSocketAddress(address.getHostString(), address.getPort()), ANSWERS_WITHIN_MILLIS);
            socket.getOutputStream().write(command.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException down) {
            return "";
        }
    }
}
