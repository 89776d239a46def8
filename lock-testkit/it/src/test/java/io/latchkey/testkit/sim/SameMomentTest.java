// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two things that happen to a client in one moment: the second one before a task of the first. */
@Tag("slow")
@Timeout(30)
class SameMomentTest extends OnSimulatedServer {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final WaitPolicy FOREVER = new WaitPolicy.Forever();
    private static final LockTarget MUTEX = new LockTarget(Recipe.MUTEX, new LockPath("/m"));
    private static final LockTarget READER = new LockTarget(Recipe.READ, new LockPath("/m"));
    private static final LockTarget WRITER = new LockTarget(Recipe.WRITE, new LockPath("/m"));
    /** More messages than a free lock's request takes. */
    private static final int MOST_STEPS = 16;

    private final Client client = new Client(0, checks -> {});
    private final Client other = new Client(1, checks -> {});

    SameMomentTest() throws Exception {}

    private static CompletableFuture<Optional<ZkLease>> asks(LocalHandOff turns, LockTarget target) {
        return turns.acquire(target, FOREVER);
    }

    private static ZkLease take(Client of, LocalHandOff turns, LockTarget target) throws Exception {
        CompletableFuture<Optional<ZkLease>> asked = asks(turns, target);
        of.settle();
        return granted(asked);
    }

    /** The client learns of the end behind the next message, before it has carried out what that message leads to. */
    private void endSessionBehindTheNextMessage(Client of) {
        SimulatedStore store = of.store();
        of.engine.context().execute(() -> {
            var unused = of.step(server);
            store.giveUpSession();
        });
        leader.closeSession(store.session());
    }

    /** The lost lease is no holder of the client, whose requests would keep their places behind it. */
    @Test
    void waiterLeavesTheQueue_whenALeaseOfItsClientWasLostAsItCame() throws Exception {
        LocalHandOff turns = new LocalHandOff(client.engine, 10, HOUR);
        for (int before = 0; before < MOST_STEPS; before++) {
            CompletableFuture<Optional<ZkLease>> asked = asks(turns, MUTEX);
            steps(before, client, server);
            endSessionBehindTheNextMessage(client);
            client.settle();
            granted(asked).abandon();
            client.settle();
            ZkLease held = other.acquire("/m");
            CompletableFuture<Optional<ZkLease>> waiting = asks(turns, MUTEX);
            client.settle();
            assertEquals(2, queueUnder("/m").size());
            assertTrue(waiting.cancel(false));
            client.settle();
            assertEquals(held.nodePaths(), queueUnder("/m"));
            held.abandon();
            other.settle();
        }
    }

    /** Otherwise the first reader that the present node has no turn for would wait for a round trip. */
    @Test
    void nextNodeOfReadersStays_whenAFormerOneIsDeleted() throws Exception {
        LocalHandOff turns = new LocalHandOff(client.engine, 2, HOUR);
        List<ZkLease> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            readers.add(take(client, turns, READER));
        }
        assertEquals(3, queueUnder("/m").size(), "two that hold, and the next one");
        readers.subList(0, 2).forEach(ZkLease::abandon);
        client.settle();
        assertEquals(2, queueUnder("/m").size());
        assertTrue(asks(turns, READER).isDone(), "it waits");
        readers.subList(2, 4).forEach(ZkLease::abandon);
    }

    /** Another thread may close the client while one releases. A reader's release first lets others join. */
    @Test
    void releaseIsNoLoss_whenTheClientClosesBehindIt() throws Exception {
        for (LockTarget target : List.of(MUTEX, WRITER, READER)) {
            Client closing = new Client(2, checks -> {});
            ZkLease lease = take(closing, new LocalHandOff(closing.engine, 10, HOUR), target);
            List<CompletableFuture<ReleaseOutcome>> released = new ArrayList<>();
            closing.engine.context().execute(() -> {
                released.add(lease.releaseAsync().toCompletableFuture());
                closing.engine.close();
            });
            closing.settle();
            assertEquals(ReleaseOutcome.PENDING, released.get(0).getNow(null));
            leader.delete("/m");
        }
    }

    /** Others may hold from then on, whatever the lease was when its release began. */
    @Test
    void releaseOfTheLastReaderIsALoss_whenTheNodeIsFoundGoneBehindIt() throws Exception {
        Client reading = new Client(2, checks -> {});
        ZkLease lease = take(reading, new LocalHandOff(reading.engine, 10, HOUR), READER);
        List<CompletableFuture<ReleaseOutcome>> released = new ArrayList<>();
        reading.engine.context().execute(() -> {
            released.add(lease.releaseAsync().toCompletableFuture());
            var unused = lease.nodeGone(0);
        });
        reading.settle();
        assertEquals(ReleaseOutcome.LOST, released.get(0).getNow(null));
    }

    /** Each lease is valid when its release begins, and the close is carried out before the release is. */
    @Test
    void releaseIsNoLoss_whenTheClientClosesAheadOfIt() throws Exception {
        for (LockTarget target : List.of(MUTEX, WRITER, READER)) {
            Client closing = new Client(2, checks -> {});
            List<ZkLease> leases = List.of(
                    closing.acquire(target.recipe(), "/alone"),
                    take(closing, new LocalHandOff(closing.engine, 10, HOUR), target));
            List<CompletableFuture<ReleaseOutcome>> released = new ArrayList<>();
            closing.engine.context().execute(() -> {
                closing.engine.close();
                leases.forEach(lease -> released.add(lease.releaseAsync().toCompletableFuture()));
            });
            closing.settle();
            for (CompletableFuture<ReleaseOutcome> each : released) {
                assertEquals(ReleaseOutcome.PENDING, each.getNow(null));
            }
            leader.delete("/m");
            leader.delete("/alone");
        }
    }

    @Test
    void holderHearsOfTheFirstToAsk_alsoByTheLeaseOfADowngrade() throws Exception {
        ZkLease write = client.acquire(Recipe.WRITE, "/m");
        String node = write.nodePaths().get(0);
        CompletableFuture<ReleaseRequest> heard = write.releaseRequested().toCompletableFuture();
        client.settle();
        String revocation = queueUnder("/m").stream()
                .filter(each -> !each.equals(node))
                .findAny()
                .orElseThrow();
        OwnerData first = new OwnerData("elsewhere", 7, "the first to ask");
        leader.commit(List.of(new Tree.Effect.DataSet(revocation, first.data())), 0);
        client.settle();
        assertEquals(first.label(), heard.getNow(null).by().label());
        // The client asks its own holders as well.
        client.engine.context().execute(() -> client.engine.close(HOUR));
        CompletableFuture<ZkLease> downgraded = write.downgrade(Recipe.READ);
        client.settle();
        ZkLease read = downgraded.get(5, TimeUnit.SECONDS);
        assertEquals(
                first.label(),
                read.releaseRequested().toCompletableFuture().getNow(null).by().label());
        read.abandon();
        client.settle();
    }

    /** Each owner of a node may listen. */
    @Test
    void nextTurnListensWithoutARequest_whenTheOneBeforeItHasListened() throws Exception {
        LocalHandOff turns = new LocalHandOff(client.engine, 10, HOUR);
        List<CompletableFuture<Optional<ZkLease>>> asked = List.of(asks(turns, MUTEX), asks(turns, MUTEX));
        client.settle();
        ZkLease first = granted(asked.get(0));
        var unused = first.releaseRequested();
        client.settle();
        first.abandon();
        client.settle();
        ZkLease second = granted(asked.get(1));
        assertEquals(first.nodePaths(), second.nodePaths());
        long before = client.store().requests;
        var unused2 = second.releaseRequested();
        client.settle();
        assertEquals(before, client.store().requests);
    }

    /** Its check is repeated behind the barrier of the next connection, unless it has ended by then. */
    @Test
    void noHeartbeatIsSentForAMultiLock_whenItIsGivenUpAfterTheResponseToItsCheckWasLost() throws Exception {
        List<Integer> checks = new ArrayList<>();
        Client waiter = new Client(2, nodes -> checks.add(nodes.size()));
        int without = heartbeatsOfAReconnect(waiter, checks);
        ZkLease held = other.acquire("/b");
        CompletableFuture<Optional<ZkLease>> asked = waiter.asksAndSettles(Recipe.MUTEX, "/a", "/b");
        held.abandon();
        other.settle();
        checks.clear();
        BoundedLoop.until(() -> !checks.isEmpty(), () -> assertTrue(waiter.step(server)));
        assertEquals(List.of(2), checks);
        waiter.loseTheAnswer();
        assertTrue(waiter.step(server), "it learns of the loss");
        assertTrue(asked.cancel(false));
        SimulatedTime time = leader.time();
        long end = time.nanos() + SESSION.toNanos();
        BoundedLoop.until(() -> time.nextAt() > end, time::runNext);
        waiter.settle();
        assertEquals(without, heartbeatsOfAReconnect(waiter, checks));
    }

    private int heartbeatsOfAReconnect(Client of, List<Integer> checks) {
        checks.clear();
        of.cut();
        of.settle();
        steps(of, SESSION);
        return checks.size();
    }
}
