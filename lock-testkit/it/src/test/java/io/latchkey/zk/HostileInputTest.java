// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.BadPathException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.Owner;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.Eviction;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import io.latchkey.lock.admin.Contender.State;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that a client with rights can create under a lock's path, and input of users: an error or correct work. */
@Tag("once")
@Timeout(120)
class HostileInputTest extends OnOneServer {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final String ID = "0123456789abcdef";
    private static final int HUGE = 900_000;

    private final ZkLockClient locks =
            client(builder -> builder.ownerLabel("own").sessionTimeout(LONG));
    private final ZkLockClient other =
            client(builder -> builder.ownerLabel("other").sessionTimeout(LONG));
    private final ZooKeeper operator = handle();

    HostileInputTest() throws Exception {}

    private static byte[] garbage(int length) {
        byte[] bytes = new byte[length];
        new Random(7).nextBytes(bytes);
        return bytes;
    }

    // ---- names

    @Test
    void pathsOfAnyOtherCharactersWork() throws Exception {
        for (String path : List.of("/sp ace", "/ünï/ço∂é", "/a:b,c;d", "/%00", "/..a", "/-", "/" + "x".repeat(500))) {
            Lease held = locks.mutex(path).acquire();
            assertEquals(path, held.path());
            assertTrue(other.mutex(path).tryAcquire().isEmpty());
            held.close();
        }
    }

    @Test
    void pathIsRefused_whenItDoesNotFitAPacket() throws Exception {
        for (String path : List.of("/" + "x".repeat(2_000_000), "/" + "x".repeat(10_000))) {
            BadPathException refused = assertThrows(BadPathException.class, () -> locks.mutex(path));
            assertTrue(refused.getMessage().contains(path.length() + " characters"), refused.getMessage());
            assertTrue(refused.getMessage().length() < 1_000, "it can be read");
        }
        // As long as may be, of characters that take three bytes each, below a base path that is as long.
        String path = "/" + "\u20ac".repeat(9_999);
        ZkLockClient deep =
                client(builder -> builder.basePath(path).sessionNodeBytes(10_000_000)); // it ends by a close
        ReadWriteLock lock = deep.readWriteLock(path);
        Lease write = lock.writeLock().acquire();
        List<CompletableFuture<Lease>> heirs = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            heirs.add(lock.readLock().acquireAsync());
        }
        settle(lock.readLock());
        write.close();
        for (CompletableFuture<Lease> heir : heirs) {
            heir.get(10, TimeUnit.SECONDS).close();
        }
    }

    /** Which names are malformed is in {@code NodeNameTest}. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "write-",
                "write-" + ID + "-99999999999",
                "read-" + ID + "-1-0000000000",
                "lease-" + ID + "-0-0000000000",
                "revoke-" + ID
            })
    void malformedNamesAreForeign_andForeignChildrenDisturbNoLock(String name) throws Exception {
        for (Lockable kind : Lockable.values()) {
            kind.of(locks).acquire().close();
            for (String path : kind.paths()) {
                if (operator.exists(path + '/' + name, false) == null) {
                    makeNode(path + '/' + name, garbage(100));
                }
            }
            assertEquals(0, kind.of(other).queue().size());
            Lease held = kind.of(locks).acquire();
            CompletableFuture<Lease> next = kind.blocker(other).acquireAsync();
            settle(kind.of(other));
            assertFalse(next.isDone());
            held.close();
            soon(next).close();
        }
    }

    /** A node with a forged name blocks the lock as a request does; an administrator can see and evict it. */
    @ParameterizedTest
    @EnumSource(Lockable.class)
    void forgedRequestBlocks_untilItIsEvicted(Lockable kind) throws Exception {
        kind.of(locks).acquire().close();
        for (String path : kind.paths()) {
            String forged = path.equals("/s") ? "lease-" + ID + "-2-0000000000" : "write-" + ID + "-0000000000";
            makeNode(path + '/' + forged, garbage(HUGE));
        }
        assertTrue(kind.of(locks).tryAcquire().isEmpty());
        CompletableFuture<Lease> waiting = kind.of(locks).acquireAsync();
        for (Contender forged : kind.of(other).queue().stream()
                .filter(contender -> contender.state() == State.HOLDING)
                .toList()) {
            assertEquals("", forged.owner().label());
            assertEquals(ReleaseRequestResult.NOT_LISTENING, forged.requestRelease());
            assertEquals(Eviction.EVICTED, forged.evict());
        }
        soon(waiting).close();
    }

    /** By its name it is a request for a lock of Curator, for which others wait. It may be data of an application. */
    @Test
    void persistentNodeIsShownButNotTouched_inALayoutOfOthers() throws Exception {
        makeNode("/data");
        makeNode("/data/block-0000000000", new byte[] {1});
        makeNode("/data/revoke-b", new byte[] {2});
        ZkLockClient curator = client(builder -> builder.layout(Layout.CURATOR));
        CompletableFuture<Lease> waiting = curator.mutex("/data").acquireAsync();
        awaitQueue(curator.mutex("/data"), 2);
        Contender node = other.listLocksAt("/data").locks().get(0).queue().get(0);
        assertEquals(State.HOLDING, node.state());
        assertEquals(0, node.session());
        for (Executable action : List.<Executable>of(node::evict, node::requestRelease)) {
            LockException refused = assertThrows(LockException.class, action);
            assertTrue(
                    refused.getMessage().startsWith("/data/block-0000000000 is a persistent node"),
                    () -> refused.getMessage());
            assertTrue(refused.getMessage().contains("Nothing was sent"), refused::getMessage);
        }
        assertEquals(1, operator.getData("/data/block-0000000000", false, null)[0]);
        assertEquals(2, operator.getData("/data/revoke-b", false, null)[0]);
        assertFalse(waiting.isDone());
        operator.delete("/data/block-0000000000", -1);
        soon(waiting).close();
    }

    /** Its data may name another token only if it may be a downgraded lease, whose node is newer than the token. */
    @ParameterizedTest
    @ValueSource(strings = {"write", "read"})
    void requestIsNotTakenForAnother_whenItsDataClaimsTheTokenOfThat(String tag) throws Exception {
        Lease held = locks.readWriteLock("/rw").writeLock().acquire();
        long claimed = tag.equals("write") ? held.token() : Long.MAX_VALUE / 10;
        String forged = operator.create(
                "/rw/" + tag + "-" + ID + "-",
                ("x:1/" + claimed).getBytes(StandardCharsets.UTF_8),
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
        List<Contender> queue = other.readWriteLock("/rw").readLock().queue();
        assertEquals(
                List.of(held.token(), operator.exists(forged, false).getCzxid()),
                queue.stream().map(Contender::token).toList());
        assertEquals("x", queue.get(1).owner().host());
        held.close();
    }

    /** A request for permits, by mistake at the path of a mutex, blocks it until its node is deleted. */
    @Test
    void permitAtThePathOfAMutexBlocks_untilItIsDeleted() throws Exception {
        locks.mutex("/m").acquire().close();
        String permit = "/m/lease-" + ID + "-1-0000000000";
        makeNode(permit);
        CompletableFuture<Lease> waiting = locks.mutex("/m").acquireAsync();
        awaitUntil("a watch on the permit", () -> server().watches().stream()
                .anyMatch(watch -> watch.path().equals(permit)));
        // Behind the response to the watch.
        assertEquals(2, locks.mutex("/m").queue().size());
        operator.delete(permit, -1);
        soon(waiting).close();
    }

    /** Appends to the name of each node that it creates by itself. */
    @SuppressWarnings("try") // The close() of ZooKeeper's client may be interrupted.
    private static final class OddNames extends ZooKeeper {
        OddNames(String servers, CountDownLatch connected) throws IOException {
            super(servers, (int) LONG.toMillis(), event -> connected.countDown());
        }

        @Override
        public void create(
                String path,
                byte[] data,
                List<ACL> acl,
                CreateMode mode,
                AsyncCallback.Create2Callback then,
                Object context) {
            super.create(path + "odd-", data, acl, mode, then, context);
        }
    }

    @Test
    void requestWhoseNodeCannotBeRead_isRefusedAndLeavesNoNode() throws Exception {
        locks.mutex("/m").acquire().close();
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper odd = new OddNames(server().connectString(), connected);
        assertTrue(connected.await(20, TimeUnit.SECONDS));
        try (ZkLockClient client = ZkLockClient.using(odd)) {
            client.mutex("/first").acquire().close(); // by a transaction, in which the names are not odd
            LockException told =
                    assertThrows(LockException.class, () -> client.mutex("/m").tryAcquire(Duration.ofSeconds(10)));
            assertTrue(told.getMessage().contains("odd-"), told.getMessage());
            awaitUntil("no node left", () -> server().nodesUnder("/m").isEmpty());
        } finally {
            odd.close();
        }
    }

    /**
     * A request's number can be forged to be one that is taken. Two nodes with one number are ordered by name, by all
     * clients.
     */
    @Test
    void forgedNumbersNeverAdmitTwoHolders() throws Exception {
        Lease held = locks.mutex("/m").acquire();
        String digits = requestsUnder("/m").get(0).name().substring("write-".length() + ID.length());
        for (String id : List.of("0000000000000000", "ffffffffffffffff")) {
            makeNode("/m/write-" + id + digits);
        }
        assertTrue(other.mutex("/m").tryAcquire().isEmpty());
        held.close();
        assertTrue(other.mutex("/m").tryAcquire().isEmpty());
        for (Contender forged : other.mutex("/m").queue()) {
            assertEquals(Eviction.EVICTED, forged.evict());
        }
        assertTrue(other.mutex("/m").tryAcquire().isPresent());
    }

    // ---- data

    @Test
    void pathWithOtherData_isRefused() throws Exception {
        List<byte[]> hostile = List.of(
                garbage(20),
                garbage(HUGE),
                "latchkey/3 semaphore 2 2".getBytes(StandardCharsets.UTF_8),
                "latchkey/4 mutex".getBytes(StandardCharsets.UTF_8));
        for (int i = 0; i < hostile.size(); i++) {
            String path = "/hostile" + i;
            makeNode(path, hostile.get(i));
            LockMismatchException told = assertThrows(
                    LockMismatchException.class, () -> locks.mutex(path).acquire());
            assertThrows(
                    LockMismatchException.class, () -> locks.semaphore(path, 2).tryAcquire(Duration.ofSeconds(10)));
            assertThrows(
                    LockMismatchException.class, () -> locks.semaphore(path, 2).resize(3));
            assertTrue(told.getMessage().length() < 500, told.getMessage());
            assertTrue(told.getMessage().chars().noneMatch(Character::isISOControl), "it can be printed");
            assertEquals(List.of(), operator.getChildren(path, false));
        }
    }

    @Test
    void hostileDataOfRequests_isShownAsUnknown() throws Exception {
        Lease held = locks.mutex("/m").acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, "/m");
        String ear = listenersUnder("/m").get(0).path();
        for (byte[] data : List.of(garbage(50), garbage(HUGE), "\n\n\n\n".getBytes(StandardCharsets.UTF_8))) {
            operator.setData(requestsUnder("/m").get(0).path(), data, -1);
            Contender shown = other.mutex("/m").queue().get(0);
            assertEquals(0, shown.owner().processId());
            assertEquals(State.HOLDING, shown.state());
            operator.setData(ear, data, -1);
        }
        assertEquals(new ReleaseRequest(new Owner("", "", 0)), wish.get(10, TimeUnit.SECONDS));
        assertTrue(held.isValid());
        held.close();
        assertTrue(other.mutex("/m").tryAcquire().isPresent());
    }

    // ---- length

    /** Nodes with the names of waiting writers, and numbers that the server has not assigned yet. */
    private void fill(String path, int count) throws Exception {
        ForgedRequests.create(operator, CreateMode.PERSISTENT, path, ForgedRequests.writers(1_000_000_000, count));
    }

    @Test
    void acquireFailsAndOtherLeasesLive_whenTheListFitsNoPacket() throws Exception {
        locks.mutex("/m").acquire().close();
        Lease elsewhere = locks.mutex("/elsewhere").acquire();
        fill("/m", 30_000);
        for (int attempt = 0; attempt < 2; attempt++) {
            LockException told =
                    assertThrows(LockException.class, () -> locks.mutex("/m").acquire());
            assertTrue(told.getMessage().contains("jute.maxbuffer"), told.getMessage());
            assertEquals(LockException.Reason.QUEUE_TOO_LONG, told.reason());
        }
        Stopwatch watch = Stopwatch.start();
        assertThrows(LockException.class, () -> locks.mutex("/m").tryAcquire(Duration.ofSeconds(10)));
        assertThrows(LockException.class, () -> locks.mutex("/m").queue());
        long took = watch.stop();
        assertTrue(took < 2000, "once known it costs no connection: " + took + " ms");
        assertEquals(30_000, server().nodesUnder("/m").size(), "nothing of ours is left");
        assertTrue(elsewhere.isValid());
        assertFalse(elsewhere.lost().toCompletableFuture().isDone());
        elsewhere.close();
    }

    /** A hundred names take some 3,600 bytes. */
    @Test
    void listIsNotAskedFor_whenItExceedsTheClientsOwnLimit() throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, "3000");
        FaultProxy proxy = fastProxy();
        ZkLockClient limited =
                client(builder -> builder.connectString(proxy.connectString()).clientConfig(config));
        makeNode("/m");
        fill("/m", 100);
        Wire.Mark asking = proxy.mark();
        LockException told =
                assertThrows(LockException.class, () -> limited.mutex("/m").queue());
        assertEquals(LockException.Reason.QUEUE_TOO_LONG, told.reason());
        assertEquals(0, proxy.since(asking).count(RequestMatch.list().under("/m")));
    }

    @Test
    @Tag("slow")
    void acquireFailsAndOtherLeasesLive_whenTheListOfAWornOutPathFitsNoPacket() throws Exception {
        locks.mutex("/m").acquire().close();
        Lease elsewhere = locks.mutex("/elsewhere").acquire();
        fill("/m", 30_000);
        server().setChildCounter("/m", Integer.MAX_VALUE - 2);
        LockException told =
                assertThrows(LockException.class, () -> locks.mutex("/m").acquire());
        assertTrue(told.getMessage().contains("jute.maxbuffer"), told.getMessage());
        assertEquals(30_000, server().nodesUnder("/m").size(), "nothing of ours is left");
        assertTrue(elsewhere.isValid());
        elsewhere.close();
    }

    // ---- few children with long names: their number does not tell how long the list is, only the connections that it
    // breaks do

    /** Its session is short: the lists are asked for again with its heartbeats. */
    private ZkLockClient brief(FaultProxy proxy) throws InterruptedException {
        return client(builder -> builder.connectString(proxy.connectString())
                .sessionTimeout(Duration.ofMillis(Long.getLong(
                        "latchkey.session", LONG_SESSION.dividedBy(2).toMillis()))));
    }

    private void fillWithLongNames(String path) throws Exception {
        for (int i = 0; i < 120; i++) {
            makeNode(path + '/' + "x".repeat(9_000) + i);
        }
    }

    /** Each list breaks the connection. */
    private static int lists(FaultProxy proxy, Wire.Mark since, String path) {
        return proxy.since(since).count(RequestMatch.list().path(path, path::equals));
    }

    private static void assertTooLong(LockException told) {
        assertTrue(told.getMessage().contains("jute.maxbuffer"), told.getMessage());
        assertEquals(LockException.Reason.QUEUE_TOO_LONG, told.reason());
    }

    @Test
    @Tag("long")
    void acquireFailsAndOtherLeasesLive_whenFewChildrenHaveLongNames() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient brief = brief(proxy);
        Lease elsewhere = brief.mutex("/elsewhere").acquire();
        brief.mutex("/m").acquire().close();
        fillWithLongNames("/m");
        assertTooLong(assertThrows(LockException.class, () -> brief.mutex("/m").acquire()));
        assertEquals(120, server().nodesUnder("/m").size(), "nothing of ours is left");
        assertFalse(elsewhere.lost().toCompletableFuture().isDone());
        Wire.Mark known = proxy.mark();
        Stopwatch watch = Stopwatch.start();
        assertThrows(LockException.class, () -> brief.mutex("/m").acquire());
        assertTooLong(assertThrows(LockException.class, () -> brief.mutex("/m").queue()));
        long took = watch.stop();
        assertTrue(took < 2000, "once known it costs no connection: " + took + " ms");
        assertEquals(0, lists(proxy, known, "/m"));
        assertTrue(elsewhere.isValid());
    }

    @Test
    @Tag("slow")
    void queueFailsAndOtherLeasesLive_whenFewChildrenHaveLongNames() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient brief = brief(proxy);
        Lease elsewhere = brief.mutex("/elsewhere").acquire();
        brief.mutex("/m").acquire().close();
        fillWithLongNames("/m");
        Wire.Mark asking = proxy.mark();
        LockException told;
        do {
            told = assertThrows(LockException.class, () -> brief.mutex("/m").queue());
            assertTrue(lists(proxy, asking, "/m") <= 5, "it breaks the connection again and again");
        } while (told.reason() != LockException.Reason.QUEUE_TOO_LONG);
        assertTooLong(told);
        Wire.Mark known = proxy.mark();
        for (int i = 0; i < 20; i++) {
            assertTooLong(
                    assertThrows(LockException.class, () -> brief.mutex("/m").queue()));
        }
        assertTooLong(assertThrows(LockException.class, () -> brief.mutex("/m").acquire()));
        assertEquals(0, lists(proxy, known, "/m"));
        assertFalse(elsewhere.lost().toCompletableFuture().isDone());
        assertTrue(elsewhere.isValid());
    }

    @Test
    @Tag("slow")
    void diagnoseNamesItsGapAndOtherLeasesLive_whenFewChildrenHaveLongNames() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient brief = brief(proxy);
        Lease elsewhere = brief.mutex("/elsewhere").acquire();
        Lease held = other.mutex("/app/held").acquire();
        makeNode("/app/m");
        fillWithLongNames("/app/m");
        CompletableFuture<Lease> waiting = brief.mutex("/app/held").acquireAsync();
        Wire.Mark asking = proxy.mark();
        String gap;
        do {
            gap = brief.diagnose().incompleteBecause().orElse("");
            assertTrue(lists(proxy, asking, "/app/m") <= 5, "it breaks the connection again and again");
        } while (!gap.contains("jute.maxbuffer"));
        assertTrue(gap.contains("/app/m"), gap);
        assertTrue(elsewhere.isValid());
        held.close();
        soon(waiting).close();
    }

    /** Where the path's counter is at its end, requests wait until the path is empty. */
    @Test
    @Tag("slow")
    void acquireFailsAndOtherLeasesLive_whenLongNamesKeepAPathFromBeingRenewed() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient brief = brief(proxy);
        Lease elsewhere = brief.mutex("/elsewhere").acquire();
        brief.mutex("/m").acquire().close();
        fillWithLongNames("/m");
        server().setChildCounter("/m", Integer.MAX_VALUE - 2);
        assertTooLong(assertThrows(LockException.class, () -> brief.mutex("/m").acquire()));
        assertEquals(120, server().nodesUnder("/m").size(), "nothing of ours is left");
        assertFalse(elsewhere.lost().toCompletableFuture().isDone());
        assertTrue(elsewhere.isValid());
    }
}
