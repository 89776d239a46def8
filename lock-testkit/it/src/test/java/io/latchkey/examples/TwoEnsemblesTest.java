// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.ZkLockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The example of docs/scale.md: paths over two ensembles, here two servers that know nothing of each other. */
@Tag("slow")
@Timeout(60)
class TwoEnsemblesTest {
    private final List<EmbeddedZooKeeper> servers = List.of(EmbeddedZooKeeper.start(), EmbeddedZooKeeper.start());
    private List<LockClient> ensembles;

    private LockClient ensembleOf(String key) {
        return ensembles.get(Math.floorMod(key.hashCode(), ensembles.size()));
    }

    @BeforeEach
    void connect() throws InterruptedException {
        ensembles = new ArrayList<>();
        for (EmbeddedZooKeeper server : servers) {
            ensembles.add(ZkLockClient.connect(server.connectString()));
        }
    }

    @AfterEach
    void close() {
        ensembles.forEach(LockClient::close);
        servers.forEach(EmbeddedZooKeeper::close);
    }

    private Mutex ofOrder(int order) {
        return ensembleOf("order-" + order).mutex("/orders/" + order);
    }

    private int on(EmbeddedZooKeeper server) {
        return (int) server.nodesUnder("/orders").stream()
                .filter(ServerNode::isEphemeral)
                .count();
    }

    @Test
    void locksOfEachOrderExclude_whenOrdersAreSpreadOverTwoEnsembles() throws InterruptedException {
        List<Lease> held = new ArrayList<>();
        for (int order = 0; order < 20; order++) {
            held.add(ofOrder(order).tryAcquire().orElseThrow());
            assertTrue(ofOrder(order).tryAcquire().isEmpty());
        }
        assertEquals(20, on(servers.get(0)) + on(servers.get(1)));
        servers.forEach(server -> assertNotEquals(0, on(server)));
        held.forEach(Lease::close);
    }

    @Test
    void otherEnsembleGoesOn_whileOneIsAway() throws InterruptedException {
        int here = firstOn(0);
        int there = firstOn(1);
        servers.get(0).stop();
        try (Lease lease = ofOrder(there).acquire()) {
            assertTrue(lease.isValid());
        }
        servers.get(0).restart();
        ofOrder(here).acquire().close();
    }

    private int firstOn(int ensemble) {
        return IntStream.range(0, 20)
                .filter(order -> ensembleOf("order-" + order).equals(ensembles.get(ensemble)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void multiLockOverBothIsRefusedBeforeAnythingIsSent() {
        Mutex here = ensembles.get(0).mutex("/accounts/alice");
        Mutex there = ensembles.get(1).mutex("/accounts/bob");
        for (LockClient client : ensembles) {
            String refusal = assertThrows(IllegalArgumentException.class, () -> client.multiLock(here, there))
                    .getMessage();
            assertTrue(refusal.contains(client.equals(ensembles.get(0)) ? "bob" : "alice"), refusal);
            assertTrue(refusal.contains("one transaction"), refusal);
        }
        assertFalse(servers.stream()
                .anyMatch(server -> !server.nodesUnder("/accounts").isEmpty()));
    }
}
