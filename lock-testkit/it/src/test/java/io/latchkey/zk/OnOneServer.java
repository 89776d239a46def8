// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.testkit.proxy.FastReconnects;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.sim.ObservedClients;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.function.Executable;

/** A server and clients of its own for every test. */
abstract class OnOneServer {
    /** Of a client whose session is to end by time. */
    static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(1));
    /**
     * Of any other: its session outlives a reconnect, which takes ZooKeeper's client one to two seconds, and a machine
     * that stands still.
     */
    static final Duration LONG_SESSION = SESSION.multipliedBy(12);
    /** A busy machine may need longer than such a session. */
    private static final Duration CONNECTS_WITHIN = Slowness.stretched(Duration.ofSeconds(15));

    /** ZooKeeper's client asks whether it contains null, which an immutable list answers by throwing. */
    static final List<ACL> ALL_BUT_READ =
            Arrays.asList(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE));

    private static final Pattern REQUEST = Pattern.compile("(?:(?:write|read)-[^-]+|lease-[^-]+-\\d+)-(-?\\d{10})");
    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final List<ZkLockClient> clients = new ArrayList<>();
    private final List<FaultProxy> proxies = new ArrayList<>();
    private final List<FastReconnects> fast = new ArrayList<>();
    private final List<ZooKeeper> handles = new ArrayList<>();
    private final ObservedClients observed = new ObservedClients();
    /** Threads of other tests, some of which end later. */
    private final Set<Thread> others = Thread.getAllStackTraces().keySet();

    private ZooKeeper operator;

    final EmbeddedZooKeeper server() {
        return server;
    }

    /** A proxy to the server, for one client. */
    final FaultProxy proxy() {
        FaultProxy proxy = FaultProxy.to(server);
        proxies.add(proxy);
        return proxy;
    }

    /** One whose client comes back in milliseconds. */
    final FaultProxy fastProxy() {
        FaultProxy proxy = proxy();
        fast.add(FastReconnects.of(proxy));
        return proxy;
    }

    /** A client behind a proxy of its own, with a session that soon ends when it is cut off. */
    final ZkLockClient behind(FaultProxy proxy) throws InterruptedException {
        return client(builder -> builder.connectString(proxy.connectString()).sessionTimeout(SESSION));
    }

    /** One whose session outlives a cut. */
    final ZkLockClient patient(FaultProxy proxy) throws InterruptedException {
        return client(builder -> builder.connectString(proxy.connectString()));
    }

    final ZkLockClient client(String label) throws InterruptedException {
        return client(builder -> builder.ownerLabel(label));
    }

    final ZkLockClient client(Consumer<ZkLockClient.Builder> more) throws InterruptedException {
        ZkLockClient.Builder builder = ZkLockClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(LONG_SESSION)
                .connectTimeout(CONNECTS_WITHIN)
                .observer(observed.next());
        more.accept(builder);
        ZkLockClient client = builder.build();
        clients.add(client);
        return client;
    }

    /** Borrows the handle. Its first grant waits for the margin, which is therefore a short one. */
    final ZkLockClient borrowing(ZooKeeper handle) throws InterruptedException {
        ZkLockClient client = ZkLockClient.builder()
                .using(handle)
                .validityMargin(Slowness.stretched(Duration.ofMillis(500)))
                .observer(observed.next())
                .build();
        clients.add(client);
        return client;
    }

    /** A plain connected handle, as of an operator's shell or of an application with a separate session. */
    final ZooKeeper handle() throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper handle =
                new ZooKeeper(server.connectString(), (int) LONG_SESSION.toMillis(), event -> connected.countDown());
        handles.add(handle);
        assertTrue(connected.await(CONNECTS_WITHIN.toSeconds(), TimeUnit.SECONDS));
        return handle;
    }

    @AfterEach
    final void closeAll() throws Exception {
        // ZooKeeper's client sleeps when it is closed as well.
        String all = Stream.concat(
                        Stream.of(server.connectString()), proxies.stream().map(FaultProxy::connectString))
                .collect(Collectors.joining(","));
        fast.add(FastReconnects.of(all));
        for (ZkLockClient client : clients) {
            FutureTask<Boolean> close = new FutureTask<>(client::close, true);
            Thread closing = new Thread(close, "close of a test's client");
            closing.setDaemon(true);
            closing.start();
            assertTrue(close.get(SOON.toSeconds(), TimeUnit.SECONDS));
        }
        assertNothingIsLeft();
        observed.assertNothingIsBroken();
        for (ZooKeeper handle : handles) {
            handle.close();
        }
        fast.forEach(FastReconnects::close);
        proxies.forEach(FaultProxy::close);
        server.close();
    }

    /** Of closed clients: no timer, no thread that keeps the process alive, and no watch of a borrowed handle. */
    private void assertNothingIsLeft() throws InterruptedException {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        List<Thread> own = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("latchkey-") && !others.contains(thread))
                .filter(thread -> group.equals(thread.getThreadGroup()))
                .toList();
        assertTrue(own.stream().allMatch(Thread::isDaemon), own::toString);
        awaitUntil(
                "timers of closed clients end",
                () -> own.stream()
                        .noneMatch(thread -> thread.getName().startsWith("latchkey-timer-") && thread.isAlive()),
                own::toString);
        Set<Long> borrowed = handles.stream().map(ZooKeeper::getSessionId).collect(Collectors.toSet());
        if (server.isRunning()) {
            awaitUntil(
                    "no watch is left",
                    () -> server.watches().stream().noneMatch(watch -> borrowed.contains(watch.session())),
                    () -> "watches: " + server.watches());
        }
    }

    /** The request nodes under a path in their order, by the server's own tree. */
    final List<ServerNode> requestsUnder(String path) {
        return server.nodesUnder(path).stream()
                .filter(node -> node.path().lastIndexOf('/') == path.length()
                        && REQUEST.matcher(node.name()).matches())
                .sorted(Comparator.comparingLong(OnOneServer::sequence))
                .toList();
    }

    /** Lets the holder listen for release requests: it can be asked once it has a node for that at each path. */
    final CompletableFuture<ReleaseRequest> listening(Lease lease, String... paths) throws InterruptedException {
        CompletableFuture<ReleaseRequest> wish = lease.releaseRequested().toCompletableFuture();
        for (String path : paths) {
            awaitUntil("a listener under " + path, () -> listenersUnder(path).size() == 1);
        }
        return wish;
    }

    /** The nodes by which holders are asked to release. */
    final List<ServerNode> listenersUnder(String path) {
        return server.nodesUnder(path).stream()
                .filter(node -> node.name().startsWith("revoke-"))
                .toList();
    }

    /** The number that the server gave the node; a downgrade keeps it. */
    static long sequence(ServerNode node) {
        Matcher name = REQUEST.matcher(node.name());
        assertTrue(name.matches(), node.name());
        return Long.parseLong(name.group(1));
    }

    /**
     * Several heartbeats of a client behind a proxy, with a long session: each checks just these nodes, and they
     * prolong the lease.
     */
    static void assertKeptAlive(FaultProxy proxy, Lease lease, List<ServerNode> nodes) throws InterruptedException {
        Set<String> paths = nodes.stream().map(ServerNode::path).collect(Collectors.toSet());
        Wire.Mark before = proxy.mark();
        long end = endOf(lease);
        Eventually.holds(
                "three heartbeats", LONG_SESSION, () -> proxy.since(before).heartbeats() >= 3);
        awaitUntil("the lease ends later", () -> endOf(lease) - end > SESSION.toNanos());
        Wire wire = proxy.since(before);
        for (WireRecord.Request beat : wire.requests(RequestMatch.heartbeat())) {
            assertEquals(
                    paths,
                    beat.parts().stream().map(WireRecord.Part::path).collect(Collectors.toSet()),
                    wire::toString);
        }
        assertTrue(lease.isValid());
    }

    private static long endOf(Lease lease) {
        return System.nanoTime() + lease.remaining().toNanos();
    }

    /** Deletes a request's node, as an operator's shell can. */
    final void deleteRequest(String path, int place) throws Exception {
        operator().delete(requestsUnder(path).get(place).path(), -1);
    }

    /** Makes a node that belongs to no lock, or to none yet. */
    final void makeNode(String path, byte[] data) throws Exception {
        var unused = operator().create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    final void makeNode(String path) throws Exception {
        makeNode(path, new byte[0]);
    }

    final ZooKeeper operator() throws IOException, InterruptedException {
        if (operator == null) {
            operator = handle();
        }
        return operator;
    }

    /** Containers stay when their children go, so a path that was ever used is still there. */
    final void assertNeverMade(String path) {
        assertTrue(server.nodesUnder("/").stream().noneMatch(node -> node.path().startsWith(path)));
    }

    final void awaitQueue(Acquirable lock, int length) throws InterruptedException {
        awaitUntil("a queue of " + length, () -> lock.queue().size() == length);
    }

    /** Waits until the server has the given number of requests, of all clients, in the own layout alone. */
    final void awaitRequests(String path, int count) throws InterruptedException {
        awaitUntil(
                count + " requests under " + path,
                () -> requestsUnder(path).size() == count,
                () -> "there are " + requestsUnder(path));
    }

    /** Returns a request that has its node behind all others. */
    final CompletableFuture<Lease> queued(String path, Acquirable lock) throws InterruptedException {
        int before = requestsUnder(path).size();
        CompletableFuture<Lease> asked = lock.acquireAsync();
        awaitRequests(path, before + 1);
        return asked;
    }

    /** Waits until so many sessions besides the node's own watch it. */
    final void awaitWatchers(ServerNode node, int sessions) throws InterruptedException {
        awaitUntil(
                sessions + " sessions watch " + node.name(),
                () -> watchersOf(node) == sessions,
                () -> "watches: " + server.watches());
    }

    private long watchersOf(ServerNode node) {
        return server.watches().stream()
                .filter(watch -> watch.path().equals(node.path()) && watch.session() != node.session())
                .map(ServerNode.Watch::session)
                .distinct()
                .count();
    }

    /** Nothing that was asked for on these paths is left, nor any watch. */
    final void awaitNothingLeft(String... paths) throws InterruptedException {
        for (String path : paths) {
            awaitRequests(path, 0);
        }
        awaitWatches(0);
    }

    /**
     * Waits until a client has processed all earlier messages of the server: the server serves one session in order, so
     * a response to a read now comes after them. After this, no request will be granted because of an earlier event.
     */
    static void settle(Acquirable... locks) throws InterruptedException {
        for (int trip = 0; trip < 4; trip++) {
            for (Acquirable lock : locks) {
                lock.queue();
            }
        }
    }

    /** How long to wait at most for what is due. */
    private static final Duration SOON = Slowness.stretched(Duration.ofSeconds(10));

    /** What is due. */
    static <T> T soon(CompletionStage<T> due) throws Exception {
        return due.toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    /** What the future is refused with. */
    static <E extends Throwable> E refusal(Class<E> type, Future<?> refused) {
        ExecutionException told =
                assertThrows(ExecutionException.class, () -> refused.get(SOON.toSeconds(), TimeUnit.SECONDS));
        return assertInstanceOf(type, told.getCause());
    }

    /** The call of an interrupted thread ends and says so. */
    static void assertInterrupted(Executable call) {
        assertThrows(InterruptedException.class, call);
        assertFalse(Thread.interrupted(), "the exception has cleared the interrupt status");
    }

    final void awaitNoRequestBut(Lease held, String path) throws InterruptedException {
        awaitUntil("no request but the holder's", () -> requestsUnder(path).stream()
                .map(ServerNode::created)
                .toList()
                .equals(List.of(held.token())));
    }

    final void awaitWatches(int count) throws InterruptedException {
        awaitUntil(
                count + " watches at the server",
                () -> server.watchCount() == count,
                () -> "watches: " + server.watches());
    }

    static void awaitUntil(String what, Eventually.Condition condition) throws InterruptedException {
        Eventually.holds(what, Duration.ofSeconds(10), condition);
    }

    private static void awaitUntil(String what, Eventually.Condition condition, Supplier<String> instead)
            throws InterruptedException {
        try {
            awaitUntil(what, condition);
        } catch (AssertionError late) {
            throw new AssertionError(late.getMessage() + "; " + instead.get(), late);
        }
    }

    /** Lets the server delete its empty containers until all are deleted; returns their paths, in order. */
    final List<String> reapAll() throws InterruptedException {
        List<String> reaped = new ArrayList<>();
        List<String> more = server.reapContainers();
        while (!more.isEmpty()) {
            reaped.addAll(more);
            more = server.reapContainers();
        }
        assertEquals(List.of(), server.reapContainers());
        return reaped;
    }
}
