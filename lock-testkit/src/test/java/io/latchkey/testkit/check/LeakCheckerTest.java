// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.check.LeakChecker.Leftovers;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@LatchkeyTest(sessionMillis = 5000)
@Timeout(60)
class LeakCheckerTest {
    private static ServerNode node(String path, long session) {
        return new ServerNode(path, ByteBuffer.allocate(0), session, 1, 1, 0);
    }

    @Test
    void containersAndTheirDataAreNothing() {
        Verdict verdict = LeakChecker.check(new Leftovers(List.of(node("/locks/m", 0)), List.of()), Map.of());
        assertInstanceOf(Verdict.Obeyed.class, verdict, verdict::toString);
    }

    @Test
    void finding_namesTheClientOfANodeOrWatchThatIsLeft() {
        Verdict verdict = LeakChecker.check(
                new Leftovers(
                        List.of(node("/locks/m/write-1", 7), node("/locks/m/write-2", 8)),
                        List.of(new ServerNode.Watch("/locks/m", ServerNode.Watch.Kind.DATA, 7))),
                Map.of(7L, "C7"));
        assertInstanceOf(Verdict.Broken.class, verdict);
        assertEquals(3, ((Verdict.Broken) verdict).findings().size());
        assertTrue(verdict.toString().contains("/locks/m/write-1 of session 0x7"), verdict::toString);
        assertTrue(verdict.toString().contains("the session of C7"), verdict::toString);
        assertTrue(verdict.toString().contains("none of the clients named"), verdict::toString);
    }

    @Test
    void checker_findsNodesOnAServerAndWaitsForTheirDeletion(
            EmbeddedZooKeeper server, FaultyClient one, FaultyClient two) throws Exception {
        List<FaultyClient> both = List.of(one, two);
        Lease lease = one.client().mutex("/left").acquire();
        CompletableFuture<Lease> waiting = two.client().mutex("/left").acquireAsync();
        Eventually.holds("a watch", Duration.ofSeconds(10), () -> server.watchCount() > 0);
        Verdict busy = LeakChecker.check(server, "/left", both);
        assertInstanceOf(Verdict.Broken.class, busy);
        assertTrue(busy.toString().contains("the session of " + one.name()), busy::toString);
        assertTrue(busy.toString().contains("watch of session"), busy::toString);
        assertInstanceOf(
                Verdict.Broken.class,
                LeakChecker.within(Duration.ofMillis(5), () -> LeakChecker.check(server, "/left", both)));
        waiting.cancel(false);
        lease.close();
        LeakChecker.within(Duration.ofSeconds(10), () -> LeakChecker.check(server, "/left", both))
                .assertObeyed();
    }

    @Test
    void verdictIsUndecided_whenAClientHasNoSession(EmbeddedZooKeeper server, FaultyClient one) throws Exception {
        one.client().mutex("/away").acquire().close();
        one.proxy().refuse();
        server.expireSession(one.proxy().session().orElseThrow());
        Verdict verdict = LeakChecker.check(server, "/away", List.of(one));
        assertInstanceOf(Verdict.Undecided.class, verdict, verdict::toString);
    }

    /** Its session lives, but the server has forgotten its watches until it comes back. */
    @Test
    void verdictIsUndecided_whileAClientIsDisconnected(EmbeddedZooKeeper server, FaultyClient one) throws Exception {
        one.client().mutex("/disconnected").acquire().close();
        one.proxy().refuse();
        one.proxy().cut();
        Eventually.holds(
                "an undecided verdict",
                Duration.ofSeconds(2),
                () -> LeakChecker.check(server, "/disconnected", List.of(one)) instanceof Verdict.Undecided);
        assertTrue(server.hasSession(one.proxy().session().orElseThrow()));
        one.proxy().accept();
        LeakChecker.within(Duration.ofSeconds(10), () -> LeakChecker.check(server, "/disconnected", List.of(one)))
                .assertObeyed();
    }
}
