// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
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
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final LockClient a = client(server.connectString());
    private final LockClient b = client(server.connectString());
    private final LockClient c = client(server.connectString());

    private static LockClient client(String connectString) {
        return FaultyClient.Connector.ofLatchkey().connect(connectString, SESSION);
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
    void waiterIsNotGranted_whenAWrittenRequestAheadIsCancelled() throws Exception {
        Lease held = a.mutex("/m").acquire();
        CompletableFuture<Lease> between = inLine(b.mutex("/m"), 2);
        CompletableFuture<Lease> waiting = inLine(c.mutex("/m"), 3);
        write(queue().get(1));
        c.mutex("/m").queue();
        assertTrue(between.cancel(false));
        awaitRequests("/m", 2);
        assertNotGranted(waiting, c.mutex("/m"));
        held.close();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void waiterLeavesNoWatch_whenItIsCancelled() throws Exception {
        Lease held = a.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = inLine(b.mutex("/m"), 2);
        assertTrue(waiting.cancel(false));
        awaitRequests("/m", 1);
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
            settle(b.semaphore("/s", 20));
            settle(cutOff.semaphore("/s", 20));
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

    /** Returns a request that is in the queue and watches its predecessor and its own node. */
    private CompletableFuture<Lease> inLine(Mutex mutex, int place) throws InterruptedException {
        CompletableFuture<Lease> waiting = mutex.acquireAsync();
        awaitRequests("/m", place);
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
    private static void settle(Acquirable lock) {
        for (int trip = 0; trip < 4; trip++) {
            lock.queue();
        }
    }

    private static void assertNotGranted(CompletableFuture<Lease> waiting, Mutex mutex) {
        settle(mutex);
        assertFalse(waiting.isDone());
    }
}
