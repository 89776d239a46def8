// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import org.apache.zookeeper.client.ConnectStringParser;

/**
 * Servers that the kit has not started: Curator's {@code TestingServer} and {@code TestingCluster}, a container, an
 * ensemble of the build. The kit's clients, fault proxies, contracts and schedules run against them.
 *
 * <pre>{@code
 * TestingServer curator = new TestingServer();
 * ZooKeeperFixture servers = ExternalServers.at(curator.getConnectString())
 *         .controlledBy(server -> curator.stop(), server -> curator.restart());
 * }</pre>
 *
 * <p>They are asked over the network, by the commands {@code srvr} and {@code dump}; Curator's servers allow both. A
 * session ends by time, or through the proxy of its client. So {@link io.latchkey.testkit.FaultyClient#expire} works in
 * each order; but with {@link io.latchkey.testkit.Reconnects#FAST}, {@code CLIENT_FIRST} and {@code PARTITION} need
 * servers of the kit's own, which can end any session.
 */
public final class ExternalServers extends AskedServers {
    private static final Control MISSING = server -> {
        throw new UnsupportedOperationException("it is not known how these servers are stopped: see controlledBy");
    };

    private final Control stopping;
    private final Control starting;
    private final AutoCloseable owned;

    private ExternalServers(List<InetSocketAddress> servers, Control stopping, Control starting, AutoCloseable owned) {
        super(servers);
        this.stopping = Objects.requireNonNull(stopping, "stopping");
        this.starting = Objects.requireNonNull(starting, "starting");
        this.owned = Objects.requireNonNull(owned, "owned");
    }

    /**
     * Servers that run.
     *
     * @param connectString {@code host:port[,host:port...]}; a chroot is left out. The servers are numbered from 0 in
     *     this order
     * @return a fixture that can neither stop nor start them, and whose {@link #close} leaves them as they are
     * @throws IllegalArgumentException if it is not a connect string
     */
    public static ExternalServers at(String connectString) {
        List<InetSocketAddress> servers = new ConnectStringParser(connectString).getServerAddresses();
        return new ExternalServers(servers, MISSING, MISSING, () -> {});
    }

    /** A step with one of the servers, as the test's own code does it. */
    @FunctionalInterface
    public interface Control {
        /**
         * Does it, and returns when it is done.
         *
         * @param server the server's number in the connect string
         * @throws Exception if it fails; the test sees it as an {@link IllegalStateException}
         */
        void apply(int server) throws Exception;
    }

    /**
     * {@return the same servers, which schedules of faults can stop and start again}
     *
     * @param stopping stops a server
     * @param starting starts a server that was stopped, on the same port and with its data
     */
    public ExternalServers controlledBy(Control stopping, Control starting) {
        return new ExternalServers(addresses(), stopping, starting, owned);
    }

    /**
     * {@return the same servers, which end with this fixture}
     *
     * @param servers what {@link #close} closes
     */
    public ExternalServers closing(AutoCloseable servers) {
        return new ExternalServers(addresses(), stopping, starting, servers);
    }

    @Override
    public void stop(int server) {
        run(() -> stopping.apply(Objects.checkIndex(server, size())));
    }

    @Override
    public void restart(int server) {
        run(() -> starting.apply(Objects.checkIndex(server, size())));
    }

    /** Closes only the resource that was given to {@code closing}; the servers keep running. */
    @Override
    public void close() {
        run(owned::close);
    }

    private interface Step {
        void run() throws Exception;
    }

    private void run(Step step) {
        try {
            step.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted in a step with " + connectString(), e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("a step with " + connectString() + " failed", e);
        }
    }
}
