// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.zk.internal.queue.PathData;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The list of locks beyond what the contract asks of every implementation. */
@Timeout(60)
class ListingTest extends OnOneServer {
    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final ZkLockClient client = client("lister");

    ListingTest() throws InterruptedException {}

    private static List<String> lines(LockListing listing) {
        assertTrue(listing.isComplete(), listing::toString);
        return listing.toString().lines().toList();
    }

    private static String permits(LockSummary lock) {
        return lock.path()
                + (lock.permits().isEmpty() && lock.capacity().isEmpty()
                        ? ": unknown"
                        : ": " + lock.permits().getAsInt() + " of "
                                + lock.capacity().getAsInt());
    }

    @Test
    void listing_hasAllKindsAndLayouts() throws Exception {
        ZkLockClient curator = client(builder -> builder.layout(Layout.CURATOR));
        ZkLockClient kazoo = client(builder -> builder.layout(Layout.KAZOO));
        client.mutex("/free").acquire().close();
        client.semaphore("/pool", 3).resize(5);
        // A semaphore of Curator: the last node below leases may still wait, as its client is in its turn to take a
        // permit.
        makeNode("/theirs");
        for (String node : List.of("", "/leases", "/leases/a-lease-0000000000", "/leases/b-lease-0000000001")) {
            makeNode("/theirs/permits" + node);
        }
        makeNode("/theirs/permits/locks");
        makeNode("/theirs/permits/locks/b-lock-0000000000");
        List<Lease> held = List.of(
                client.semaphore("/pool", 3).permits(2).acquire(),
                client.readWriteLock("/rw").readLock().acquire(),
                curator.mutex("/theirs/mutex").acquire(),
                kazoo.readWriteLock("/theirs/script").readLock().acquire(),
                kazoo.mutex("/theirs/turn").acquire());
        var waiting = List.of(
                client.semaphore("/pool", 3).permits(4).acquireAsync(),
                client.readWriteLock("/rw").writeLock().acquireAsync(),
                kazoo.readWriteLock("/theirs/script").writeLock().acquireAsync());
        awaitUntil(
                "they wait",
                () -> client.listLocks("/").locks().stream()
                                .mapToInt(lock -> lock.waiters())
                                .sum()
                        == waiting.size() + 1);

        assertEquals(
                List.of(
                        "mutex /free: 0 holding, 0 waiting (latchkey)",
                        "semaphore of capacity 5 /pool: 1 holding, 1 waiting (latchkey)",
                        "read-write /rw: 1 holding, 1 waiting (latchkey)",
                        "mutex /theirs/mutex: 1 holding, 0 waiting (curator)",
                        "semaphore /theirs/permits: 1 holding, 1 waiting (curator)",
                        "read-write /theirs/script: 1 holding, 1 waiting (kazoo)",
                        "mutex /theirs/turn: 1 holding, 0 waiting (kazoo)"),
                lines(client.listLocks("/")));
        assertEquals(
                List.of(
                        "/free: 1 of 1",
                        "/pool: 3 of 5",
                        "/rw: 1 of 1",
                        "/theirs/mutex: 1 of 1",
                        "/theirs/permits: unknown",
                        "/theirs/script: 1 of 1",
                        "/theirs/turn: 1 of 1"),
                client.listLocks("/").locks().stream().map(ListingTest::permits).toList());
        assertEquals(lines(curator.listLocks("/")), lines(client.listLocks("/")), "whatever the client's own layout");
        held.forEach(Lease::close);
    }

    @Test
    void listingIsOfTheBasePath_whenTheClientHasOne() throws Exception {
        ZkLockClient inside = client(builder -> builder.basePath("/app"));
        Lease own = inside.mutex("/a").acquire();
        Lease outside = client.mutex("/b").acquire();
        Lease above = client.mutex("/app").acquire();
        assertEquals(List.of("mutex /a: 1 holding, 0 waiting (latchkey)"), lines(inside.listLocks("/")));
        assertEquals(
                List.of(
                        "mutex /app: 1 holding, 0 waiting (latchkey)",
                        "mutex /app/a: 1 holding, 0 waiting (latchkey)",
                        "mutex /b: 1 holding, 0 waiting (latchkey)"),
                lines(client.listLocks("/")));
        assertEquals(List.of("mutex /app: 1 holding, 0 waiting (latchkey)"), lines(client.listLocksAt("/app")));
        handle().create("/app/secret", new byte[0], ALL_BUT_READ, CreateMode.PERSISTENT);
        LockException denied = inside.listLocks("/").unreadable().get("/secret");
        assertTrue(denied.getMessage().contains(" at /secret ("), denied::getMessage);
        List.of(own, outside, above).forEach(Lease::close);
    }

    @Test
    void unreadableNodesAreNamed_andTheRestIsListed() throws Exception {
        Lease held = client.mutex("/tenant/a").acquire();
        ZooKeeper operator = handle();
        operator.create("/tenant/secret", new byte[0], ALL_BUT_READ, CreateMode.PERSISTENT);
        makeNode("/tenant/secret/below");
        makeNode("/tenant/request");
        operator.create(
                "/tenant/request/write-0123456789abcdef-0000000000", new byte[0], ALL_BUT_READ, CreateMode.PERSISTENT);
        client.mutex("/tenant/a/block/c").acquire().close();
        LockListing seen = client.listLocks("/tenant");
        assertEquals(
                List.of("/tenant/a", "/tenant/a/block/c"),
                seen.locks().stream().map(lock -> lock.path()).toList());
        assertEquals(List.of("/tenant/secret"), List.copyOf(seen.unreadable().keySet()));
        assertInstanceOf(AccessDeniedException.class, seen.unreadable().get("/tenant/secret"));
        assertFalse(seen.isComplete());
        held.close();
    }

    /** An operator takes the right away between the reads of a node's data and of its children. */
    @Test
    void nodeIsNamedAsUnreadable_whenItsChildrenAreDenied() throws Exception {
        Lease held = client.mutex("/tenant/a").acquire();
        FaultProxy proxy = fastProxy();
        ZkLockClient behind = client(builder -> builder.connectString(proxy.connectString()));
        HeldFrames answers = proxy.holdAnswers(RequestMatch.getData().path("of the lock", "/tenant/a"::equals));
        CompletableFuture<LockListing> listing = behind.listLocksAsync("/tenant");
        answers.firstCaught().get(10, TimeUnit.SECONDS);
        handle().setACL("/tenant/a", ALL_BUT_READ, -1);
        answers.release();
        LockListing seen = soon(listing);
        assertEquals(List.of("/tenant/a"), List.copyOf(seen.unreadable().keySet()), seen::toString);
        assertInstanceOf(AccessDeniedException.class, seen.unreadable().get("/tenant/a"));
        held.close();
    }

    /** The hashes of these names have another order, wherever one begins and in either direction. */
    @Test
    void unreadableNodesAreNamedInTheOrderOfTheirPaths() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/tenant");
        makeNode("/tenant/semaphore");
        List<String> secret = List.of("/tenant/a", "/tenant/k", "/tenant/r", "/tenant/semaphore/leases", "/tenant/t");
        for (String path : secret) {
            operator.create(path, new byte[0], ALL_BUT_READ, CreateMode.PERSISTENT);
        }
        client.mutex("/tenant/semaphore/job").acquire().close();
        LockListing seen = client.listLocks("/tenant");
        assertEquals(secret, List.copyOf(seen.unreadable().keySet()));
        assertEquals("/tenant/semaphore/job", seen.locks().get(0).path());
        seen.unreadable().values().forEach(why -> assertInstanceOf(AccessDeniedException.class, why));
    }

    /** A lock at its parent takes such a node for a request of Curator, and does not work there. */
    @Test
    void locksBelowAPathNamedAsARequest_areFound() throws Exception {
        for (String path : List.of("/old", "/old/block-1700000000", "/old/block-1700000000/deep")) {
            makeNode(path);
        }
        ZkLockClient below =
                client(builder -> builder.connectString(server().connectString() + "/old/block-1700000000"));
        Lease held = below.mutex("/deep/job").acquire();
        LockListing seen = client.listLocks("/old");
        assertEquals(
                List.of("/old/block-1700000000/deep/job"),
                List.copyOf(seen.unreadable().keySet()));
        LockException why = seen.unreadable().get("/old/block-1700000000/deep/job");
        assertEquals(LockException.Reason.BAD_PATH, why.reason());
        assertTrue(why.getMessage().endsWith(". A lock there is not listed."), why::getMessage);
        assertEquals(
                seen.unreadable().keySet(),
                client.listLocks("/old/block-1700000000").unreadable().keySet());
        held.close();
    }

    /** For the mutex at its parent it is no request, as its name is that of a request for a permit. */
    @Test
    void locksBelowAPathNamedAsARequestOfAnotherKind_areFound() throws Exception {
        for (String path : List.of("/jobs", "/jobs/a-lock-0000000000", "/jobs/b-lease-0000000001")) {
            makeNode(path);
        }
        ZkLockClient below =
                client(builder -> builder.connectString(server().connectString() + "/jobs/b-lease-0000000001"));
        below.mutex("/job").acquire().close();
        assertEquals(
                List.of("/jobs/b-lease-0000000001/job"),
                List.copyOf(client.listLocks("/jobs").unreadable().keySet()));
    }

    /**
     * Two nodes are named as those of a semaphore but have no requests, and two kinds of requests are mixed. A hyphen
     * comes before the slash as a character, but the paths below another come right behind it.
     */
    @Test
    void locksOfCuratorAreRecognisedAndListedInOrder_byTheNamesOfTheirRequests() throws Exception {
        for (String path : List.of(
                "/mixed",
                "/mixed/a-lock-0000000000",
                "/mixed/b-__READ__0000000001",
                "/pool",
                "/pool/leases",
                "/pool/leases/a-lease-0000000000",
                "/pool/leases/b-lease-0000000001")) {
            makeNode(path);
        }
        for (String path : List.of(
                "/app-late",
                "/app/leases/job",
                "/app/locks/job",
                "/pool/job",
                "/pool/leases/job",
                "/pool/locks/deep/job")) {
            client.mutex(path).acquire().close();
        }
        assertEquals(
                List.of(
                        "mutex /app/leases/job: 0 holding, 0 waiting (latchkey)",
                        "mutex /app/locks/job: 0 holding, 0 waiting (latchkey)",
                        "mutex /app-late: 0 holding, 0 waiting (latchkey)",
                        "read-write /mixed: 1 holding, 0 waiting (curator)",
                        "mutex /mixed: 1 holding, 0 waiting (curator)",
                        "semaphore /pool: 2 holding, 0 waiting (curator)",
                        "mutex /pool/job: 0 holding, 0 waiting (latchkey)",
                        "mutex /pool/leases/job: 0 holding, 0 waiting (latchkey)",
                        "mutex /pool/locks/deep/job: 0 holding, 0 waiting (latchkey)"),
                lines(client.listLocks("/")));
    }

    @Test
    void firstMissingPathIsNamed_whenThereAreTooManyNodes() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/many");
        for (int thousand = 0; thousand < 6; thousand++) {
            List<Op> some = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                some.add(Op.create(
                        String.format("/many/%d%03d", thousand, i),
                        "latchkey/3 mutex".getBytes(StandardCharsets.US_ASCII),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT));
            }
            operator.multi(some);
        }
        // They are found when the bound is reached.
        makeNode("/many/0000/below");
        makeNode("/many/0001/below");
        LockListing seen = client.listLocks("/many");
        assertEquals(4_999, seen.locks().size());
        assertEquals("/many/4998", seen.locks().get(4_998).path());
        assertEquals(List.of("/many/0000/below"), List.copyOf(seen.unreadable().keySet()));
        assertTrue(seen.toString().contains("More than 5000 nodes"), () -> seen.unreadable()
                .toString());
    }

    @Test
    void nodeWithTooManyChildrenIsNamed_andTheRestIsListed() throws Exception {
        client.mutex("/tenant/a").acquire().close();
        ZooKeeper operator = handle();
        makeNode("/tenant/data");
        ForgedRequests.create(
                operator, CreateMode.PERSISTENT, "/tenant/data", ForgedRequests.writers(1_000_000_000, 10_001));
        LockListing seen = client.listLocks("/tenant");
        assertEquals(
                List.of("/tenant/a"),
                seen.locks().stream().map(lock -> lock.path()).toList());
        assertEquals(List.of("/tenant/data"), List.copyOf(seen.unreadable().keySet()));
        LockException missing = seen.unreadable().get("/tenant/data");
        assertTrue(missing.getMessage().contains("It has 10001 children"), missing::getMessage);
        assertTrue(missing.getMessage().contains("alone: listLocksAt(...), or 'latchkey show'"), missing::getMessage);
        assertEquals(List.of(), lines(client.listLocksAt("/tenant/data")), "alone it is read");
    }

    @Test
    @Tag("slow")
    void lockIsNamed_whenAllOfThemHaveTooManyRequests() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/tenant");
        for (var each : Map.of("/tenant/a", 5_001, "/tenant/b", 5_001, "/tenant/c", 4_999)
                .entrySet()) {
            makeNode(each.getKey(), PathData.MUTEX.bytes());
            ForgedRequests.create(
                    operator,
                    CreateMode.PERSISTENT,
                    each.getKey(),
                    ForgedRequests.writers(1_000_000_000, each.getValue()));
        }
        LockListing seen = client.listLocks("/tenant");
        assertEquals(
                List.of("/tenant/a", "/tenant/c"),
                seen.locks().stream().map(lock -> lock.path()).toList());
        assertEquals(List.of("/tenant/b"), List.copyOf(seen.unreadable().keySet()));
        LockException missing = seen.unreadable().get("/tenant/b");
        assertTrue(missing.getMessage().contains("It has 5001 requests"), missing::getMessage);
        assertTrue(missing.getMessage().contains("alone: listLocksAt(...), or 'latchkey show'"), missing::getMessage);
    }

    @Test
    void listingCostsWhatItsDescriptionSays() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient counted = patient(proxy);
        Lease held = client.mutex("/cost/a").acquire();
        client.mutex("/cost/b").acquire().close();
        var waiting = client.mutex("/cost/a").acquireAsync();
        awaitRequests("/cost/a", 2);
        Wire.Mark before = proxy.mark();
        assertEquals(2, counted.listLocks("/cost").locks().size());
        int parent = 2;
        int used = 2 + 2 + 2;
        int unused = 1;
        assertEquals(
                parent + used + unused, proxy.since(before).requestsButHeartbeats(), proxy.since(before)::toString);
        held.close();
        soon(waiting).close();
    }

    @Test
    void listingOfACuratorsSemaphoreCostsWhatItsDescriptionSays() throws Exception {
        for (String node : List.of(
                "",
                "/leases",
                "/leases/a-lease-0000000000",
                "/leases/b-lease-0000000001",
                "/locks",
                "/locks/b-lock-0000000000")) {
            makeNode("/pool" + node);
        }
        FaultProxy proxy = proxy();
        ZkLockClient counted = patient(proxy);
        Wire.Mark before = proxy.mark();
        assertEquals(1, counted.listLocks("/pool").locks().size());
        int nodes = 3 * 2;
        int used = 4;
        int requests = 3;
        assertEquals(
                nodes + used + requests, proxy.since(before).requestsButHeartbeats(), proxy.since(before)::toString);
    }

    @Test
    void listingIsComplete_whenTheConnectionBreaksInBetween() throws Exception {
        FaultProxy proxy = fastProxy();
        ZkLockClient cut = patient(proxy);
        for (int i = 0; i < 20; i++) {
            client.mutex("/cut/" + i).acquire().close();
        }
        Lease held = client.mutex("/cut/7").acquire();
        var fault = proxy.cutBefore(RequestMatch.getData().under("/cut"), 12);
        LockListing seen = cut.listLocks("/cut");
        fault.await(Duration.ofSeconds(10));
        assertEquals(20, lines(seen).size());
        held.close();
    }

    @Test
    void listingIsComplete_whenTheConnectionBreaksAtARequestOfAQueue() throws Exception {
        LockClient client = locks.client("mine");
        Lease held = client.mutex("/a").acquire();
        var cut = locks.cutBefore(client, RequestMatch.getData().under("/a/"), 1);
        assertEquals(List.of("mutex /a: 1 holding, 0 waiting (latchkey)"), lines(client.listLocks("/")));
        assertTrue(cut.struck().isDone(), "the request was not read");
        held.close();
    }

    @Test
    void nodeIsNamed_whenTheConnectionBreaksAtEachReadOfIt() throws Exception {
        LockClient client = locks.client("mine");
        client.mutex("/a").acquire().close();
        client.mutex("/b").acquire().close();
        RequestMatch read = RequestMatch.getData().path("of /a", "/a"::equals);
        var cuts = List.of(locks.cutBefore(client, read, 1), locks.cutBefore(client, read, 2));
        LockListing seen = client.listLocks("/");
        assertTrue(cuts.get(1).struck().isDone(), "the node was not read again");
        assertEquals(List.of("/b"), seen.locks().stream().map(LockSummary::path).toList());
        assertEquals(List.of("/a"), List.copyOf(seen.unreadable().keySet()));
        String why = String.valueOf(seen.unreadable().get("/a").getMessage());
        assertTrue(why.contains("raise jute.maxbuffer"), why);
    }

    @Test
    void listingEnds_whenNoServerAnswers() throws Exception {
        LockClient client =
                locks.builder().sessionTimeout(Duration.ofMillis(600)).build();
        client.mutex("/a/b").acquire().close();
        assertEquals(1, client.listLocks("/").locks().size());
        locks.cutOff(client);
        CompletableFuture<LockListing> asked = client.listLocksAsync("/");
        locks.advance(Duration.ofMillis(700));
        LockListing seen = soon(asked);
        assertEquals(List.of(), seen.locks());
        Map<String, LockException> missing = seen.unreadable();
        assertEquals(List.of("/"), List.copyOf(missing.keySet()));
        assertInstanceOf(LockServiceUnavailableException.class, missing.get("/"));
        locks.heal(client);
    }

    @Test
    void firstPathWithoutAnAnswerIsNamed_whenTheOthersWereRead() throws Exception {
        LockClient client = locks.client("mine");
        client.mutex("/a").acquire().close();
        client.mutex("/b/c").acquire().close();
        var held = locks.holdAnswers(client, RequestMatch.any().path("of /b", "/b"::equals));
        CompletableFuture<LockListing> asked = client.listLocksAsync("/");
        locks.advance(Duration.ofSeconds(11));
        LockListing seen = soon(asked);
        assertEquals(List.of("/b"), List.copyOf(seen.unreadable().keySet()));
        assertEquals(List.of("/a"), seen.locks().stream().map(LockSummary::path).toList());
        held.release();
    }

    /** The answers to two reads are late, each by less than a session timeout, and together by more. */
    @Test
    void listingIsComplete_whenItTakesLongerThanASessionTimeout() throws Exception {
        LockClient client = locks.client("mine");
        client.mutex("/a/b").acquire().close();
        var first = locks.holdAnswers(client, RequestMatch.getData().path("of /a", "/a"::equals));
        var second = locks.holdAnswers(client, RequestMatch.getData().path("of /a/b", "/a/b"::equals));
        CompletableFuture<LockListing> asked = client.listLocksAsync("/");
        locks.advance(Duration.ofSeconds(6));
        first.release();
        locks.advance(Duration.ofSeconds(6));
        assertTrue(second.firstCaught().isDone(), "the second read was not sent");
        second.release();
        assertEquals(List.of("mutex /a/b: 0 holding, 0 waiting (latchkey)"), lines(soon(asked)));
    }

    @Test
    void nothingIsRead_afterAListingWasCancelled() throws Exception {
        LockClient client = locks.client("mine");
        client.mutex("/a/b").acquire().close();
        var first = locks.holdAnswers(client, RequestMatch.getData().path("of /a", "/a"::equals));
        var second = locks.holdAnswers(client, RequestMatch.any().path("of /a/b", "/a/b"::equals));
        CompletableFuture<LockListing> asked = client.listLocksAsync("/");
        first.firstCaught().get(10, TimeUnit.SECONDS);
        assertTrue(asked.cancel(false));
        first.release();
        locks.advance(Duration.ofSeconds(1));
        assertFalse(second.firstCaught().isDone(), "the search goes on");
    }

    /** All that a listing reads of a lock at a path which might be one of Curator's semaphores. */
    @ParameterizedTest
    @CsvSource({
        "GET_DATA, /pool",
        "GET_CHILDREN2, /pool",
        "GET_DATA, /pool/leases",
        "GET_CHILDREN2, /pool/leases",
        "GET_DATA, /pool/leases/job",
        "GET_CHILDREN2, /pool/leases/job",
        "GET_DATA, /pool/leases/job/write-"
    })
    void questionOfAListingIsAskedAgain_whenAServerThrottlesIt_untilItIsCancelled(WireRecord.Op op, String path)
            throws Exception {
        LockClient client = locks.client("mine");
        Lease held = client.mutex("/pool/leases/job").acquire();
        RequestMatch question = RequestMatch.of(
                op + " " + path,
                request -> request.op() == op
                        && (path.endsWith("-")
                                ? request.path().startsWith(path)
                                : request.path().equals(path)));
        var first = locks.refuseRequest(client, question, 1, KeeperException.Code.THROTTLEDOP);
        CompletableFuture<LockListing> asked = client.listLocksAsync("/");
        assertTrue(first.struck().isDone(), "it was not read");
        locks.advance(Duration.ofSeconds(1));
        assertEquals(List.of("mutex /pool/leases/job: 1 holding, 0 waiting (latchkey)"), lines(soon(asked)));

        first = locks.refuseRequest(client, question, 1, KeeperException.Code.THROTTLEDOP);
        var second = locks.refuseRequest(client, question, 2, KeeperException.Code.THROTTLEDOP);
        asked = client.listLocksAsync("/");
        assertTrue(first.struck().isDone(), "it was not read");
        assertTrue(asked.cancel(false));
        locks.advance(Duration.ofSeconds(1));
        assertFalse(second.struck().isDone(), "it is asked again");
        held.close();
    }

    @Test
    void nothingIsRead_afterTheThreadOfAListingWasInterrupted() throws Exception {
        LockClient client = locks.client("mine");
        client.mutex("/a/b").acquire().close();
        var first = locks.holdAnswers(client, RequestMatch.getData().path("of /a", "/a"::equals));
        var second = locks.holdAnswers(client, RequestMatch.any().path("of /a/b", "/a/b"::equals));
        Thread listing = new Thread(() -> assertInterrupted(() -> client.listLocks("/")));
        listing.start();
        first.firstCaught().get(10, TimeUnit.SECONDS);
        listing.interrupt();
        listing.join();
        first.release();
        locks.advance(Duration.ofSeconds(1));
        assertFalse(second.firstCaught().isDone(), "the search goes on");
    }

    @Test
    void listingFails_whenTheClientIsClosedOrTheThreadInterrupted() throws Exception {
        FaultProxy proxy = fastProxy();
        ZkLockClient away = patient(proxy);
        client.mutex("/m").acquire().close();
        proxy.refuse();
        proxy.cut();
        CompletableFuture<LockListing> asked = away.listLocksAsync("/");
        assertFalse(asked.isDone());
        Thread.currentThread().interrupt();
        assertInterrupted(() -> away.listLocks("/"));
        away.close();
        ClientClosedException unused = refusal(ClientClosedException.class, asked);
    }
}
