// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.proxy.FaultProxy;
import java.time.Duration;

/**
 * One client's way to its server, for loads that are weighed: unlike a {@link FaultProxy} it keeps no record of what
 * passes, and understands none of it.
 */
public final class UnrecordedProxy implements AutoCloseable {
    private final Relay relay;

    private UnrecordedProxy(Relay relay) {
        this.relay = relay;
    }

    /** A way to this server, also when that comes back after a stop. */
    public static UnrecordedProxy to(EmbeddedZooKeeper server) {
        return new UnrecordedProxy(Relay.to(Localhost.port(server.port())));
    }

    /** Where the client connects. */
    public String connectString() {
        return "127.0.0.1:" + relay.port();
    }

    /** Ends the connections that are there. */
    public void cut() {
        relay.reset();
    }

    /** From now on what passes, either way, does so that much later. */
    public void delay(Duration eachWay) {
        relay.delay(eachWay);
    }

    /** From now on nothing passes, without notice to either side. */
    public void blackHole() {
        relay.cut();
    }

    /** Ends delay and black hole; held data is forwarded. */
    public void heal() {
        relay.delay(Duration.ZERO);
        relay.mend();
    }

    @Override
    public void close() {
        relay.close();
    }
}
