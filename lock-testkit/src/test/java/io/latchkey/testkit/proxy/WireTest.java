// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.Flight;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WireTest extends BehindAProxy {
    @Test
    void requestsOfOneFlightAreOneRoundTrip() throws Exception {
        Wire.Mark mark = proxy.mark();
        List<String> children = Flight.of(2, proxy, () -> {
            CompletableFuture<List<String>> listed = new CompletableFuture<>();
            client.zooKeeper()
                    .create(
                            "/a",
                            new byte[0],
                            Ids.OPEN_ACL_UNSAFE,
                            CreateMode.EPHEMERAL,
                            (rc, path, context, name, stat) -> {},
                            null);
            client.zooKeeper().getChildren("/", false, (rc, path, context, names) -> listed.complete(names), null);
            return listed;
        });
        assertTrue(children.contains("a"), children::toString);
        Wire wire = proxy.since(mark);
        assertEquals(2, wire.requests(), wire::toString);
        assertEquals(1, wire.roundTrips(), wire::toString);
    }
}
