// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests behind an unusually long queue of forged requests. */
@Tag("once")
@Tag("long")
@Timeout(120)
class LongQueueTest extends OnOneServer {
    /** A list of them is some 700,000 bytes long: one fits a packet, two together do not. */
    private static final int FORGED = 20_000;
    /** Not even one list of these does. */
    private static final int TOO_MANY = 30_000;

    private static final Duration PATIENCE = Duration.ofSeconds(1);
    /** For a busy machine that reads long lists. */
    private static final Duration ALLOWANCE = Duration.ofSeconds(1);

    /** A client that requests one lock at a time. */
    private final FaultProxy proxy = proxy();

    private final ZkLockClient locks = patient(proxy);
    /** A client that requests two locks. It may lose its connection. */
    private final FaultProxy proxyOfSeveral = fastProxy();

    private final ZkLockClient several = patient(proxyOfSeveral);

    LongQueueTest() throws InterruptedException {}

    private static Stream<String> writers(int count) {
        return ForgedRequests.writers(0, count);
    }

    private static Stream<String> permits(int each) {
        return ForgedRequests.leases(each, 0, FORGED);
    }

    private static List<Acquirable> oneByOne(ZkLockClient client) {
        return List.of(
                client.mutex("/m"),
                client.readWriteLock("/rw").readLock(),
                client.readWriteLock("/rw").writeLock(),
                client.semaphore("/small", 2),
                client.semaphore("/large", 20));
    }

    private static Acquirable both(ZkLockClient client) {
        return client.multiLock(client.mutex("/m"), client.readWriteLock("/rw").writeLock());
    }

    /** Each forged request excludes all others, so a request behind them is first only when all of them are deleted. */
    @Test
    void requestBehind20000_waitsForItsPredecessor() throws Exception {
        for (Acquirable lock : oneByOne(locks)) {
            lock.acquire().close();
        }
        // Its lists were short the last time, so that it reads them together.
        both(several).acquire().close();
        both(several).acquire().close();
        Lease elsewhere = several.mutex("/elsewhere").acquire();
        CompletableFuture<LossCause> lost = elsewhere.lost().toCompletableFuture();
        Map<String, ZooKeeper> forgers =
                Map.of("/m", handle(), "/rw", handle(), "/small", handle(), "/large", handle());
        forge(forgers, "/m", writers(FORGED));
        forge(forgers, "/rw", writers(FORGED));
        forge(forgers, "/small", permits(2));
        forge(forgers, "/large", permits(20));

        Wire.Mark asking = proxyOfSeveral.mark();
        CompletableFuture<Lease> both = both(several).acquireAsync();
        awaitLengths(Map.of("/m", 1, "/rw", 1)); // so that a request at one of them is behind it
        List<CompletableFuture<Lease>> one = new ArrayList<>();
        for (Acquirable lock : oneByOne(locks)) {
            one.add(lock.acquireAsync());
        }
        Map<String, Integer> real = Map.of("/m", 2, "/rw", 3, "/small", 1, "/large", 1);
        awaitLengths(real);
        assertNoneIsGranted(both, one);
        RequestMatch together = RequestMatch.list().under("/m").under("/rw");
        assertEquals(1, proxyOfSeveral.since(asking).count(together), "it broke its connection with that, once");
        ZkLockClient trying = client("trying");
        for (Acquirable lock : Stream.concat(oneByOne(trying).stream(), Stream.of(both(trying)))
                .toList()) {
            assertTrue(lock.tryAcquire().isEmpty());
            Stopwatch watch = Stopwatch.start();
            assertTrue(lock.tryAcquire(PATIENCE).isEmpty());
            Duration took = Duration.ofMillis(watch.stop());
            assertTrue(took.compareTo(PATIENCE.plus(ALLOWANCE)) < 0, "it took " + took);
        }
        awaitLengths(real);

        Wire.Mark before = proxy.mark();
        Wire.Mark beforeOfSeveral = proxyOfSeveral.mark();
        for (String path : List.of("/m", "/small")) {
            ForgedRequests.delete(forgers.get(path), path, of(path).limit(FORGED - 1));
        }
        assertNoneIsGranted(both, one);
        RequestMatch lists =
                RequestMatch.list().under("/m").or(RequestMatch.list().under("/small"));
        assertEquals(List.of(), proxy.since(before).requests(lists), "the end of other requests wakes no waiter");
        assertEquals(List.of(), proxyOfSeveral.since(beforeOfSeveral).requests(lists));

        for (String path : List.of("/m", "/small")) {
            ForgedRequests.delete(forgers.get(path), path, of(path).skip(FORGED - 1));
        }
        soon(one.remove(3)).close();
        assertNoneIsGranted(both, one);
        forgers.get("/rw").close();
        forgers.get("/large").close();
        List<CompletableFuture<Void>> served = Stream.concat(Stream.of(both), one.stream())
                .map(next -> next.thenAccept(lease -> {
                    assertTrue(lease.isValid());
                    lease.close();
                }))
                .toList();
        CompletableFuture.allOf(served.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
        assertTrue(elsewhere.isValid());
        assertFalse(lost.isDone());
        elsewhere.close();
        awaitNothingLeft("/m", "/rw", "/small", "/large");
    }

    private static Stream<String> of(String path) {
        return path.equals("/small") ? permits(2) : writers(FORGED);
    }

    private static void forge(Map<String, ZooKeeper> forgers, String path, Stream<String> names) throws Exception {
        ForgedRequests.create(forgers.get(path), CreateMode.EPHEMERAL, path, names);
    }

    private void awaitLengths(Map<String, Integer> real) throws InterruptedException {
        for (Map.Entry<String, Integer> path : real.entrySet()) {
            awaitUntil(
                    "no other request at " + path,
                    () -> server().nodesUnder(path.getKey()).size() == FORGED + path.getValue());
        }
    }

    /**
     * Each has been created; its lists may still be under way. The server serves a session in order, so this comes
     * after.
     */
    private void assertNoneIsGranted(CompletableFuture<Lease> both, List<CompletableFuture<Lease>> one)
            throws Exception {
        for (int trip = 0; trip < 4; trip++) {
            several.mutex("/behind").acquire().close();
            locks.mutex("/behind").acquire().close();
        }
        assertFalse(both.isDone());
        assertTrue(one.stream().noneMatch(CompletableFuture::isDone));
    }

    @Test
    void multiLockFailsAndOtherLeasesLive_whenItsListsOutgrowThePacket() throws Exception {
        Acquirable both = several.multiLock(several.mutex("/a"), several.mutex("/b"));
        both.acquire().close();
        both.acquire().close();
        Lease elsewhere = several.mutex("/elsewhere").acquire();
        CompletableFuture<LossCause> lost = elsewhere.lost().toCompletableFuture();
        ZooKeeper forger = handle();
        for (String path : List.of("/a", "/b")) {
            ForgedRequests.create(forger, CreateMode.PERSISTENT, path, writers(TOO_MANY));
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            LockException told = assertThrows(LockException.class, both::acquire);
            assertTrue(told.getMessage().contains("jute.maxbuffer"), told.getMessage());
        }
        Stopwatch watch = Stopwatch.start();
        assertThrows(LockException.class, () -> both.tryAcquire(Duration.ofSeconds(10)));
        long took = watch.stop();
        assertTrue(took < 2000, "once known it costs no connection: " + took + " ms");
        for (String path : List.of("/a", "/b")) {
            awaitUntil("nothing of ours", () -> server().nodesUnder(path).size() == TOO_MANY);
        }
        assertTrue(elsewhere.isValid());
        assertFalse(lost.isDone());
        for (String path : List.of("/a", "/b")) {
            ForgedRequests.delete(forger, path, writers(TOO_MANY));
        }
        both.acquire().close();
        elsewhere.close();
        awaitNothingLeft("/a", "/b");
    }
}
