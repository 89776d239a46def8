// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.OnLoss;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.LossChecker;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/**
 * Holders that do not release, each on a separate path with a waiter that it excludes, while a fault is active. Each
 * holder checks its lease continuously, at intervals of at least a fifth of a millisecond, and all events are recorded
 * by one clock.
 */
final class BlockedWaiters implements AutoCloseable {
    private static final Duration WAITERS_SESSION = Duration.ofSeconds(15);
    private static final Duration WITHIN = Duration.ofSeconds(60);
    private static final long LOOK_EVERY_NANOS = 200_000;
    private static final String GONE = "gone: ";

    private final History history = new History();
    private final ZooKeeperFixture servers;
    private final String base;
    private final ZkLockClient waiters;
    private final ZooKeeper witness;
    private final List<Pair> pairs = new ArrayList<>();
    private final List<Lease> watched = new CopyOnWriteArrayList<>();
    private final Map<String, Body> bodies = new ConcurrentHashMap<>();
    private final List<Thread> bodiesThreads = new ArrayList<>();
    private final Thread looks = new Thread(this::look, "looks");

    /** A kind of holder, and a kind of waiter that it excludes. */
    enum Kind {
        MUTEX,
        WRITER_BEFORE_READER,
        READER_BEFORE_WRITER,
        PERMITS,
        /** A mutex whose holder runs a body that obeys interruption. Nothing looks at its lease. */
        BODY
    }

    /** A body under a lease that takes a step each time that it can, until it is interrupted. */
    private static final class Body {
        private final CompletableFuture<Lease> began = new CompletableFuture<>();
        private volatile long lastStep;
        private volatile long nextGranted;

        void run(Acquirable lock) {
            try {
                lock.run(OnLoss.INTERRUPT, lease -> {
                    lastStep = System.nanoTime();
                    began.complete(lease);
                    while (!Thread.currentThread().isInterrupted()) {
                        lastStep = System.nanoTime();
                        LockSupport.parkNanos(LOOK_EVERY_NANOS / 10);
                    }
                });
            } catch (LeaseLostException | InterruptedException | IllegalStateException over) {
                began.completeExceptionally(over);
            }
        }

        Lease nextIsGranted(Lease lease) {
            nextGranted = System.nanoTime();
            return lease;
        }
    }

    /** A held lease, and the waiter behind it. */
    record Pair(String path, String holder, long session, Lease held, CompletableFuture<Lease> next) {}

    private record Side(Acquirable lock, LockClaim claim) {}

    /**
     * @param side the servers for the waiters and for the watch of the holders' nodes; not affected by the fault, if
     *     possible
     * @param base the path below which all of it lies, of no other standoff
     */
    BlockedWaiters(ZooKeeperFixture servers, String side, String base) throws IOException, InterruptedException {
        this.servers = servers;
        this.base = base;
        waiters = ZkLockClient.builder()
                .connectString(side)
                .sessionTimeout(WAITERS_SESSION)
                .build();
        CountDownLatch connected = new CountDownLatch(1);
        witness = new ZooKeeper(side, (int) WAITERS_SESSION.toMillis(), event -> connected.countDown());
        assertTrue(connected.await(WITHIN.toSeconds(), TimeUnit.SECONDS));
        looks.setDaemon(true);
        looks.start();
    }

    History history() {
        return history;
    }

    List<Pair> pairs() {
        return List.copyOf(pairs);
    }

    private void look() {
        while (!Thread.interrupted()) {
            watched.forEach(Lease::isValid);
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
    }

    /** Lets the client hold a lock of this kind on a separate path, and another client wait for it. */
    Pair pair(FaultyClient holder, Kind kind) throws Exception {
        return pair(holder, kind, lock -> lock);
    }

    /** The same for a lock that {@code how} changes. */
    Pair pair(FaultyClient holder, Kind kind, UnaryOperator<Acquirable> how) throws Exception {
        String path = base + "/" + pairs.size();
        Side first = first(holder.client(), kind, path);
        Acquirable lock = history.recorded(holder, how.apply(first.lock()), first.claim());
        Lease held = kind == Kind.BODY ? heldByBody(path, lock) : lock.acquire();
        CompletableFuture<Lease> next = next(path, second(kind, path));
        if (kind == Kind.BODY) {
            next = next.thenApply(bodies.get(path)::nextIsGranted);
        } else {
            watched.add(held);
        }
        Pair pair = new Pair(path, holder.name(), holder.proxy().session().orElseThrow(), held, next);
        pairs.add(pair);
        watchNode(path, held.token());
        return pair;
    }

    private Lease heldByBody(String path, Acquirable lock) throws Exception {
        Body body = new Body();
        bodies.put(path, body);
        Thread thread = new Thread(() -> body.run(lock), "body of " + path);
        thread.setDaemon(true);
        bodiesThreads.add(thread);
        thread.start();
        return body.began.get(WITHIN.toSeconds(), TimeUnit.SECONDS);
    }

    /** Adds a waiter for the mutex on a path of which another process has the lease with this token. */
    CompletableFuture<Lease> next(String path, long token) throws Exception {
        CompletableFuture<Lease> next = next(path, second(Kind.MUTEX, path));
        watchNode(path, token);
        return next;
    }

    private CompletableFuture<Lease> next(String path, Side second) throws InterruptedException {
        CompletableFuture<Lease> next = history.recorded("behind " + path, second.lock(), second.claim())
                .acquireAsync()
                .thenApply(lease -> {
                    watched.add(lease);
                    return lease;
                });
        Eventually.holds(
                "a waiter is behind the holder of " + path,
                WITHIN,
                () -> next.isDone() || second.lock().queue().size() == 2);
        assertFalse(next.isDone(), () -> "the holder's session had ended, or the waiter was refused: " + next);
        return next;
    }

    private static Side first(LockClient client, Kind kind, String path) {
        return switch (kind) {
            case MUTEX, BODY -> new Side(client.mutex(path), LockClaim.exclusive(path));
            case WRITER_BEFORE_READER -> new Side(client.readWriteLock(path).writeLock(), LockClaim.exclusive(path));
            case READER_BEFORE_WRITER -> new Side(client.readWriteLock(path).readLock(), LockClaim.shared(path));
            case PERMITS -> new Side(client.semaphore(path, 3).permits(2), LockClaim.permits(path, 2, 3));
        };
    }

    private Side second(Kind kind, String path) {
        return switch (kind) {
            case MUTEX -> first(waiters, kind, path);
            case WRITER_BEFORE_READER -> first(waiters, Kind.READER_BEFORE_WRITER, path);
            case READER_BEFORE_WRITER -> first(waiters, Kind.WRITER_BEFORE_READER, path);
            case PERMITS, BODY -> first(waiters, kind, path);
        };
    }

    /**
     * The node's going is noted as soon as a server tells of it. The server that the witness is connected to may be
     * behind the one that granted the lease, so it catches up first.
     */
    private void watchNode(String path, long token) throws KeeperException, InterruptedException {
        witness.sync(path, (status, synced, context) -> {}, null);
        for (String child : witness.getChildren(path, false)) {
            String node = path + "/" + child;
            var found = witness.exists(node, event -> {
                if (event.getType() == Watcher.Event.EventType.NodeDeleted) {
                    history.note("server", GONE + path);
                }
            });
            if (found == null || found.getCzxid() != token) {
                witness.removeAllWatches(node, Watcher.WatcherType.Any, true);
            }
        }
    }

    /** Waits until all waiters behind these holders are granted. */
    void awaitNext(List<Pair> behind) throws Exception {
        for (Pair pair : behind) {
            Lease unused = pair.next().get(WITHIN.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /**
     * Waits until each lease is lost or valid with an extended deadline; releases the valid ones, and waits for all
     * grants.
     */
    void letSurvivorsGo() throws Exception {
        for (Pair pair : pairs) {
            Eventually.holds(
                    pair.holder() + " knows",
                    WITHIN,
                    () -> pair.next().isDone() || pair.held().state() == LeaseState.HELD);
            pair.held().close();
        }
        awaitNext(pairs);
    }

    /** Fails unless all these sessions have ended at the server, and their holders know. */
    void assertOver(List<Pair> over) throws InterruptedException {
        awaitSessionsOver(over);
        over.forEach(pair -> assertFalse(pair.held().isValid()));
        Set<String> paths = new HashSet<>(bodies.keySet());
        lossRecords().forEach(lossRecord -> paths.add(lossRecord.path()));
        over.forEach(pair -> assertTrue(paths.contains(pair.path()), () -> pair.holder() + " was not notified"));
    }

    /** The node goes a moment before the session does. */
    void awaitSessionsOver(List<Pair> over) throws InterruptedException {
        for (Pair pair : over) {
            Eventually.holds(
                    "end of the session of " + pair.holder(), WITHIN, () -> !servers.hasSession(pair.session()));
        }
    }

    /** Releases all leases, then checks that each loss was reported before the next grant. */
    void check() {
        check(Set.of(LossCause.DEADLINE_PASSED));
    }

    /** The same where leases are lost for one of these causes. */
    void check(Set<LossCause> causes) {
        checkLosses(causes);
        assertEquals(
                List.of(), lastSteps().stream().filter(step -> step.gap() <= 0).toList());
        ExclusionChecker.readWrite().byTheirOwnLooks(history).assertObeyed();
        ExclusionChecker.permits().byTheirOwnLooks(history).assertObeyed();
    }

    /** The same for holders that could not be notified: no check found a lease valid after the next grant. */
    void checkLooks() {
        checkLosses(Set.of(LossCause.DEADLINE_PASSED));
        ExclusionChecker.readWrite().byTheirOwnLooks(history).assertNotBroken();
    }

    /**
     * A server says that a session is over only after its time, and by then its client's deadline has passed: that is
     * the cause.
     */
    private void checkLosses(Set<LossCause> causes) {
        watched.forEach(Lease::close);
        LossChecker.check(history).assertObeyed();
        assertEquals(
                List.of(),
                lossRecords().stream()
                        .filter(lossRecord -> !causes.contains(LossCause.valueOf(lossRecord.cause())))
                        .toList());
    }

    /** Returns the losses of all holders except those with bodies, see {@link #lastSteps}. */
    List<LossRecord> lossRecords() {
        return LossRecord.of(history, GONE).stream()
                .filter(lossRecord -> !bodies.containsKey(lossRecord.path()))
                .toList();
    }

    /** How long before the next was granted each body took its last step whose lease was lost. */
    List<LossRecord> lastSteps() {
        List<LossRecord> steps = new ArrayList<>();
        for (Pair pair : pairs) {
            Body body = bodies.get(pair.path());
            if (body != null && pair.held().state() == LeaseState.LOST) {
                steps.add(new LossRecord(
                        pair.path(), "interrupted", OptionalLong.empty(), body.nextGranted - body.lastStep));
            }
        }
        return steps;
    }

    /** The same, of these alone. */
    List<LossRecord> lossRecords(List<Pair> of) {
        List<String> paths = of.stream().map(Pair::path).toList();
        return lossRecords().stream()
                .filter(lossRecord -> paths.contains(lossRecord.path()))
                .toList();
    }

    /** The same, of all others. */
    List<LossRecord> givingsBut(List<Pair> not) {
        List<String> paths = not.stream().map(Pair::path).toList();
        return lossRecords().stream()
                .filter(lossRecord -> !paths.contains(lossRecord.path()))
                .toList();
    }

    @Override
    public void close() {
        looks.interrupt();
        bodiesThreads.forEach(Thread::interrupt);
        waiters.close();
        try {
            looks.join();
            witness.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
