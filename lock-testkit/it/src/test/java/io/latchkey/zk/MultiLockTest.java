// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.StripedMutex;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.internal.queue.PathData;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a multi-lock does on its server while only users and operators make mistakes, beyond what the contracts ask of
 * every implementation.
 */
@Timeout(30)
class MultiLockTest extends OnOneServer {
    private static final String[] ABC = {"/a", "/b", "/c"};

    private final ZkLockClient one = client("one");
    private final ZkLockClient two = client("two");
    private final ZkLockClient three = client("three");

    MultiLockTest() throws InterruptedException {}

    private static MultiLock mutexes(ZkLockClient client, String... paths) {
        return client.multiLock(Arrays.stream(paths).map(client::mutex).toArray(Acquirable[]::new));
    }

    private List<ServerNode> nodes(String... paths) {
        return Arrays.stream(paths)
                .flatMap(path -> requestsUnder(path).stream())
                .toList();
    }

    private void awaitNodes(int count, String... paths) throws InterruptedException {
        awaitUntil(count + " requests on all paths", () -> nodes(paths).size() == count);
    }

    // ---- how many

    private static MultiLock mutexesUnder(ZkLockClient client, String path, int count) {
        return client.multiLock(
                IntStream.range(0, count).mapToObj(i -> client.mutex(path + i)).toArray(Acquirable[]::new));
    }

    /** The most that the door takes, found by halves. */
    private static MultiLock asManyAsPossible(ZkLockClient client, String path) {
        int taken = 1;
        int refused = 5_000;
        while (refused - taken > 1) {
            int count = (taken + refused) / 2;
            try {
                mutexesUnder(client, path, count);
                taken = count;
            } catch (IllegalArgumentException tooMany) {
                refused = count;
            }
        }
        return mutexesUnder(client, path, taken);
    }

    @Test
    void refusalOfTooManyMembers_namesHowManyFit() {
        int most = asManyAsPossible(one, "/many/m").members().size();
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> mutexesUnder(one, "/many/m", 5_000));
        assertTrue(refused.getMessage().endsWith("it takes " + most + " of these 5000"), refused::getMessage);
    }

    private static List<Op> firstContact(String path, byte[] owner, List<ACL> acl) {
        return List.of(
                Op.create(path, new byte[0], acl, CreateMode.CONTAINER),
                Op.setData(path, PathData.MUTEX.bytes(), 0),
                Op.create(path + "/write-0123456789abcdef-", owner, acl, CreateMode.EPHEMERAL_SEQUENTIAL));
    }

    /**
     * The longest transaction is that on paths that are missing. A client sends it after one that is as long as it is,
     * so an operator sends it here.
     */
    private void assertFitsAPacket(ZkLockClient client, String below, List<ACL> acl) throws Exception {
        Lease other = client.mutex("/many/other").acquire();
        byte[] owner = requestsUnder(below + "/many/other").get(0).data();
        MultiLock most = asManyAsPossible(client, "/many/m");
        ZooKeeper operator = handle();
        List<Op> ops = new ArrayList<>();
        for (int member = 0; member < most.members().size(); member++) {
            ops.addAll(firstContact(below + "/many/m" + member, owner, acl));
        }
        assertEquals(ops.size(), operator.multi(ops).size());
        operator.close();
        Lease all = most.tryAcquire(Duration.ofSeconds(20)).orElseThrow();
        assertEquals(ReleaseOutcome.RELEASED, all.release());
        assertTrue(other.isValid());
    }

    /** Its connection broke again and again, and other leases of the client with it. */
    @Test
    @Tag("slow")
    void everyAcceptedMultiLockFitsAPacket_forAnyLengthOfNodes() throws Exception {
        List<ACL> everybody = ZooDefs.Ids.OPEN_ACL_UNSAFE;
        assertFitsAPacket(client(builder -> builder.basePath("/plain")), "/plain", everybody);
        String label = "\u4e00".repeat(256);
        assertFitsAPacket(client(builder -> builder.ownerLabel(label).basePath("/label")), "/label", everybody);
        List<ACL> many = new ArrayList<>(everybody);
        IntStream.range(0, 50).forEach(i -> many.add(new ACL(ZooDefs.Perms.READ, new Id("ip", "10.0.0." + i))));
        assertFitsAPacket(client(builder -> builder.acl(many).basePath("/acl")), "/acl", many);
        String base = "/" + "\u4e00".repeat(50);
        assertFitsAPacket(client(builder -> builder.basePath(base)), base, everybody);
        String chroot = "/" + "chroot".repeat(20);
        assertFitsAPacket(
                client(builder -> builder.connectString(server().connectString() + chroot)), chroot, everybody);
        MultiLock most = asManyAsPossible(one, "/many/m");
        assertThrows(IllegalArgumentException.class, () -> most.labelled(label));
    }

    // ---- what is held

    /** A request that defers reading its position must not rely on later requests. */
    @Test
    void readyMemberKeepsItsPermits_whenItsSemaphoreShrinks() throws Exception {
        Lease held = two.mutex("/a").acquire();
        CompletableFuture<Lease> waiting = one.multiLock(
                        one.mutex("/a"), one.semaphore("/s", 3).permits(3))
                .acquireAsync();
        awaitRequests("/s", 1);
        settle(one.mutex("/settled"));
        two.semaphore("/s", 3).resize(1);
        assertTrue(two.semaphore("/s", 3).tryAcquire().isEmpty(), "they are taken");
        held.close();
        soon(waiting).close();
    }

    @Test
    void singleRequestsAreServed_betweenLocalMultiLocks() throws Exception {
        Lease held = two.mutex("/a").acquire();
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(one.mutex("/a").acquireAsync());
            awaitRequests("/a", all.size() + 1);
        }
        for (int i = 0; i < 3; i++) {
            all.add(mutexes(one, "/a", "/b").acquireAsync());
            awaitRequests("/a", all.size() + 1);
        }
        held.close();
        for (CompletableFuture<Lease> each : all) {
            soon(each).close();
        }
        awaitNothingLeft(ABC);
    }

    @Test
    void tokenIsThatOfTheNode_belowAChroot() throws Exception {
        ZkLockClient rooted = client(builder -> builder.connectString(server().connectString() + "/apps/shop"));
        for (int round = 0; round < 2; round++) {
            Lease lease = rooted.multiLock(rooted.mutex("/a"), rooted.semaphore("/b", 2))
                    .acquire();
            assertEquals("/a", lease.path());
            assertTrue(lease.token() > 0);
            assertEquals(lease.token(), requestsUnder("/apps/shop/a").get(0).created());
            assertEquals(lease.token(), requestsUnder("/apps/shop/b").get(0).created());
            assertEquals(Optional.empty(), one.mutex("/apps/shop/a").tryAcquire());
            lease.close();
        }
    }

    // ---- all or nothing

    @Test
    void failedAcquire_leavesNoPathThatIsNeverRemoved() throws Exception {
        two.semaphore("/s", 3).acquire().close();
        assertThrows(LockMismatchException.class, () -> one.multiLock(one.mutex("/fresh/a"), one.mutex("/s"))
                .acquire());
        awaitNothingLeft("/fresh/a", "/s");
        reapAll();
        assertNeverMade("/fresh");
    }

    @Test
    void multiLockFails_whenAMemberCannotBeCreated() throws Exception {
        ZooKeeper operator = handle();
        operator.create("/shut", new byte[0], ZooDefs.Ids.READ_ACL_UNSAFE, CreateMode.PERSISTENT);
        two.mutex("/a").acquire().close();
        for (MultiLock lock : List.of(
                mutexes(one, "/a", "/shut"), mutexes(one, "/shut", "/a"), mutexes(one, "/a", "/shut/deeper/m"))) {
            AccessDeniedException denied = assertThrows(AccessDeniedException.class, lock::acquire);
            assertTrue(denied.getMessage().contains("/shut"), denied.getMessage());
            assertThrows(AccessDeniedException.class, lock::tryAcquire);
            awaitNothingLeft("/a", "/shut");
        }
        assertEquals(List.of(), operator.getChildren("/shut", false));
    }

    @Test
    void multiLockRequestFails_whenCapacityShrinksBelowAMembersPermits() throws Exception {
        MultiLock lock = one.multiLock(one.mutex("/a"), one.semaphore("/s", 3).permits(3));
        Lease held = two.semaphore("/s", 3).acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        awaitNodes(3, "/a", "/s");
        CompletableFuture<Lease> behind = three.mutex("/a").acquireAsync();
        awaitNodes(4, "/a", "/s");
        two.semaphore("/s", 3).resize(2);
        LockMismatchException told = refusal(LockMismatchException.class, waiting);
        assertTrue(told.requested().contains("3") && told.found().contains("2"), told.getMessage());
        soon(behind).close();
        held.close();
        assertThrows(LockMismatchException.class, lock::acquire);
        awaitNothingLeft("/a", "/s");
        two.semaphore("/s", 3).resize(3);
        lock.acquire().close();
    }

    /**
     * Creation is retried if another client creates a path first; reads for the first attempt are not valid for the
     * next.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    @Tag("slow")
    void raceForMissingPaths_leavesNoNode(int members) throws Exception {
        List<ZkLockClient> clients = new ArrayList<>(List.of(one, two, three));
        while (clients.size() < 8) {
            clients.add(client("racer"));
        }
        ExecutorService threads = Executors.newFixedThreadPool(clients.size());
        for (int round = 0; round < 40; round++) {
            String base = "/race/" + round;
            List<Future<?>> work = new ArrayList<>();
            for (ZkLockClient client : clients) {
                SplittableRandom random = new SplittableRandom(work.size() + 100 * round);
                work.add(threads.submit(() -> {
                    for (int turn = 0; turn < 3; turn++) {
                        List<String> paths =
                                new ArrayList<>(List.of(base + "/0", base + "/1", base + "/2", base + "/3"));
                        Collections.shuffle(paths, new Random(random.nextLong()));
                        Acquirable lock = members == 1
                                ? client.mutex(base + "/0")
                                : mutexes(
                                        client,
                                        paths.subList(0, random.nextInt(1, members + 1))
                                                .toArray(String[]::new));
                        lock.tryAcquire(Duration.ofMillis(random.nextInt(20))).ifPresent(Lease::close);
                    }
                    return null;
                }));
            }
            for (Future<?> done : work) {
                done.get(10, TimeUnit.SECONDS);
            }
            awaitUntil("no node is left after round " + round, () -> server().nodesUnder(base).stream()
                    .noneMatch(ServerNode::isEphemeral));
        }
        threads.shutdown();
        awaitWatches(0);
    }

    // ---- arguments and views

    /** Beside those of the contract: the same path in two forms, null, and an implementation of another library. */
    @Test
    void badMembersAreRefusedAtOnce() throws Exception {
        Acquirable a = one.mutex("/never/a");
        assertThrows(
                IllegalArgumentException.class,
                () -> one.multiLock(
                        one.readWriteLock("/never/r").readLock(),
                        one.readWriteLock("/never/r").writeLock()));
        assertThrows(
                IllegalArgumentException.class,
                () -> one.multiLock(
                        one.semaphore("/never/s", 2),
                        one.semaphore("/never/s", 2).permits(1)));
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(a, one.semaphore("/never/a", 2)));
        StripedMutex stripes = one.stripedMutex("/never/stripes", 1);
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(stripes.forKey("x"), stripes.forKey("y")));
        Acquirable foreign = (Acquirable) Proxy.newProxyInstance(
                Acquirable.class.getClassLoader(),
                new Class<?>[] {Acquirable.class},
                (proxy, method, arguments) -> "foreign");
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(a, foreign));
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(a, two.mutex("/never/b")));
        assertThrows(NullPointerException.class, () -> one.multiLock((Acquirable[]) null));
        assertThrows(NullPointerException.class, () -> one.multiLock(a, null));
        assertTrue(one.mutex("/fence").tryAcquire().isPresent());
        assertNeverMade("/never");
    }

    @Test
    void releaseReportsTheLossAndDeletesOtherNodes_whenOneNodeIsMissing() throws Exception {
        for (int deleted = 0; deleted < 3; deleted++) {
            Lease lease = mutexes(one, ABC).acquire();
            deleteRequest(ABC[deleted], 0);
            assertEquals(ReleaseOutcome.LOST, lease.release(), "deleted " + ABC[deleted]);
            awaitNothingLeft(ABC);
        }
    }

    @Test
    void guardedWriteIsRefused_whenAnyNodeIsMissing() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/stock", new byte[] {1});
        byte value = 1;
        for (int deleted = 0; deleted < 3; deleted++) {
            Lease lease = mutexes(one, ABC).acquire();
            value++;
            assertEquals(
                    1,
                    ZkLocks.guarded(lease, Op.setData("/stock", new byte[] {value}, -1))
                            .size(),
                    "the results of the caller's operations only");
            deleteRequest(ABC[deleted], 0);
            assertThrows(
                    LeaseLostException.class, () -> ZkLocks.guarded(lease, Op.setData("/stock", new byte[] {99}, -1)));
            assertEquals(value, operator.getData("/stock", false, null)[0]);
            lease.close();
            awaitNothingLeft(ABC);
        }
    }
}
