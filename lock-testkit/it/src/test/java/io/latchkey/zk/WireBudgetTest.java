// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a mutex costs on the wire, counted by a proxy (docs/protocol.md, "Wire budgets"). */
@Timeout(60)
class WireBudgetTest extends OnOneServer {
    private final FaultProxy proxy = proxy();
    private final ZkLockClient counted = patient(proxy);
    private final ZkLockClient other = client("other");

    WireBudgetTest() throws InterruptedException {}

    @BeforeEach
    void knowThePath() throws Exception {
        counted.mutex("/m").acquire().close();
        other.mutex("/m").acquire().close();
    }

    @Test
    void waitBehindSeveralAddsThreeRequests_andTheHandOverNone() throws Exception {
        ZkLockClient releasesAgain = client("between");
        releasesAgain.mutex("/m").acquire().close();
        Lease held = other.mutex("/m").acquire();
        CompletableFuture<Lease> between = releasesAgain.mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        Wire.Mark before = proxy.mark();
        CompletableFuture<Lease> waiting = counted.mutex("/m").acquireAsync();
        awaitWatches(2 + 3);
        Wire setUp = proxy.since(before);
        assertEquals(2 + 3, setUp.requestsButHeartbeats(), setUp::toString);

        held.close();
        Lease second = between.get(5, TimeUnit.SECONDS);
        Wire.Mark atRelease = proxy.mark();
        second.close();
        waiting.get(5, TimeUnit.SECONDS);
        Wire handedOver = proxy.since(atRelease);
        assertEquals(0, handedOver.requestsButHeartbeats(), handedOver::toString);
        assertEquals(2, handedOver.watchEvents(), "the pair of one transaction: " + handedOver);
    }

    @Test
    void oneReleaseWakesOneClient() throws Exception {
        Lease held = other.mutex("/m").acquire();
        CompletableFuture<Lease> next = client("next").mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        CompletableFuture<Lease> third = counted.mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 3);
        awaitWatches(2 + 3);
        Wire.Mark before = proxy.mark();
        held.close();
        Lease second = next.get(5, TimeUnit.SECONDS);
        assertEquals(0, proxy.since(before).watchEvents());
        assertFalse(third.isDone());
        second.close();
        third.get(5, TimeUnit.SECONDS).close();
    }

    @Test
    void cancelledPredecessorCostsOneListAndTheWatches() throws Exception {
        Lease held = other.mutex("/m").acquire();
        CompletableFuture<Lease> between = client("between").mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        CompletableFuture<Lease> waiting = counted.mutex("/m").acquireAsync();
        awaitWatches(2 + 3);
        Wire.Mark before = proxy.mark();
        assertTrue(between.cancel(false));
        awaitQueue(other.mutex("/m"), 2);
        awaitWatches(2);
        Wire wire = proxy.since(before);
        assertEquals(2, wire.requestsButHeartbeats(), wire::toString);
        assertEquals(1, wire.count(RequestMatch.list().butHeartbeats()) - 1, "one list, one watch of children");
        held.close();
        waiting.get(5, TimeUnit.SECONDS);
    }

    @Test
    void localWaitersCostAtMostTwoRequests_perHandOver() throws Exception {
        int waiters = 40;
        Lease held = other.mutex("/m").acquire();
        Wire.Mark before = proxy.mark();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            all.add(counted.mutex("/m").acquireAsync().thenAccept(Lease::close));
        }
        awaitQueue(other.mutex("/m"), waiters + 1);
        held.close();
        for (CompletableFuture<Void> done : all) {
            done.get(10, TimeUnit.SECONDS);
        }
        awaitQueue(other.mutex("/m"), 0);
        Wire wire = proxy.since(before);
        assertTrue(wire.requestsButHeartbeats() <= 2 * waiters, wire.requestsByOp() + " in all: " + wire);
    }

    @Test
    void localHandOverNeedsNoResponse() throws Exception {
        Lease held = counted.mutex("/m").acquire();
        CompletableFuture<Lease> neighbour = counted.mutex("/m").acquireAsync();
        awaitQueue(other.mutex("/m"), 2);
        HeldFrames answers = proxy.holdAnswers(RequestMatch.delete());
        CompletableFuture<ReleaseOutcome> release = held.releaseAsync().toCompletableFuture();
        Lease granted = neighbour.get(5, TimeUnit.SECONDS);
        assertFalse(release.isDone());
        answers.close();
        assertEquals(ReleaseOutcome.RELEASED, release.get(5, TimeUnit.SECONDS));
        assertTrue(granted.isValid());
        granted.close();
    }

    @Test
    @Tag("slow")
    void idleHolderSendsOneHeartbeat_forAnyNumberOfLeases() throws Exception {
        FaultProxy own = proxy();
        ZkLockClient holder = patient(own);
        for (int i = 0; i < 50; i++) {
            holder.mutex("/many/" + i).acquire();
        }
        settle(holder.mutex("/many/0")); // the last heartbeat that was for fewer has passed
        Wire.Mark before = own.mark();
        long start = System.nanoTime();
        Eventually.holds("four beats", LONG_SESSION, () -> own.since(before).heartbeats() >= 4);
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        Wire wire = own.since(before);
        assertEquals(wire.heartbeats(), wire.requests(), wire::toString);
        for (WireRecord.Request beat : wire.requests(RequestMatch.heartbeat())) {
            assertEquals(50, beat.parts().size(), wire::toString);
        }
        // They are a sixth of the session apart: six seconds, less what the first of them was late.
        assertTrue(took.compareTo(LONG_SESSION.multipliedBy(5).dividedBy(12)) > 0, "four beats took " + took);
    }

    /** What does not fit one transaction is left to watches, which tell of a deletion as the heartbeat would. */
    @Test
    @Tag("long")
    void holderOfThousands_sendsOneHeartbeatAtATimeAndNoticesDeletedNodes() throws Exception {
        ZkLockClient holder =
                client(builder -> builder.connectString(proxy.connectString()).sessionTimeout(SESSION.multipliedBy(8)));
        Map<Long, Lease> held = new HashMap<>();
        while (held.size() < 1500) { // in parts, so that no heartbeat waits behind all of them
            List<CompletableFuture<Lease>> acquiring = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                acquiring.add(holder.readWriteLock("/many").readLock().acquireAsync());
            }
            for (CompletableFuture<Lease> each : acquiring) {
                Lease lease = each.get(20, TimeUnit.SECONDS);
                held.put(lease.token(), lease);
            }
        }
        Eventually.holds("three heartbeats with two beats between them", Duration.ofSeconds(20), () -> {
            Wire.Mark before = proxy.mark();
            long start = System.nanoTime();
            while (proxy.since(before).heartbeats() < 3) {
                LockSupport.parkNanos(1_000_000);
            }
            boolean alone = proxy.since(before).requestsButHeartbeats() == 0;
            return alone && System.nanoTime() - start > SESSION.multipliedBy(2).toNanos();
        });
        assertTrue(server().watchCount() > 0, "what does not fit one transaction is watched");
        assertAllValid(held.values());

        for (int place : List.of(held.size() - 1, 0)) {
            Lease deleted = held.remove(requestsUnder("/many").get(place).created());
            deleteRequest("/many", place);
            awaitUntil("the loss is known", () -> deleted.state() == LeaseState.LOST);
            assertEquals(
                    LossCause.NODE_DELETED, deleted.lost().toCompletableFuture().get(5, TimeUnit.SECONDS));
        }
        assertAllValid(held.values());
    }

    private static void assertAllValid(Collection<Lease> leases) {
        assertEquals(
                List.of(),
                leases.stream()
                        .filter(lease -> !lease.isValid())
                        .map(lease -> lease + ", "
                                + lease.lost().toCompletableFuture().getNow(null))
                        .toList());
    }

    @Test
    @Tag("slow")
    void clientWithoutLeases_sendsNothing() throws Exception {
        FaultProxy own = proxy();
        behind(own).mutex("/m").acquire().close();
        awaitUntil("the last beat", () -> {
            Wire.Mark mark = own.mark();
            LockSupport.parkNanos(SESSION.toNanos());
            return own.since(mark).requests() == 0;
        });
    }
}
