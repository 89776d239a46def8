// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.Flight;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WireTest extends BehindAProxy {
    @Test
    void wire_countsTheTraffic() throws Exception {
        Wire.Mark mark = proxy.mark();
        client.create("/a", CreateMode.EPHEMERAL);
        client.zooKeeper().create("/b-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL, new Stat());
        client.zooKeeper().getChildren("/", false);
        client.zooKeeper().getChildren("/", false, new Stat());
        client.zooKeeper().getData("/a", true, new Stat());
        client.zooKeeper().exists("/none", false);
        client.zooKeeper().multi(List.of(Op.check("/a", -1)));
        client.zooKeeper().multi(List.of(Op.setData("/a", new byte[0], -1), Op.delete("/a", -1)));
        Wire wire = proxy.since(mark);

        assertEquals(8, wire.requests(), wire::toString);
        assertEquals(1, wire.heartbeats(), wire::toString);
        assertEquals(7, wire.requestsButHeartbeats(), wire::toString);
        assertEquals(2, wire.count(RequestMatch.create()), wire::toString);
        assertEquals(1, wire.count(RequestMatch.create().under("/a")), wire::toString);
        assertEquals(2, wire.count(RequestMatch.list()), wire::toString);
        assertEquals(1, wire.count(RequestMatch.delete()), wire::toString);
        assertEquals(1, wire.count(RequestMatch.watching()), wire::toString);
        assertEquals(
                Map.of(
                        WireOp.CREATE, 1L,
                        WireOp.CREATE2, 1L,
                        WireOp.GET_CHILDREN, 1L,
                        WireOp.GET_CHILDREN2, 1L,
                        WireOp.GET_DATA, 1L,
                        WireOp.EXISTS, 1L,
                        WireOp.MULTI, 2L),
                wire.requestsByOp());
        assertEquals(1, wire.watchEvents(), wire::toString);
        assertEquals(EventType.NodeDataChanged, wire.events().get(0).type());
        assertEquals("/a", wire.events().get(0).path());
        assertEquals(7, wire.roundTrips(), wire::toString);
        assertEquals(client.session(), proxy.session().getAsLong());
    }

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

    @Test
    void tellsWhenARequestIsAnswered() throws Exception {
        Fault sent = proxy.sent(RequestMatch.create());
        Fault answered = proxy.answered(RequestMatch.create());
        client.create("/made", CreateMode.EPHEMERAL);
        assertEquals("/made", sent.await(SOON).path());
        assertEquals("/made", answered.await(SOON).path());
    }
}
