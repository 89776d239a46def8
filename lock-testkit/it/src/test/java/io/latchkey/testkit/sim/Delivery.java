// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

/** The delivery of what is on its way between one client and one server, in the order that needs no choice. */
final class Delivery {
    private Delivery() {}

    /** Delivers the next message or request, or connects the client, and returns whether there was anything to do. */
    static boolean next(SimulatedStore client, Server server) {
        if (client.hasMessage()) {
            client.takeMessage();
        } else if (client.seeksConnection()) {
            client.connect(server);
        } else if (client.hasRequest()) {
            client.takeRequest();
        } else {
            return false;
        }
        return true;
    }

    /** The same at a server that has applied all transactions. */
    static boolean nextWithoutLag(SimulatedStore client, Server server) {
        while (server.lags()) {
            server.applyNext();
        }
        return next(client, server);
    }
}
