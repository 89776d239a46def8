// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Contender.Standing;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.StripedMutex;
import io.latchkey.testkit.FaultProxy;
import io.latchkey.testkit.RequestMatch;
import io.latchkey.testkit.ServerNode;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.Wire;
import io.latchkey.zk.queue.PathData;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a multi-lock promises while nothing but its users and operators makes mistakes. */
@Timeout(30)
class MultiLockTest extends OnOneServer {
    private static final String[] ABC = {"/a", "/b", "/c"};

    private final ZkLockClient one = client("one");
    private final ZkLockClient two = client("two");
    private final ZkLockClient three = client("three");

    private static MultiLock mutexes(ZkLockClient client, String... paths) {
        return client.multiLock(Arrays.stream(paths).map(client::mutex).toArray(Acquirable[]::new));
    }

    private static Acquirable[] anyMix(ZkLockClient client) {
        return new Acquirable[] {
            client.mutex("/mix/m"),
            client.readWriteLock("/mix/r").readLock(),
            client.readWriteLock("/mix/w").writeLock(),
            client.semaphore("/mix/s", 3).permits(2),
            client.semaphore("/mix/one", 2)
        };
    }

    private static final String[] MIX = {"/mix/m", "/mix/r", "/mix/w", "/mix/s", "/mix/one"};

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

    private static List<Op> firstContact(String path, byte[] owner, List<ACL> acl) {
        return List.of(
                Op.create(path, new byte[0], acl, CreateMode.CONTAINER),
                Op.setData(path, PathData.MUTEX.bytes(), 0),
                Op.create(path + "/write-0123456789abcdef-", owner, acl, CreateMode.EPHEMERAL_SEQUENTIAL));
    }

    /**
     * The longest transaction is that on paths that are missing. A client comes to it after many others that find one missing path
     * each, so an operator sends it here.
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
    void everyMultiLockThatTheDoorTakesFitsAPacket_whateverTheLengthOfItsNodes() throws Exception {
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
    }

    // ---- what is held

    @Test
    void anyMixIsOneLeaseWithOneTokenAndOneNodeForEachMember() throws Exception {
        Lease lease = one.multiLock(anyMix(one)).acquire();
        assertEquals(LeaseState.HELD, lease.state());
        assertEquals("/mix/m", lease.path(), "that of the first member");
        for (String path : MIX) {
            List<ServerNode> made = requestsUnder(path);
            assertEquals(1, made.size(), path);
            assertEquals(lease.token(), made.get(0).created(), "one transaction made them all");
        }
        assertEquals(Optional.empty(), two.mutex("/mix/m").tryAcquire());
        two.readWriteLock("/mix/r").readLock().tryAcquire().orElseThrow().close();
        assertEquals(Optional.empty(), two.readWriteLock("/mix/r").writeLock().tryAcquire());
        assertEquals(Optional.empty(), two.readWriteLock("/mix/w").readLock().tryAcquire());
        two.semaphore("/mix/s", 3).tryAcquire().orElseThrow().close();
        assertEquals(Optional.empty(), two.semaphore("/mix/s", 3).permits(2).tryAcquire());
        assertEquals(1, two.semaphore("/mix/one", 2).availablePermits(), "a semaphore itself counts as one permit");

        assertEquals(ReleaseOutcome.RELEASED, lease.release());
        assertEquals(List.of(), nodes(MIX), "gone when the release returns");
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, lease.release());
        two.multiLock(anyMix(two)).tryAcquire().orElseThrow().close();
        awaitNothingLeft(MIX);
    }

    @Test
    void missingPathsAreCreatedWithTheirLevelsAsContainers() throws Exception {
        one.mutex("/there/a").acquire().close();
        Lease lease =
                mutexes(one, "/there/a", "/new/deep/b", "/new/c", "/there/d").acquire();
        for (String path : List.of("/there/a", "/new/deep/b", "/new/c", "/there/d")) {
            assertEquals(lease.token(), requestsUnder(path).get(0).created(), path);
        }
        lease.close();
        assertEquals(
                List.of("/new", "/new/c", "/new/deep", "/new/deep/b", "/there", "/there/a", "/there/d"),
                reapAll().stream().sorted().toList());
        Lease again = mutexes(one, "/there/a", "/new/deep/b").acquire();
        assertTrue(again.token() > lease.token());
    }

    @Test
    void aMemberThatIsHeldHoldsUpTheWhole() throws Exception {
        Lease held = two.mutex("/b").acquire();
        CompletableFuture<Lease> waiting = mutexes(one, ABC).acquireAsync();
        awaitNodes(4, ABC);
        CompletableFuture<Lease> behind = three.mutex("/a").acquireAsync();
        awaitNodes(5, ABC);
        settle(one.mutex("/a"), three.mutex("/a"));
        assertFalse(waiting.isDone());
        assertFalse(behind.isDone(), "first come first served on every path");
        held.close();
        Lease all = soon(waiting);
        settle(three.mutex("/a"));
        assertFalse(behind.isDone());
        assertEquals(all.token(), requestsUnder("/c").get(0).created());
        all.close();
        soon(behind).close();
        awaitNothingLeft(ABC);
    }

    @Test
    void membersMayComeFreeInAnyOrder() throws Exception {
        for (String order : List.of("012", "210", "102")) {
            List<Lease> held = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                // Of its own client too, so that some members are handed over locally and others are not.
                held.add((i == 1 ? one : two).mutex(ABC[i]).acquire());
            }
            CompletableFuture<Lease> waiting = mutexes(one, ABC).acquireAsync();
            awaitNodes(6, ABC);
            for (int left = 0; left < 3; left++) {
                settle(one.mutex("/a"));
                assertFalse(waiting.isDone(), left + " of 3 are free");
                held.get(order.charAt(left) - '0').close();
            }
            soon(waiting).close();
        }
        awaitNothingLeft(ABC);
    }

    @Test
    void oppositeOrdersOfMembersDoNotDeadlock() throws Exception {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(mutexes(one, "/a", "/b").acquireAsync().thenAccept(Lease::close));
            all.add(mutexes(two, "/b", "/a").acquireAsync().thenAccept(Lease::close));
            all.add(mutexes(three, "/b", "/c", "/a").acquireAsync().thenAccept(Lease::close));
        }
        for (CompletableFuture<Void> done : all) {
            done.get(15, TimeUnit.SECONDS);
        }
        awaitNothingLeft(ABC);
    }

    /** Who puts off asking for its place must not count on those that came later. */
    @Test
    void aMemberThatMayHoldKeepsItsPermitsWhenItsSemaphoreShrinks() throws Exception {
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
    void singleRequestsBetweenMultiLocksOfTheirClientAreServed() throws Exception {
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
    void readMembersShare() throws Exception {
        Lease first = one.multiLock(one.readWriteLock("/r").readLock(), one.mutex("/a"))
                .acquire();
        Lease second = two.multiLock(two.readWriteLock("/r").readLock(), two.mutex("/b"))
                .tryAcquire()
                .orElseThrow();
        MultiLock writer = three.multiLock(three.readWriteLock("/r").writeLock(), three.mutex("/c"));
        assertEquals(Optional.empty(), writer.tryAcquire());
        CompletableFuture<Lease> waiting = writer.acquireAsync();
        awaitRequests("/r", 3);
        second.close();
        settle(three.mutex("/c"));
        assertFalse(waiting.isDone());
        first.close();
        soon(waiting).close();
    }

    @Test
    void oneMemberIsALockLikeAnyOther() throws Exception {
        Lease lease = mutexes(one, "/a").acquire();
        assertEquals(lease.token(), requestsUnder("/a").get(0).created());
        assertEquals(Optional.empty(), two.mutex("/a").tryAcquire());
        lease.close();
    }

    @Test
    void fiftyMembersAtOnce() throws Exception {
        String[] paths = IntStream.range(0, 50).mapToObj(i -> "/many/" + i).toArray(String[]::new);
        for (int round = 0; round < 2; round++) {
            Lease lease = mutexes(one, paths).acquire();
            assertEquals(50, nodes(paths).size());
            assertTrue(nodes(paths).stream().allMatch(node -> node.created() == lease.token()));
            assertEquals(Optional.empty(), mutexes(two, "/many/49", "/many/0").tryAcquire());
            lease.close();
        }
        awaitNothingLeft(paths);
    }

    @Test
    void theLeaseStaysValidForManySessionTimeouts() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient beating = patient(proxy);
        Lease lease = beating.multiLock(anyMix(beating)).acquire();
        settle(beating.mutex("/mix/m"));
        assertKeptAlive(proxy, lease, nodes(MIX));
    }

    @Test
    void belowAChrootTheTokenIsTheNodesToo() throws Exception {
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

    @Test
    void belowABasePathToo() throws Exception {
        ZkLockClient based = client(builder -> builder.basePath("/base"));
        Lease lease = mutexes(based, "/a", "/b").acquire();
        assertEquals("/a", lease.path());
        assertEquals(2, nodes("/base/a", "/base/b").size());
    }

    @Test
    void executesAround() throws Exception {
        String path = mutexes(one, ABC).call(Lease::path);
        assertEquals("/a", path);
        awaitNothingLeft(ABC);
    }

    // ---- all or nothing

    @Test
    void aTryThatFailsIsEmptyAndLeavesNothingOnAnyPath() throws Exception {
        Lease held = two.mutex("/b").acquire();
        assertEquals(Optional.empty(), mutexes(one, ABC).tryAcquire());
        assertEquals(1, nodes(ABC).size(), "gone when the try returns");
        assertEquals(Optional.empty(), mutexes(one, ABC).tryAcquire(Duration.ZERO));
        assertEquals(
                Optional.empty(),
                mutexes(one, ABC).tryAcquireAsync(Duration.ofMillis(100)).get(5, TimeUnit.SECONDS));
        awaitNodes(1, ABC);
        awaitWatches(0);
        assertTrue(held.isValid());
    }

    /** Elsewhere each member waits its own time-out, one after the other. */
    @Test
    void theTimeIsForAllMembersTogether() throws Exception {
        String[] paths = {"/1", "/2", "/3", "/4", "/5"};
        for (String path : paths) {
            two.mutex(path).acquire();
        }
        Stopwatch watch = Stopwatch.start();
        long start = System.nanoTime();
        assertEquals(Optional.empty(), mutexes(one, paths).tryAcquire(Duration.ofSeconds(2)));
        long waited = Duration.ofNanos(System.nanoTime() - start).toMillis();
        long took = watch.stop();
        assertTrue(waited >= 2000, waited + " ms");
        assertTrue(took < 2400, took + " ms");
        awaitNodes(5, paths);
        awaitWatches(0);
    }

    @Test
    void theTimeIsNotBegunAnewWithEachMemberThatComesFree() throws Exception {
        List<Lease> held = new ArrayList<>();
        for (String path : ABC) {
            held.add(two.mutex(path).acquire());
        }
        Stopwatch watch = Stopwatch.start();
        long start = System.nanoTime();
        CompletableFuture<Optional<Lease>> waiting = mutexes(one, ABC).tryAcquireAsync(Duration.ofSeconds(4));
        awaitNodes(6, ABC);
        // At half of the time and at three quarters: begun anew, it would end after 6 or 7 seconds.
        sleepUntil(start, 2000);
        settle(one.mutex("/a"));
        held.get(0).close();
        sleepUntil(start, 3000);
        settle(one.mutex("/a"));
        held.get(1).close();
        assertEquals(Optional.empty(), waiting.get(10, TimeUnit.SECONDS));
        long waited = Duration.ofNanos(System.nanoTime() - start).toMillis();
        long took = watch.stop();
        assertTrue(waited >= 4000, waited + " ms");
        assertTrue(took < 4400, took + " ms");
        awaitNodes(1, ABC);
        awaitWatches(0);
    }

    private static void sleepUntil(long start, long millis) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(start + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime());
    }

    @Test
    void whoGivesUpLetsThoseBehindInOnEveryPath() throws Exception {
        Lease held = two.mutex("/b").acquire();
        CountDownLatch interrupted = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            try {
                mutexes(one, ABC).acquire();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
        });
        waiter.start();
        awaitNodes(4, ABC);
        CompletableFuture<Lease> cancelled = mutexes(two, "/c", "/b").acquireAsync();
        awaitNodes(6, ABC);
        CompletableFuture<Lease> a = three.mutex("/a").acquireAsync();
        CompletableFuture<Lease> c = three.mutex("/c").acquireAsync();
        CompletableFuture<Lease> b = three.mutex("/b").acquireAsync();
        awaitNodes(9, ABC);
        waiter.interrupt();
        assertTrue(interrupted.await(5, TimeUnit.SECONDS));
        soon(a).close();
        assertFalse(c.isDone());
        assertTrue(cancelled.cancel(true));
        soon(c).close();
        settle(three.mutex("/b"));
        assertFalse(b.isDone());
        held.close();
        soon(b).close();
        awaitNothingLeft(ABC);
    }

    /** A member that would hold is not held: its going is no release, and nothing is handed over by it. */
    @Test
    void aMemberThatGivesUpIsNoHandOver() throws Exception {
        for (ZkLockClient client : List.of(three, one)) {
            Lease held = two.mutex("/a").acquire();
            CompletableFuture<Lease> both = mutexes(one, "/a", "/b").acquireAsync();
            awaitNodes(3, ABC);
            CompletableFuture<Lease> behind = client.mutex("/a").acquireAsync();
            CompletableFuture<Lease> free = client.mutex("/b").acquireAsync();
            awaitNodes(5, ABC);
            settle(client.mutex("/a"));
            assertTrue(both.cancel(false));
            soon(free).close();
            settle(client.mutex("/a"));
            assertFalse(behind.isDone(), "somebody else still holds");
            held.close();
            soon(behind).close();
        }
        awaitNothingLeft(ABC);
    }

    @Test
    void aMemberOfAnotherKindFailsTheWhole() throws Exception {
        two.mutex("/a").acquire().close();
        two.semaphore("/s", 3).acquire().close();
        two.readWriteLock("/rw").readLock().acquire().close();
        List<MultiLock> wrong = List.of(
                one.multiLock(one.mutex("/a"), one.mutex("/rw")),
                one.multiLock(one.mutex("/s"), one.mutex("/a")),
                one.multiLock(one.mutex("/a"), one.readWriteLock("/s").readLock()),
                one.multiLock(one.mutex("/a"), one.semaphore("/s", 4)),
                one.multiLock(one.readWriteLock("/rw").writeLock(), one.semaphore("/a", 1)));
        for (MultiLock lock : wrong) {
            assertThrows(LockMismatchException.class, lock::acquire, lock::toString);
            assertEquals(List.of(), nodes("/a", "/s", "/rw"), lock::toString);
            assertThrows(LockMismatchException.class, lock::tryAcquire);
            refusal(LockMismatchException.class, lock.acquireAsync());
        }
        awaitNothingLeft("/a", "/s", "/rw");
        LockMismatchException told =
                assertThrows(LockMismatchException.class, () -> one.multiLock(one.mutex("/a"), one.semaphore("/s", 4))
                        .acquire());
        assertTrue(told.getMessage().contains("/s"), told.getMessage());
        assertTrue(told.asked().contains("4") && told.found().contains("3"), told.getMessage());
        two.multiLock(
                        two.mutex("/a"),
                        two.semaphore("/s", 3),
                        two.readWriteLock("/rw").writeLock())
                .tryAcquire()
                .orElseThrow()
                .close();
    }

    @Test
    void aFailureLeavesNoPathThatNobodyWillEverClear() throws Exception {
        two.semaphore("/s", 3).acquire().close();
        assertThrows(LockMismatchException.class, () -> one.multiLock(one.mutex("/fresh/a"), one.mutex("/s"))
                .acquire());
        awaitNothingLeft("/fresh/a", "/s");
        reapAll();
        assertNeverMade("/fresh");
    }

    @Test
    void aMemberThatMayNotBeMadeFailsTheWhole() throws Exception {
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
    void aShrinkBelowWhatAMemberAsksTellsTheWhole() throws Exception {
        MultiLock lock = one.multiLock(one.mutex("/a"), one.semaphore("/s", 3).permits(3));
        Lease held = two.semaphore("/s", 3).acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        awaitNodes(3, "/a", "/s");
        CompletableFuture<Lease> behind = three.mutex("/a").acquireAsync();
        awaitNodes(4, "/a", "/s");
        two.semaphore("/s", 3).resize(2);
        LockMismatchException told = refusal(LockMismatchException.class, waiting);
        assertTrue(told.asked().contains("3") && told.found().contains("2"), told.getMessage());
        soon(behind).close();
        held.close();
        assertThrows(LockMismatchException.class, lock::acquire);
        awaitNothingLeft("/a", "/s");
        two.semaphore("/s", 3).resize(3);
        lock.acquire().close();
    }

    @Test
    void aGrowingMemberLetsTheWholeIn() throws Exception {
        Lease held = two.semaphore("/s", 3).permits(2).acquire();
        CompletableFuture<Lease> waiting = one.multiLock(
                        one.mutex("/a"), one.semaphore("/s", 3).permits(2))
                .acquireAsync();
        awaitNodes(3, "/a", "/s");
        settle(one.mutex("/a"));
        assertFalse(waiting.isDone());
        three.semaphore("/s", 3).resize(4);
        soon(waiting).close();
        held.close();
    }

    /** Creating is tried again when somebody else makes a path first; what was read for the former try says nothing of the next. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aRaceForMissingPathsLeavesNoNodeBehind(int members) throws Exception {
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

    @Test
    void badMembersAreRefusedAtTheDoor() throws Exception {
        Acquirable a = one.mutex("/never/a");
        Acquirable b = one.mutex("/never/b");
        MultiLock nested = one.multiLock(b);
        assertThrows(IllegalArgumentException.class, one::multiLock);
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(a, b, one.mutex("/never/a")));
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
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(a, nested));
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(a, two.mutex("/never/b")));
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(a, new Foreign()));
        assertThrows(NullPointerException.class, () -> one.multiLock((Acquirable[]) null));
        assertThrows(NullPointerException.class, () -> one.multiLock(a, null));
        assertThrows(NullPointerException.class, () -> nested.tryAcquire(null));
        assertThrows(IllegalArgumentException.class, () -> nested.tryAcquire(Duration.ofSeconds(-1)));
        StripedMutex stripes = one.stripedMutex("/never/stripes", 1);
        assertThrows(IllegalArgumentException.class, () -> one.multiLock(stripes.forKey("x"), stripes.forKey("y")));
        assertTrue(one.mutex("/fence").tryAcquire().isPresent());
        assertNeverMade("/never");
    }

    /** Somebody else's idea of a lock. */
    private static final class Foreign implements Acquirable {
        @Override
        public Lease acquire() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<Lease> tryAcquire() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<Lease> tryAcquire(Duration timeout) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Lease> acquireAsync() {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<Contender> queue() {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void membersAreGivenBackInTheirOrderAndCannotBeChanged() {
        Acquirable[] given = anyMix(one);
        MultiLock lock = one.multiLock(given);
        List<Acquirable> before = List.of(given);
        given[0] = one.mutex("/other");
        assertEquals(before, lock.members());
        assertThrows(UnsupportedOperationException.class, () -> lock.members().remove(0));
        assertThrows(UnsupportedOperationException.class, () -> lock.members().set(0, given[1]));
    }

    @Test
    void theQueueIsThatOfEachMemberOneAfterTheOther() throws Exception {
        Lease held = two.mutex("/b").acquire();
        CompletableFuture<Lease> waiting = mutexes(one, "/b", "/a").acquireAsync();
        awaitNodes(3, ABC);
        CompletableFuture<Lease> behind = three.mutex("/a").acquireAsync();
        awaitNodes(4, ABC);
        List<Contender> queue = mutexes(three, "/a", "/b", "/nowhere").queue();
        assertEquals(
                List.of("one", "three", "two", "one"),
                queue.stream().map(Contender::label).toList());
        assertEquals(
                List.of(Standing.HOLDS, Standing.WAITS, Standing.HOLDS, Standing.WAITS),
                queue.stream().map(Contender::standing).toList());
        assertEquals(queue.get(0).token(), queue.get(3).token(), "one request, one token");
        assertEquals(held.token(), queue.get(2).token());
        assertTrue(waiting.cancel(false));
        soon(behind);
    }

    // ---- loss

    @Test
    void whereOneNodeIsDeletedTheWholeIsLostAndTheOtherNodesGo() throws Exception {
        for (int deleted = 0; deleted < 3; deleted++) {
            Lease lease = mutexes(one, ABC).acquire();
            CompletableFuture<Lease> next = mutexes(two, ABC).acquireAsync();
            awaitNodes(6, ABC);
            deleteRequest(ABC[deleted], 0);
            assertEquals(LossCause.NODE_DELETED, lease.lost().get(10, TimeUnit.SECONDS));
            assertEquals(LeaseState.LOST, lease.state());
            assertThrows(LeaseLostException.class, lease::ensureValid);
            Lease granted = soon(next);
            assertEquals(ReleaseOutcome.LOST, lease.release());
            assertTrue(granted.isValid());
            granted.close();
        }
        awaitNothingLeft(ABC);
    }

    @Test
    void aReleaseThatFindsAMembersNodeGoneDeletesTheOthersAndSaysLost() throws Exception {
        for (int deleted = 0; deleted < 3; deleted++) {
            Lease lease = mutexes(one, ABC).acquire();
            deleteRequest(ABC[deleted], 0);
            assertEquals(ReleaseOutcome.LOST, lease.release(), "deleted " + ABC[deleted]);
            awaitNothingLeft(ABC);
        }
    }

    @Test
    void aWaitingRequestThatLosesAMembersNodeIsMadeAnewAndServed() throws Exception {
        for (int deleted = 0; deleted < 3; deleted++) {
            Lease held = two.mutex("/b").acquire();
            CompletableFuture<Lease> waiting = mutexes(one, ABC).acquireAsync();
            awaitNodes(4, ABC);
            settle(one.mutex("/a"));
            long first = requestsUnder("/a").get(0).created();
            deleteRequest(ABC[deleted], ABC[deleted].equals("/b") ? 1 : 0);
            awaitUntil(
                    "a new request on every path",
                    () -> nodes(ABC).size() == 4
                            && requestsUnder("/a").get(0).created() > first
                            && nodes(ABC).stream()
                                    .allMatch(node -> node.created() == held.token() || node.created() > first));
            assertFalse(waiting.isDone());
            held.close();
            Lease lease = soon(waiting);
            assertEquals(3, nodes(ABC).size());
            assertTrue(nodes(ABC).stream().allMatch(node -> node.created() == lease.token()));
            lease.close();
            awaitNothingLeft(ABC);
        }
    }

    @Test
    void theDeletedNodeOfAWaitingMemberNeverMakesTwoHolders() throws Exception {
        Lease held = two.mutex("/a").acquire();
        CompletableFuture<Lease> both = mutexes(one, "/a", "/b").acquireAsync();
        awaitNodes(3, ABC);
        CompletableFuture<Lease> third = three.mutex("/a").acquireAsync();
        awaitNodes(4, ABC);
        settle(three.mutex("/a"), one.mutex("/a"));
        deleteRequest("/a", 1);
        awaitUntil("it queues again", () -> requestsUnder("/a").size() == 3);
        held.close();
        Lease granted = soon(third);
        settle(one.mutex("/a"));
        assertFalse(both.isDone());
        assertTrue(granted.isValid());
        granted.close();
        soon(both).close();
    }

    @Test
    void aGuardedWriteIsRefusedIfAnyMembersNodeIsGone() throws Exception {
        ZooKeeper operator = handle();
        operator.create("/stock", new byte[] {1}, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
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
        }
        awaitNothingLeft(ABC);
    }

    @Test
    void closingTheClientTellsHoldersAndWaiters() throws Exception {
        Lease held = mutexes(two, "/a", "/b").acquire();
        CompletableFuture<Lease> waiting = mutexes(two, "/b", "/c").acquireAsync();
        awaitNodes(4, ABC);
        two.close();
        assertEquals(LossCause.CLIENT_CLOSED, held.lost().get(5, TimeUnit.SECONDS));
        assertThrows(Exception.class, waiting::join);
        awaitNothingLeft(ABC);
    }

    @Test
    void onABorrowedHandleClosingDeletesEveryNode() throws Exception {
        ZooKeeper handle = handle();
        ZkLockClient borrowing = ZkLockClient.using(handle);
        Lease held = mutexes(borrowing, "/a", "/b").acquire();
        CompletableFuture<Lease> waiting = mutexes(borrowing, "/b", "/c").acquireAsync();
        awaitNodes(4, ABC);
        borrowing.close();
        assertEquals(List.of(), nodes(ABC), "deleted before close returned");
        assertEquals(LeaseState.LOST, held.state());
        assertThrows(ExecutionException.class, () -> waiting.get(10, TimeUnit.SECONDS));
    }

    // ---- the ends of things

    @Test
    void theCountersEndOnOneMembersPathHeals() throws Exception {
        mutexes(one, ABC).acquire().close();
        server().setChildCounter("/b", Integer.MAX_VALUE - 2);
        List<CompletableFuture<Lease>> all = Stream.of(one, two, three, two, one)
                .map(client -> mutexes(client, ABC).acquireAsync())
                .toList();
        List<Lease> granted = new ArrayList<>();
        for (int served = 0; served < all.size(); served++) {
            awaitUntil("one more is served", () -> all.stream()
                    .anyMatch(future -> future.isDone() && !granted.contains(future.join())));
            List<Lease> now = all.stream()
                    .filter(CompletableFuture::isDone)
                    .map(CompletableFuture::join)
                    .filter(lease -> !granted.contains(lease))
                    .toList();
            assertEquals(1, now.size(), "one at a time");
            granted.addAll(now);
            now.get(0).close();
        }
        assertTrue(mutexes(three, ABC).tryAcquire().isPresent());
    }

    @Test
    void aReleaseIsOneTransaction() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient counted = patient(proxy);
        Lease lease = counted.multiLock(anyMix(counted)).acquire();
        Wire.Mark before = proxy.mark();
        assertEquals(ReleaseOutcome.RELEASED, lease.release());
        Wire wire = proxy.since(before);
        assertEquals(1, wire.requestsButHeartbeats(), wire::toString);
        assertEquals(1, wire.count(RequestMatch.multi().butHeartbeats()), wire::toString);
        assertNotEquals(0, wire.count(RequestMatch.delete()), wire::toString);
        assertEquals(List.of(), nodes(MIX));
    }
}
