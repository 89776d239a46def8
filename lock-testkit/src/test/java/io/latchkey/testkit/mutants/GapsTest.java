// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.proxy.Direction;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.ZkLockClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests for seeded bugs that no other test caught. */
@Timeout(30)
class GapsTest {
    private static final Duration SESSION = Duration.ofSeconds(20);
    /** The timeout of a session that is to expire. */
    private static final Duration SHORT_SESSION = Slowness.stretched(Duration.ofSeconds(3));

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final LockClient a = client(server.connectString());
    private final LockClient b = client(server.connectString());
    private final LockClient c = client(server.connectString());

    private static LockClient client(String connectString) {
        return client(connectString, SESSION);
    }

    private static LockClient client(String connectString, Duration session) {
        return FaultyClient.Connector.ofLatchkey().connect(connectString, session);
    }

    private static ZooKeeper handle(String connectString) throws IOException {
        return new ZooKeeper(connectString, (int) SESSION.toMillis(), event -> {});
    }

    @AfterEach
    void close() {
        List.of(c, b, a).forEach(LockClient::close);
        server.close();
    }

    @Test
    void requestNodeIsDeleted_whenItsSessionEnds() throws Exception {
        a.mutex("/m").acquire().close();
        Lease onAPathThatIsThere = a.mutex("/m").acquire();
        assertTrue(queue().get(0).isEphemeral());
        onAPathThatIsThere.close();
    }

    @Test
    void holderKeepsTheLock_whenItsNodeIsWritten() throws Exception {
        Lease held = a.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = inLine(b.mutex("/m"), 2);
        write(queue().get(0));
        assertNotGranted(waiting, b.mutex("/m"));
        held.close();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void waiterIsNotGranted_whenAWrittenRequestAheadIsCancelled() throws Exception {
        Lease held = a.mutex("/m").acquire();
        CompletableFuture<Lease> between = inLine(b.mutex("/m"), 2);
        CompletableFuture<Lease> waiting = inLine(c.mutex("/m"), 3);
        write(queue().get(1));
        c.mutex("/m").queue();
        assertTrue(between.cancel(false));
        awaitQueue(2);
        assertNotGranted(waiting, c.mutex("/m"));
        held.close();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void waiterLeavesNoWatch_whenItIsCancelled() throws Exception {
        Lease held = a.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = inLine(b.mutex("/m"), 2);
        assertTrue(waiting.cancel(false));
        awaitQueue(1);
        Eventually.holds("no watch on the holder", LIMIT, () -> server.watches().stream()
                .noneMatch(watch -> watch.path().equals(queue().get(0).path())));
        held.close();
    }

    @Test
    void holderFromBeforeAShrink_isShownAsHolding() throws Exception {
        Lease one = a.semaphore("/s", 2).acquire();
        Lease two = b.semaphore("/s", 2).acquire();
        a.semaphore("/s", 2).resize(1);
        assertTrue(a.semaphore("/s", 2).queue().stream()
                .allMatch(contender -> contender.state() == Contender.State.HOLDING));
        one.close();
        two.close();
    }

    /** A lost connection extends the validity of no lease. */
    @Test
    void leaseIsInvalidBeforeTheNextGrant_whenItsHolderIsCutOff() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                LockClient cutOff = client(proxy.connectString(), SHORT_SESSION)) {
            Lease lease = cutOff.mutex("/m").acquire();
            CompletableFuture<Boolean> stillValid = b.mutex("/m").acquireAsync().thenApply(next -> lease.isValid());
            awaitQueue(2);
            proxy.blackHole(Direction.TO_SERVER);
            Eventually.holds(
                    "most of its time has passed",
                    LIMIT,
                    () -> lease.remaining().compareTo(SHORT_SESSION.dividedBy(6)) < 0);
            proxy.refuse();
            proxy.cut();
            assertEquals(false, stillValid.get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void borrowedHandleIsReturned_afterPendingDeletions() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server)) {
            ZooKeeper handle = handle(proxy.connectString());
            ZkLockClient borrowing = ZkLockClient.using(handle);
            borrowing.mutex("/m").acquire();
            Fault deletion = proxy.cutBefore(RequestMatch.multi().butHeartbeats(), 1);
            borrowing.close();
            assertTrue(deletion.struck().isDone());
            assertEquals(List.of(), queue());
            handle.close();
        }
    }

    @Test
    void waiterIsGranted_whenTheOwnerOfABorrowedHandleRemovesItsWatches() throws Exception {
        ZooKeeper handle = handle(server.connectString());
        try (ZkLockClient borrowing = ZkLockClient.using(handle)) {
            Lease held = a.mutex("/m").acquire();
            CompletableFuture<Lease> waiting = inLine(borrowing.mutex("/m"), 2);
            String first = queue().get(0).path();
            Eventually.holds("a watch on " + first, Duration.ofSeconds(10), () -> server.watches().stream()
                    .anyMatch(watch -> watch.path().equals(first) && watch.session() == handle.getSessionId()));
            handle.removeAllWatches(first, Watcher.WatcherType.Any, false);
            held.close();
            waiting.get(10, TimeUnit.SECONDS).close();
        }
        handle.close();
    }

    @Test
    void resizeKeepsAConcurrentResize() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                LockClient slow = client(proxy.connectString())) {
            a.semaphore("/s", 3).acquire().close();
            HeldFrames answers = proxy.holdAnswers(RequestMatch.getData());
            CompletableFuture<Void> resizing =
                    CompletableFuture.runAsync(() -> slow.semaphore("/s", 3).resize(2));
            answers.firstCaught().get(10, TimeUnit.SECONDS);
            b.semaphore("/s", 3).resize(8);
            answers.release();
            resizing.get(10, TimeUnit.SECONDS);
            assertTrue(server.nodesUnder("/").stream()
                    .anyMatch(node -> node.path().equals("/s") && node.text().equals("latchkey/3 semaphore 3 2 8")));
        }
    }

    /**
     * A holder from before the shrink no longer notifies the chain, so the waiter right behind it watches all holders.
     */
    @Test
    void waiterBehindAHolderFromBeforeAShrink_isGrantedByAnotherRelease() throws Exception {
        Lease large = a.semaphore("/s", 20).permits(12).acquire();
        Lease stays = b.semaphore("/s", 20).permits(8).acquire();
        a.semaphore("/s", 20).resize(10);
        CompletableFuture<Lease> waiting = c.semaphore("/s", 20).acquireAsync();
        awaitRequests("/s", 3);
        for (int trip = 0; trip < 4; trip++) {
            c.semaphore("/s", 20).queue();
        }
        large.close();
        waiting.get(10, TimeUnit.SECONDS).close();
        stays.close();
    }

    @Test
    void notificationOfTheChainIsRepeated_whenItIsLost() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                LockClient cutOff = client(proxy.connectString())) {
            Lease all = a.semaphore("/s", 20).permits(18).acquire();
            CompletableFuture<Lease> leading =
                    cutOff.semaphore("/s", 20).permits(5).acquireAsync();
            awaitRequests("/s", 2);
            CompletableFuture<Lease> behind = b.semaphore("/s", 20).acquireAsync();
            awaitRequests("/s", 3);
            for (int trip = 0; trip < 4; trip++) {
                b.semaphore("/s", 20).queue();
                cutOff.semaphore("/s", 20).queue();
            }
            Fault word = proxy.cutBefore(RequestMatch.multi().butHeartbeats(), 1);
            all.close();
            Lease held = leading.get(10, TimeUnit.SECONDS);
            word.struck().get(10, TimeUnit.SECONDS);
            behind.get(8, TimeUnit.SECONDS).close();
            held.close();
        }
    }

    private void awaitRequests(String path, int count) throws InterruptedException {
        Eventually.holds(
                count + " requests",
                LIMIT,
                () -> server.nodesUnder(path).stream()
                                .filter(ServerNode::isEphemeral)
                                .count()
                        == count);
    }

    /** Returns the requests in order; all requests of a mutex have names of the same form. */
    private List<ServerNode> queue() {
        return server.nodesUnder("/m").stream()
                .filter(node -> node.name().startsWith("write-"))
                .sorted(Comparator.comparingLong(ServerNode::created))
                .toList();
    }

    private void awaitQueue(int length) throws InterruptedException {
        Eventually.holds("a queue of " + length, LIMIT, () -> queue().size() == length);
    }

    /** Returns a request that is in the queue and watches its predecessor and its own node. */
    private CompletableFuture<Lease> inLine(Mutex mutex, int place) throws InterruptedException {
        CompletableFuture<Lease> waiting = mutex.acquireAsync();
        awaitQueue(place);
        settle(mutex); // the predecessor may watch its own node too, so the watches at the server do not show this
        return waiting;
    }

    /** Writes to the node, as an operator with a shell can. */
    private void write(ServerNode node) throws Exception {
        ZooKeeper operator = handle(server.connectString());
        try {
            operator.setData(node.path(), "hello".getBytes(java.nio.charset.StandardCharsets.UTF_8), -1);
        } finally {
            operator.close();
        }
    }

    /**
     * Waits until the client has processed all events: a read returns after them, and after the requests that they
     * cause.
     */
    private static void settle(Mutex mutex) {
        for (int trip = 0; trip < 4; trip++) {
            mutex.queue();
        }
    }

    private static void assertNotGranted(CompletableFuture<Lease> waiting, Mutex mutex) {
        settle(mutex);
        assertFalse(waiting.isDone());
    }
}
