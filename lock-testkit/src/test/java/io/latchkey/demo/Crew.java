// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.testkit.FaultyClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Lock clients, each with a session of its own, which can be ended under it. */
final class Crew implements AutoCloseable {
    private final List<FaultyClient> clients = new ArrayList<>();

    /** Connects that many clients; their locks are below the root. */
    static Crew connect(int size, Servers servers, String root, Duration sessionTimeout) {
        Crew crew = new Crew();
        try {
            while (crew.clients.size() < size) {
                crew.clients.add(
                        FaultyClient.connect(servers.fixture(), sessionTimeout, settings -> settings.basePath(root)));
            }
            return crew;
        } catch (RuntimeException failed) {
            crew.close();
            throw failed;
        }
    }

    List<FaultyClient> clients() {
        return List.copyOf(clients);
    }

    /** Closes all at once: one whose session has just been ended may take as long as a session timeout. */
    @Override
    public void close() {
        clients.parallelStream().forEach(FaultyClient::close);
    }
}
