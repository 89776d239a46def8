// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
@LatchkeyTest(lifetime = LatchkeyTest.Lifetime.METHOD, reconnects = Reconnects.FAST)
@Timeout(30)
class LatchkeyPerMethodTest {
    private static final Set<EmbeddedZooKeeper> SEEN = new HashSet<>();

    private EmbeddedZooKeeper before;

    @BeforeEach
    void see(EmbeddedZooKeeper server) {
        before = server;
    }

    @RepeatedTest(3)
    void everyTestHasItsOwnEmptyServer(EmbeddedZooKeeper server, @ConnectString String connectString, LockClient client)
            throws InterruptedException {
        assertEquals(before, server);
        assertEquals(server.connectString(), connectString);
        assertEquals(List.of(), server.nodesUnder("/"));
        client.mutex("/left-behind").acquire();
        assertNotEquals(List.of(), server.nodesUnder("/"));
        int seen = SEEN.size();
        SEEN.add(server);
        assertEquals(seen + 1, SEEN.size(), "no two tests share one");
    }
}
