// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The fractions of the session timeout T that javadoc and pages promise, each right before and right after. Others
 * have the rest: T/6 between heartbeats and a margin before the first one of a connection in {@code HeartbeatTest},
 * T/3 and a margin before a lone write in {@code SessionExpiryBoundTest}, the margin itself in {@code
 * ClientContextTest}, T/60 between looks for a standstill in {@code SystemClockTest}.
 *
 * <p>The 2/3 T after which a silent connection is found broken and the 4/3 T after which a handle gives its session up
 * are ZooKeeper's.
 */
@Timeout(30)
class SessionFractionsTest extends OnSimulatedServer {
    private static final Duration MOMENT = Duration.ofMillis(1);
    private static final Duration LIMIT = Duration.ofSeconds(3);

    @Test
    void deletedNodeIsFoundByTheNextHeartbeat_aSixthLaterAtMost() throws Exception {
        List<Long> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(leader.time().nanos()));
        ZkLease lease = client.acquire("/m");
        BoundedLoop.until(() -> beats.size() > 3, () -> {
            leader.time().runNext();
            client.settle();
        });
        leader.delete(lease.nodePaths().get(0));
        steps(client, SESSION.dividedBy(6).minus(MOMENT));
        assertTrue(lease.isValid());
        steps(client, MOMENT);
        assertEquals(Optional.of(LossCause.NODE_DELETED), lease.lossCause());
    }

    @Test
    void nodeOfALostLeaseIsKept_forATwentiethAtMost() throws Exception {
        Client client = withBlockedStages();
        CompletableFuture<Optional<ZkLease>> asked = client.engine.acquire(
                List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m")).heldAtMost(LIMIT)), new WaitPolicy.Forever());
        client.settle();
        ZkLease lease = granted(asked);
        var unused = lease.lost().thenRun(() -> {});
        steps(client, LIMIT);
        assertEquals(Optional.of(LossCause.HELD_TOO_LONG), lease.lossCause());
        steps(client, SESSION.dividedBy(20).minus(MOMENT));
        assertEquals(1, queueUnder("/m").size());
        steps(client, MOMENT.multipliedBy(2));
        assertEquals(List.of(), queueUnder("/m"));
    }

    @Test
    void clientThatClosesWaitsForStages_forATwentiethAtMost() throws Exception {
        Client client = withBlockedStages();
        ZkLease lease = client.acquire("/m");
        var unused = lease.lost().thenRun(() -> {});
        CompletableFuture<Boolean> closed = client.closes();
        client.settle();
        assertEquals(Optional.of(LossCause.CLIENT_CLOSED), lease.lossCause());
        steps(client, SESSION.dividedBy(20).minus(MOMENT));
        assertFalse(closed.isDone());
        steps(client, MOMENT.multipliedBy(2));
        assertTrue(closed.isDone());
    }

    /** Its stages never run. */
    private Client withBlockedStages() throws Exception {
        return new Client(0, checks -> {}, false, leader.time().view(), stage -> {}, Optional.empty());
    }

    /** Least right before the answer to a heartbeat, most right behind it. */
    @Test
    void holderInReachHasHalfToTwoThirdsLeft_lessAHundredth() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease lease = client.acquire("/m");
        steps(client, SESSION);
        Duration least = SESSION;
        Duration most = Duration.ZERO;
        for (Duration past = Duration.ZERO; past.compareTo(SESSION) < 0; past = past.plus(MOMENT)) {
            steps(client, MOMENT);
            Duration left = lease.remaining();
            least = left.compareTo(least) < 0 ? left : least;
            most = left.compareTo(most) > 0 ? left : most;
        }
        Duration drift = SESSION.dividedBy(100);
        assertBetween(SESSION.dividedBy(2).minus(drift), least);
        assertBetween(SESSION.multipliedBy(2).dividedBy(3).minus(drift), most);
    }

    private static void assertBetween(Duration promised, Duration found) {
        assertTrue(
                found.minus(promised).abs().compareTo(MOMENT.multipliedBy(2)) <= 0,
                () -> "promised " + promised + ", found " + found);
    }
}
