// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.proxy.Fault.HeldFrames;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
@Timeout(30)
class WireTest extends BehindAProxy {
    @Test
    void requestsOfOneFlightAreOneRoundTrip() throws Exception {
        Wire.Mark mark = proxy.mark();
        RequestMatch counted = RequestMatch.any().butHeartbeats();
        Fault lastSent = proxy.sent(counted, 2);
        HeldFrames answers = proxy.holdAnswers(counted);
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
        lastSent.await(SOON);
        answers.release();
        List<String> children = listed.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertTrue(children.contains("a"), children::toString);
        Wire wire = proxy.since(mark);
        assertEquals(2, wire.requests(), wire::toString);
        assertEquals(1, wire.roundTrips(), wire::toString);
    }
}
