// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.testkit.EmbeddedZooKeeper;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * All locks under load without a pause, while sessions are ended, nodes deleted and the server restarted: after that there is no node, no
 * watch, no thread and no object more than there was when it had just begun. The proxies of the test kit keep a record of what passes, so
 * that clients connect to the server itself.
 */
@Tag("once")
@Tag("soak")
class NothingLeaksTest {
    private static final int CLIENTS = 6;
    private static final Duration SESSION = Duration.ofSeconds(4);
    private static final Duration LENGTH = Soak.length(Duration.ofSeconds(12));
    private static final Duration SOON = Duration.ofSeconds(60);
    /** What is not a lock's: what ZooKeeper's server, its client and the JVM keep for themselves, such as buffers, grows to a bound. */
    private static final double ROOM = 1.25;

    private static final long ROOM_BYTES = 4 << 20;

    private final SplittableRandom random = new SplittableRandom(Long.getLong("latchkey.seed", System.nanoTime()));
    private static final String SESSION_CLASS = "io.latchkey.zk.session.Session";
    private static final Set<String> COUNTED = Set.of(
            SESSION_CLASS,
            "io.latchkey.zk.session.Request",
            "io.latchkey.zk.session.Place",
            "io.latchkey.zk.session.ZkLease",
            "io.latchkey.zk.session.Creation",
            "io.latchkey.zk.session.QueueReader$Want",
            "io.latchkey.zk.session.Departures$Departure",
            "io.latchkey.zk.session.Watches$Watched",
            "io.latchkey.zk.acquire.Acquisition");

    /** Of earlier tests of this process. */
    private final Map<String, Long> atFirst = counted();

    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicInteger faults = new AtomicInteger();

    @Test
    @Timeout(900)
    void afterLoadAndFaultsThereIsNoMoreThanBefore() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            List<ZkLockClient> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(client(server));
            }
            CountDownLatch connected = new CountDownLatch(1);
            ZooKeeper operator = new ZooKeeper(server.connectString(), 60_000, event -> connected.countDown());
            try {
                // Before it has a session it cannot be left out of those that are struck.
                assertTrue(connected.await(SOON.toSeconds(), TimeUnit.SECONDS));
                load(clients, server, operator, LENGTH.dividedBy(4));
                awaitQuiet(server);
                long bytes = LiveObjects.bytes();
                Set<String> threads = threads();

                int before = granted.get();
                load(clients, server, operator, LENGTH);
                awaitQuiet(server);
                assertTrue(granted.get() - before > 100, "only " + granted.get() + " grants");
                assertTrue(faults.get() > 3, "only " + faults.get() + " faults");
                long bytesNow = LiveObjects.bytes();
                Map<String, Long> objects = newObjects();
                if (Soak.isLong()) {
                    System.out.println(LENGTH.toSeconds() + " s, " + (granted.get() - before) + " grants, " + faults
                            + " faults: " + bytes + " bytes before, " + bytesNow + " after; " + objects);
                }
                // Those of earlier tests of this process may have gone meanwhile; so fewer are no surprise.
                Long sessions = objects.remove(SESSION_CLASS);
                assertTrue(sessions == null || sessions <= CLIENTS, "sessions: " + sessions);
                assertEquals(Map.of(), objects);
                assertEquals(threads, threads());
                assertTrue(bytesNow < bytes * ROOM + ROOM_BYTES, bytes + " bytes before, " + bytesNow + " after");
            } finally {
                clients.forEach(ZkLockClient::close);
                operator.close();
            }
        }
        Eventually.holds("no thread of the clients is left: " + threads(), SOON, () -> threads().stream()
                .noneMatch(name -> name.startsWith("latchkey-timer") || name.startsWith("latchkey-callback")));
    }

    /** Who waits goes on in the next session; what is kept of the former must not keep that one, and so all of them. */
    @Test
    @Timeout(120)
    void sessionsThatAreOverAreForgotten() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZkLockClient other = client(server);
                ZkLockClient client = client(server)) {
            Lease held = other.mutex("/leaks/m").acquire();
            long holders = requests(server).get(0).session();
            CompletableFuture<Lease> waiting = client.mutex("/leaks/m").acquireAsync();
            for (int i = 0; i < 5; i++) {
                Eventually.holds(
                        "both stand there", SOON, () -> requests(server).size() == 2);
                for (ServerNode request : requests(server)) {
                    if (request.session() != holders) {
                        server.expireSession(request.session());
                    }
                }
            }
            Eventually.holds("both stand there", SOON, () -> requests(server).size() == 2);
            Eventually.holds(
                    "only the two sessions that live are there",
                    SOON,
                    () -> newObjects().getOrDefault(SESSION_CLASS, 0L) <= 2);
            held.close();
            waiting.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    /** Requests behind others of their session ask late where they stand; these never do, since their time is up. */
    @Test
    @Timeout(120)
    void requestsThatGaveUpBehindOthersAreForgotten() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZkLockClient other = client(server);
                ZkLockClient client = client(server)) {
            Lease held = other.mutex("/leaks/m").acquire();
            CompletableFuture<Lease> first = client.mutex("/leaks/m").acquireAsync();
            CompletableFuture<Lease> second = client.mutex("/leaks/m").acquireAsync();
            Eventually.holds("they wait", SOON, () -> requests(server).size() == 3);
            // Behind the answers to their creates: the client knows that they wait.
            assertEquals(3, client.mutex("/leaks/m").queue().size());
            List<CompletableFuture<Optional<Lease>>> tries = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                tries.add(client.mutex("/leaks/m").tryAcquireAsync(Duration.ofMillis(300)));
            }
            for (CompletableFuture<Optional<Lease>> each : tries) {
                assertTrue(each.get(SOON.toSeconds(), TimeUnit.SECONDS).isEmpty());
            }
            tries.clear();
            Eventually.holds(
                    "their nodes are gone", SOON, () -> requests(server).size() == 3);
            Eventually.holds(
                    "only the three that hold or wait are there",
                    SOON,
                    () -> newObjects().getOrDefault("io.latchkey.zk.session.Request", 0L) <= 3);
            held.close();
            first.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
            second.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    private static ZkLockClient client(EmbeddedZooKeeper server) {
        return ZkLockClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(SESSION)
                .build();
    }

    private void load(List<ZkLockClient> clients, EmbeddedZooKeeper server, ZooKeeper operator, Duration length)
            throws Exception {
        over.set(false);
        ExecutorService threads = Executors.newFixedThreadPool(2 * clients.size());
        try {
            List<Future<?>> work = new ArrayList<>();
            for (int i = 0; i < 2 * clients.size(); i++) {
                SplittableRandom own = random.split();
                ZkLockClient client = clients.get(i % clients.size());
                work.add(threads.submit(() -> work(client, own)));
            }
            long start = System.nanoTime();
            while (System.nanoTime() - start < length.toNanos()) {
                LockSupport.parkNanos(
                        Duration.ofMillis(random.nextInt(200, 600)).toNanos());
                strike(server, operator);
                faults.incrementAndGet();
            }
            over.set(true);
            for (Future<?> each : work) {
                each.get(SOON.toSeconds(), TimeUnit.SECONDS);
            }
        } finally {
            over.set(true);
            threads.shutdownNow();
            assertTrue(threads.awaitTermination(SOON.toSeconds(), TimeUnit.SECONDS));
        }
    }

    private void strike(EmbeddedZooKeeper server, ZooKeeper operator) throws Exception {
        List<Long> sessions = new ArrayList<>(server.sessions());
        sessions.remove(operator.getSessionId());
        List<ServerNode> requests = requests(server);
        switch (random.nextInt(5)) {
            case 0 -> {
                server.stop();
                server.restart();
            }
            case 1, 2 -> {
                if (!requests.isEmpty()) {
                    // Whether it still is there or not.
                    operator.delete(
                            requests.get(random.nextInt(requests.size())).path(), -1, (rc, path, context) -> {}, null);
                }
            }
            default -> {
                if (!sessions.isEmpty()) {
                    server.expireSession(sessions.get(random.nextInt(sessions.size())));
                }
            }
        }
    }

    private Void work(ZkLockClient client, SplittableRandom own) throws InterruptedException {
        while (!over.get()) {
            Acquirable lock = lock(client, own);
            if (own.nextInt(4) == 0) {
                // Somebody who changes his mind.
                List<CompletableFuture<Lease>> asked = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                    asked.add(lock.acquireAsync());
                }
                LockSupport.parkNanos(Duration.ofMillis(own.nextInt(5)).toNanos());
                asked.forEach(each -> each.cancel(false));
                asked.stream()
                        .filter(each -> each.isDone() && !each.isCompletedExceptionally())
                        .forEach(each -> each.join().close());
                continue;
            }
            Optional<Lease> lease = own.nextBoolean()
                    ? lock.tryAcquire(Duration.ofMillis(own.nextInt(1, 300)))
                    : Optional.of(lock.acquire());
            if (lease.isPresent()) {
                granted.incrementAndGet();
                LockSupport.parkNanos(Duration.ofMillis(own.nextInt(5)).toNanos());
                lease.get().close();
            }
        }
        return null;
    }

    private static Acquirable lock(ZkLockClient client, SplittableRandom own) {
        int number = own.nextInt(2);
        Acquirable mutex = client.mutex("/leaks/m" + number);
        Acquirable permits = client.semaphore("/leaks/s" + number, 3).permits(own.nextInt(1, 4));
        Acquirable many = client.semaphore("/leaks/l" + number, 20).permits(own.nextInt(1, 12));
        return switch (own.nextInt(6)) {
            case 0 -> mutex;
            case 1 -> client.readWriteLock("/leaks/r" + number).readLock();
            case 2 -> client.readWriteLock("/leaks/r" + number).writeLock();
            case 3 -> permits;
            case 4 -> many;
            default -> client.multiLock(mutex, permits);
        };
    }

    private static List<ServerNode> requests(EmbeddedZooKeeper server) {
        return server.nodesUnder("/leaks").stream()
                .filter(ServerNode::isEphemeral)
                .toList();
    }

    /** Nothing of anybody is left at the server, and every client has a session that lives. */
    private static void awaitQuiet(EmbeddedZooKeeper server) throws InterruptedException {
        Eventually.holds("no request is left", SOON, () -> requests(server).isEmpty());
        Eventually.holds("no watch is left", SOON, () -> server.watchCount() == 0);
        Eventually.holds(
                "a session for each client and for the operator",
                SOON,
                () -> server.sessions().size() == CLIENTS + 1);
        // Threads that ran callbacks end when they have been idle for ten seconds.
        Eventually.holds("idle threads end", SOON, () -> threads().stream()
                .noneMatch(name -> name.startsWith("latchkey-callback")));
    }

    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                // ZooKeeper's client puts the name of the thread that made it before its own.
                .map(thread -> thread.getName()
                        .replaceAll("0x[0-9a-f]+|\\d+", "#")
                        .replaceAll(".*(SendThread|EventThread).*", "$1"))
                .filter(name -> name.startsWith("latchkey-") || name.equals("SendThread") || name.equals("EventThread"))
                .collect(Collectors.toSet());
    }

    /** What there is once for each session or request, and how many more of it there are than at the beginning. */
    private Map<String, Long> newObjects() {
        Map<String, Long> more = new TreeMap<>();
        counted().forEach((name, count) -> {
            if (count > atFirst.getOrDefault(name, 0L)) {
                more.put(name, count - atFirst.getOrDefault(name, 0L));
            }
        });
        return more;
    }

    private static Map<String, Long> counted() {
        return LiveObjects.count(COUNTED::contains);
    }
}
