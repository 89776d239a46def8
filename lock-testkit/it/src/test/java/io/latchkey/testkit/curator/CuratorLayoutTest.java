// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.admin.Contender;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Latchkey in Curator's layout beside Curator 5.9.0 itself, step by step; at random in {@link BesideCuratorProperties}.
 */
@LatchkeyTest
@Timeout(60)
class CuratorLayoutTest {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(6));
    private static final Duration SOON = Slowness.stretched(Duration.ofSeconds(10));

    private final List<FaultyClient> clients = new ArrayList<>();
    private final List<FaultyClient> ours = new ArrayList<>();
    private final List<FaultyClient> curators = new ArrayList<>();
    /** In the own layout. */
    private LockClient plain;

    private EmbeddedZooKeeper server;
    private Random random;
    private long seed;

    @BeforeEach
    void connect(EmbeddedZooKeeper given) throws InterruptedException {
        server = given;
        seed = Long.getLong("latchkey.seed", System.nanoTime());
        random = new Random(seed);
        for (int i = 0; i < 2; i++) {
            ours.add(FaultyClient.connect(server, SESSION, Reconnects.FAST, builder -> builder.layout(Layout.CURATOR)));
            curators.add(FaultyClient.connect(server, SESSION, Reconnects.FAST, CuratorFixture::connect));
        }
        clients.addAll(ours);
        clients.addAll(curators);
        plain = ZkLockClient.connect(server.connectString());
    }

    @AfterEach
    void close() {
        plain.close();
        clients.forEach(FaultyClient::close);
    }

    private CuratorFramework framework() {
        return ((CuratorLockClient) curators.get(0).client()).framework();
    }

    private FaultyClient anybody() {
        return clients.get(random.nextInt(clients.size()));
    }

    private long requests(String path) {
        return server.nodesUnder(path).stream().filter(ServerNode::isEphemeral).count();
    }

    private static void await(String what, Eventually.Condition condition) throws InterruptedException {
        Eventually.holds(what, Duration.ofSeconds(10), condition);
    }

    /** Asks, and waits until the request stands at the server. */
    private CompletableFuture<Lease> asked(Acquirable lock, String path) throws InterruptedException {
        long before = requests(path);
        CompletableFuture<Lease> asked = lock.acquireAsync();
        await("a request more under " + path, () -> requests(path) > before);
        return asked;
    }

    private static Lease granted(CompletableFuture<Lease> asked) throws Exception {
        return asked.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void readersShareAndWritersExclude_inAllLayouts() throws Exception {
        List<Boolean> writes = new ArrayList<>();
        List<CompletableFuture<Lease>> queue = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            LockClient client = anybody().client();
            boolean write = random.nextInt(3) == 0;
            writes.add(write);
            queue.add(asked(
                    write
                            ? client.readWriteLock("/doc").writeLock()
                            : client.readWriteLock("/doc").readLock(),
                    "/doc"));
        }
        for (int i = 0; i < queue.size(); ) {
            int end = i + 1;
            while (!writes.get(i) && end < queue.size() && !writes.get(end)) {
                end++;
            }
            List<Lease> together = new ArrayList<>();
            for (CompletableFuture<Lease> each : queue.subList(i, end)) {
                together.add(granted(each));
            }
            for (CompletableFuture<Lease> behind : queue.subList(end, queue.size())) {
                assertFalse(behind.isDone(), "seed " + seed);
            }
            together.forEach(Lease::close);
            i = end;
        }
    }

    @Test
    void lockGoesToCurator_whenItsLimitHasPassed() throws Exception {
        Acquirable limited = ours.get(0).client().mutex("/limit").heldAtMost(Duration.ofMillis(200));
        Lease held = granted(limited.acquireAsync()); // its request may be gone before a look
        Lease next = granted(curators.get(0).client().mutex("/limit").acquireAsync());
        assertEquals(
                LossCause.HELD_TOO_LONG, held.lost().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS));
        next.close();
        await("nothing left", () -> requests("/limit") == 0);
    }

    /** Curator's re-entrant reader stands in its writer's place, as ours does after a downgrade. */
    @SuppressWarnings("LockNotBeforeTry") // The order of the steps is what is tested; the clients' end unlocks.
    @Test
    void readersAreGrantedAndWritersWait_afterADowngrade() throws Exception {
        Lease write = ours.get(0).client().readWriteLock("/down").writeLock().acquire();
        CompletableFuture<Lease> reader =
                asked(curators.get(0).client().readWriteLock("/down").readLock(), "/down");
        CompletableFuture<Lease> writer =
                asked(curators.get(1).client().readWriteLock("/down").writeLock(), "/down");
        Lease read = ours.get(0).client().readWriteLock("/down").downgrade(write);
        assertEquals(write.token(), read.token());
        granted(reader).close();
        assertFalse(writer.isDone());
        read.close();
        granted(writer).close();

        InterProcessReadWriteLock reEntrant = new InterProcessReadWriteLock(framework(), "/re-entrant");
        reEntrant.writeLock().acquire();
        reEntrant.readLock().acquire();
        CompletableFuture<Lease> ourReader =
                asked(ours.get(0).client().readWriteLock("/re-entrant").readLock(), "/re-entrant");
        CompletableFuture<Lease> ourWriter =
                asked(ours.get(1).client().readWriteLock("/re-entrant").writeLock(), "/re-entrant");
        assertFalse(ourReader.isDone());
        reEntrant.writeLock().release();
        granted(ourReader).close();
        assertFalse(ourWriter.isDone());
        reEntrant.readLock().release();
        granted(ourWriter).close();
    }

    @Test
    void dataOfThePathIsLeftUnchanged() throws Exception {
        CuratorFramework framework = framework();
        framework.create().withMode(CreateMode.PERSISTENT).forPath("/theirs", "notes".getBytes(UTF_8));
        ours.get(0).client().mutex("/theirs").acquire().close();
        assertEquals("notes", new String(framework.getData().forPath("/theirs"), UTF_8));
        ours.get(0).client().mutex("/levels/made/by/us").acquire().close();
        assertEquals(0, framework.getData().forPath("/levels/made/by/us").length);
        granted(asked(curators.get(0).client().mutex("/levels/made/by/us"), "/levels"))
                .close();
        assertEquals(
                List.of("/levels/made/by/us", "/levels/made/by", "/levels/made", "/levels"),
                Stream.generate(this::reaped).limit(4).flatMap(List::stream).toList());
    }

    private List<String> reaped() {
        try {
            return server.reapContainers().stream()
                    .filter(path -> path.startsWith("/levels"))
                    .toList();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void curatorsRequestsAreShownAndEvicted() throws Exception {
        granted(asked(curators.get(0).client().mutex("/admin"), "/admin"));
        CompletableFuture<Lease> next = asked(ours.get(0).client().mutex("/admin"), "/admin");
        List<Contender> queue = ours.get(1).client().mutex("/admin").queue();
        assertEquals(
                List.of(Contender.State.HOLDING, Contender.State.WAITING),
                queue.stream().map(Contender::state).toList());
        assertTrue(
                queue.get(0).owner().host().matches("[0-9a-fA-F.:%a-z]+"),
                queue.get(0).owner().host());
        assertEquals(ours.get(0).name(), queue.get(1).owner().label());
        assertEquals(Contender.ReleaseRequestResult.NOT_LISTENING, queue.get(0).requestRelease());
        assertEquals(Contender.Eviction.EVICTED, queue.get(0).evict());
        granted(next).close();
    }

    @Test
    void locksThatCannotBeShared_areRefusedBeforeAnythingIsSent() throws Exception {
        LockClient client = ours.get(0).client();
        Wire.Mark mark = ours.get(0).proxy().mark();
        assertThrows(
                UnsupportedOperationException.class, () -> client.multiLock(client.mutex("/a"), client.mutex("/b")));
        UnsupportedOperationException refused =
                assertThrows(UnsupportedOperationException.class, () -> client.semaphore("/a", 2));
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains("no semaphore in this client's layout"), message);
        assertTrue(message.contains("Nothing was sent") && message.contains("Layout.LATCHKEY"), message);
        assertEquals(0, ours.get(0).proxy().since(mark).requestsButHeartbeats());
        Lease lease = client.mutex("/a").acquire();
        assertThrows(UnsupportedOperationException.class, lease::releaseRequested);
        lease.close();
    }

    private ServerNode nodeAt(String path) {
        return server.nodesUnder("/").stream()
                .filter(node -> node.path().equals(path))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void otherUseOfAPath_isRefused() throws Exception {
        Lease held = granted(asked(curators.get(0).client().mutex("/use"), "/use"));
        Acquirable read = ours.get(0).client().readWriteLock("/use").readLock();
        LockMismatchException told = assertThrows(LockMismatchException.class, read::acquire);
        assertTrue(told.getMessage().contains("Curator's mutex"), told.getMessage());
        told = assertThrows(
                LockMismatchException.class, () -> plain.mutex("/use").acquire());
        assertTrue(told.getMessage().contains("layout(...)"), told.getMessage());
        assertTrue(told.getMessage().contains("both clients could hold the lock"), told.getMessage());
        assertEquals("", nodeAt("/use").text(), "what is not ours is left as it is");
        Lease native1 = plain.mutex("/native").acquire();
        assertThrows(
                LockMismatchException.class,
                () -> ours.get(0).client().mutex("/native").acquire());
        native1.close();
        await("only the holder", () -> requests("/use") == 1);
        held.close();
    }

    @Test
    void semaphoreOfTheOwnLayout_isRefusedBesidePermitsOfCurator() throws Exception {
        Lease held = granted(asked(curators.get(0).client().semaphore("/drained", 1), "/drained"));
        Semaphore own = plain.semaphore("/drained", 1);
        LockMismatchException told = assertThrows(LockMismatchException.class, own::tryAcquire);
        assertTrue(told.getMessage().contains("Curator"), told.getMessage());
        assertThrows(LockMismatchException.class, () -> own.resize(5));
        assertEquals("", nodeAt("/drained").text(), "what is not ours is left as it is");
        await("the holder alone", () -> requests("/drained") == 1);
        held.close();
    }

    /** It does not look, so it cannot be refused. */
    @Test
    void curatorThatComesLater_isReportedToWaitersOfTheOwnLayout() throws Exception {
        Lease held = plain.semaphore("/later", 1).acquire();
        CompletableFuture<Lease> waiting = asked(plain.semaphore("/later", 1), "/later");
        granted(asked(curators.get(0).client().semaphore("/later", 1), "/later/leases"));
        assertThrows(
                LockMismatchException.class, () -> plain.semaphore("/later", 1).acquire());
        held.close();
        ExecutionException told = assertThrows(ExecutionException.class, () -> granted(waiting));
        assertInstanceOf(LockMismatchException.class, told.getCause());
    }

    /** It cannot be refused, and the holder reads no list: the next list of the holder's client shows it. */
    @Test
    void curatorThatComesLater_isLoggedOnceByTheClientOfAHolder_whenAnyListShowsIt() throws Exception {
        try (LoggedWarnings log = LoggedWarnings.listen()) {
            CuratorLockClient curator = (CuratorLockClient) curators.get(0).client();
            for (Function<LockClient, Acquirable> lock : List.<Function<LockClient, Acquirable>>of(
                    client -> client.mutex("/seen/mutex"),
                    client -> client.readWriteLock("/seen/read-write").writeLock(),
                    client -> client.semaphore("/seen/semaphore", 1))) {
                Acquirable own = lock.apply(plain);
                Lease held = own.acquire();
                String path = held.path();
                Lease theirs = granted(lock.apply(curator).acquireAsync());
                assertTrue(held.isValid(), "nothing refuses either of them");
                assertEquals(List.of(), log.with(path));
                for (int i = 0; i < 2; i++) {
                    assertEquals(1, own.queue().size());
                    assertThrows(LockMismatchException.class, own::tryAcquire);
                }
                List<String> lines = log.awaited(path);
                assertEquals(1, lines.size(), () -> "logged: " + lines);
                String line = lines.get(0);
                String node = server.nodesUnder(path).stream()
                        .map(ServerNode::name)
                        .filter(name -> name.equals("leases") || name.startsWith("_c_"))
                        .findFirst()
                        .orElseThrow();
                assertTrue(line.contains(node) && line.contains("layout(...)"), line);
                theirs.close();
                held.close();
            }
        }
    }

    /** Of a path that has no kind of lock yet, of one that has, and when the request has been given up in between. */
    @Test
    void curatorIsLogged_whenTheListOfARequestShowsIt() throws Exception {
        FaultyClient own = FaultyClient.connect(server, SESSION, Reconnects.FAST, builder -> {});
        clients.add(own);
        LockClient curator = curators.get(0).client();
        try (LoggedWarnings log = LoggedWarnings.listen()) {
            framework().create().creatingParentsIfNeeded().forPath("/shown/unused", new byte[0]);
            Lease held = own.client().mutex("/shown/held").acquire();
            Lease other = own.client().mutex("/shown/given-up").acquire();
            List<String> paths = List.of("/shown/unused", "/shown/held", "/shown/given-up");
            for (String path : paths) {
                granted(curator.mutex(path).acquireAsync());
            }
            HeldFrames lists = own.proxy().holdAnswers(RequestMatch.list().under("/shown/given-up"));
            CompletableFuture<Lease> asked =
                    own.client().mutex("/shown/given-up").acquireAsync();
            lists.firstCaught().get(SOON.toSeconds(), TimeUnit.SECONDS);
            assertTrue(asked.cancel(false));
            lists.release();
            for (String path : paths.subList(0, 2)) {
                assertThrows(
                        LockMismatchException.class,
                        () -> own.client().mutex(path).tryAcquire());
            }
            for (String path : paths) {
                assertEquals(
                        1, log.awaited(path + " is in use by two kinds of lock").size(), path);
            }
            assertTrue(held.isValid() && other.isValid());
        }
    }

    @Test
    void curatorThatComesLater_isLoggedWhenAResizeFindsIt() throws Exception {
        try (LoggedWarnings log = LoggedWarnings.listen()) {
            Semaphore own = plain.semaphore("/resized", 2);
            Lease held = own.acquire();
            Lease theirs =
                    granted(curators.get(0).client().semaphore("/resized", 2).acquireAsync());
            assertThrows(LockMismatchException.class, () -> own.resize(3));
            assertEquals(
                    1, log.awaited("/resized is in use by two kinds of lock").size());
            theirs.close();
            held.close();
        }
    }

    @Test
    @Tag("slow")
    void logCountsTheLeasesOnThePathAlone_whenCuratorComesLater() throws Exception {
        try (LoggedWarnings log = LoggedWarnings.listen()) {
            ReadWriteLock own = plain.readWriteLock("/counted");
            List<Lease> held = List.of(
                    own.readLock().acquire(),
                    own.readLock().acquire(),
                    plain.mutex("/elsewhere").acquire());
            CompletableFuture<Lease> waiting = asked(own.writeLock(), "/counted");
            Lease theirs = granted(curators.get(0)
                    .client()
                    .readWriteLock("/counted")
                    .readLock()
                    .acquireAsync());
            assertEquals(3, own.readLock().queue().size());
            String line = log.awaited("/counted").get(0);
            assertTrue(line.contains("The leases of this client on it (2) stay valid."), line);
            waiting.cancel(false);
            theirs.close();
            held.forEach(Lease::close);
        }
    }

    @Test
    void locksNamedAsCuratorsSemaphores_areAllowedBelowOtherLocks() throws Exception {
        plain.mutex("/shop/leases").acquire().close();
        plain.mutex("/shop/locks").acquire().close();
        plain.mutex("/shop").acquire().close();
        plain.semaphore("/pool", 1).acquire().close();
        plain.mutex("/pool/locks").acquire().close();
        plain.semaphore("/pool", 1).acquire().close();
    }

    /** Curator's own requests after the end of the counter would be let in beside others; ours keep out before that. */
    @Test
    void requestsAreRefused_nearTheEndOfTheCounter() throws Exception {
        Lease held = granted(asked(curators.get(0).client().mutex("/worn"), "/worn"));
        server.setChildCounter("/worn", Integer.MAX_VALUE - 1000);
        LockException told = assertThrows(
                LockException.class, () -> ours.get(0).client().mutex("/worn").acquire());
        assertTrue(told.getMessage().contains("/worn"), told.getMessage());
        await("only the holder", () -> requests("/worn") == 1);
        held.close();
        granted(asked(curators.get(1).client().mutex("/worn"), "/worn")).close();
    }

    @Test
    void mutexCostsOneRoundTrip_andAHandOverOneList() throws Exception {
        FaultyClient counted = ours.get(0);
        counted.client().mutex("/cost").acquire().close();
        Wire.Mark free = counted.proxy().mark();
        Lease lease = counted.client().mutex("/cost").acquire();
        Wire acquired = counted.proxy().since(free);
        assertEquals(2, acquired.requestsButHeartbeats(), acquired::toString);
        lease.close();

        Lease held = granted(asked(curators.get(0).client().mutex("/cost"), "/cost"));
        Wire.Mark busy = counted.proxy().mark();
        CompletableFuture<Lease> next = asked(counted.client().mutex("/cost"), "/cost");
        await("a watch", () -> counted.proxy().since(busy).count(RequestMatch.watching()) == 1);
        Wire.Mark handover = counted.proxy().mark();
        held.close();
        granted(next).close();
        Wire handed = counted.proxy().since(handover);
        assertEquals(1, handed.count(RequestMatch.list()), handed::toString);
        assertEquals(2, handed.requestsButHeartbeats(), handed::toString);
    }
}
