// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.PlainClient;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A client behind a proxy, another one past it, on a server of the class. */
abstract class BehindAProxy {
    static final Duration SOON = Duration.ofSeconds(10);
    static EmbeddedZooKeeper server;

    FaultProxy proxy;
    PlainClient client;
    PlainClient other;

    @BeforeAll
    static void startServer() {
        server = EmbeddedZooKeeper.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() throws Exception {
        proxy = FaultProxy.to(server);
        client = new PlainClient(proxy.connectString(), Duration.ofSeconds(6));
        other = new PlainClient(server.connectString(), Duration.ofSeconds(6));
        for (String leftOver : other.zooKeeper().getChildren("/", false)) {
            if (!leftOver.equals("zookeeper")) {
                other.zooKeeper().delete("/" + leftOver, -1);
            }
        }
    }

    @AfterEach
    void disconnect() throws Exception {
        proxy.accept();
        proxy.heal();
        client.close();
        other.close();
        proxy.close();
    }
}
