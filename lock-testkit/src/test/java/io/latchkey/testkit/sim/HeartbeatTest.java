// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.LiveObjects;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heartbeats and watches of an engine, in moments that no server can be held in. */
@Timeout(30)
class HeartbeatTest {
    private static final Duration SESSION = Duration.ofSeconds(12);
    private static final Duration LATE = SESSION.dividedBy(4);

    private final Leader leader = new Leader(new SimulatedTime(), Sessions.Expiry.BY_FORCE);
    private final Server server = new Server(leader);

    /** One client, whose port tells of the heartbeats that are sent. */
    private final class Client {
        private final Engine engine;
        private final Consumer<List<ZnodeStore.Write>> beats;
        private @Nullable SimulatedPort port;
        private ZnodeStore.@Nullable Listener listener;
        private long ids;

        Client(int number, Consumer<List<ZnodeStore.Write>> beats) throws IOException {
            this(number, beats, false);
        }

        Client(int number, Consumer<List<ZnodeStore.Write>> beats, boolean borrowing) throws IOException {
            this.beats = beats;
            this.ids = (number + 1L) << 32;
            this.engine = new Engine(new ClientConfig(
                    borrowing ? new ClientConfig.Source.Borrowed(this::open) : new ClientConfig.Source.Own(this::open),
                    SESSION,
                    Optional.empty(),
                    new Owner("simulated", 1, "client " + number),
                    () -> ids++,
                    leader.time().view(),
                    Runnable::run,
                    path -> path));
            engine.start();
            settle();
        }

        private ZnodeStore open(ZnodeStore.Listener told) {
            listener = told;
            port = new SimulatedPort(leader, SESSION, told, Runnable::run);
            return telling(port, beats);
        }

        ZnodeStore.Listener listener() {
            return Objects.requireNonNull(listener);
        }

        CompletableFuture<Optional<ZkLease>> asks(String path) {
            return asks(Recipe.MUTEX, path);
        }

        CompletableFuture<Optional<ZkLease>> asks(Recipe recipe, String... paths) {
            List<LockTarget> members = Stream.of(paths)
                    .map(path -> new LockTarget(recipe, new LockPath(path)))
                    .toList();
            return engine.acquire(members, new WaitPolicy.Forever());
        }

        ZkLease acquire(String path) throws Exception {
            CompletableFuture<Optional<ZkLease>> asked = asks(path);
            settle();
            return asked.get(5, TimeUnit.SECONDS).orElseThrow();
        }

        void cut() {
            Objects.requireNonNull(port).cut();
        }

        /** The server passes on what is asked first, and the client hears nothing of it. */
        void loseTheAnswer() {
            SimulatedPort losing = Objects.requireNonNull(port);
            losing.takeRequest();
            losing.cut();
        }

        /** Until nothing is on its way; the server applies nothing before it has to. */
        void settleBehindALaggingServer() {
            SimulatedPort moved = Objects.requireNonNull(port);
            BoundedLoop.all(() -> {
                boolean moves = Delivery.next(moved, server);
                boolean lags = !moves && server.lags();
                if (lags) {
                    server.applyNext();
                }
                return moves || lags;
            });
        }

        /** Until nothing is on its way. */
        void settle() {
            BoundedLoop.all(() -> step(server));
        }

        /** Until such a request is the next that the server takes; time passes if nothing is on its way. */
        void settleUntilNext(RequestMatch wanted) {
            SimulatedPort moved = Objects.requireNonNull(port);
            BoundedLoop.until(
                    () -> moved.hasRequest()
                            && wanted.matches(moved.peekRequest().onTheWire()),
                    () -> {
                        if (!step(server)) {
                            leader.time().runNext();
                        }
                    });
        }

        /** Says whether anything was on its way; a client without a connection connects to that server. */
        boolean step(Server at) {
            return Delivery.nextWithoutLag(Objects.requireNonNull(port), at);
        }
    }

    /** Hands all on. */
    @SuppressWarnings("unchecked") // the first argument of a write
    private static ZnodeStore telling(ZnodeStore to, Consumer<List<ZnodeStore.Write>> beats) {
        return (ZnodeStore) Proxy.newProxyInstance(
                ZnodeStore.class.getClassLoader(), new Class<?>[] {ZnodeStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("write")) {
                        List<ZnodeStore.Write> writes = (List<ZnodeStore.Write>) args[0];
                        if (writes.stream().allMatch(ZnodeStore.Write.Check.class::isInstance)) {
                            beats.accept(writes);
                        }
                    }
                    return method.invoke(to, args);
                });
    }

    /** The executor is not kept for all of a beat over thousands of nodes. */
    @Test
    void otherTasksRunBetweenTheParts_whenABeatHasSeveral() throws Exception {
        List<String> order = new ArrayList<>();
        List<Client> clients = new ArrayList<>();
        Client client = new Client(0, checks -> {
            order.add("part of " + checks.size());
            clients.get(0).engine.context().execute(() -> order.add("other"));
        });
        clients.add(client);
        for (int i = 0; i < 1_200; i++) {
            client.acquire("/many/" + i).ensureValid();
        }
        BoundedLoop.until(() -> !order.isEmpty(), leader.time()::runNext);
        assertEquals(List.of("part of 500", "other", "part of 500", "other", "part of 200", "other"), order);
    }

    /** A transaction of 500 such checks would fit no packet, and break the connection each time. */
    @Test
    void beatHasSeveralParts_whenItsPathsAreLong() throws Exception {
        List<Integer> parts = new ArrayList<>();
        Client client = new Client(
                0,
                checks -> parts.add(checks.stream()
                        .mapToInt(
                                check -> ((ZnodeStore.Write.Check) check).path().length())
                        .sum()));
        String name = "/" + "x".repeat(2_500);
        for (int i = 0; i < 150; i++) {
            client.acquire(name + i).ensureValid();
        }
        BoundedLoop.until(() -> !parts.isEmpty(), leader.time()::runNext);
        assertEquals(2, parts.size(), parts::toString);
        assertTrue(parts.stream().allMatch(bytes -> bytes <= 250_000), parts::toString);
    }

    /**
     * Bytes count what a beat walks over, whatever else the machine does; the time is printed for the figures in
     * docs/testing.md.
     */
    @ParameterizedTest
    @Tag("once")
    @CsvSource({"500, 0", "500, 9000", "10000, 0"})
    void calmBeatCosts500Checks_whateverIsHeldOrWasUsed(int held, int used) throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        for (int i = 0; i < used; i++) {
            var unused = client.acquire("/used/" + i).releaseAsync();
            client.settle();
        }
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (int i = 0; i < held; i++) {
            asked.add(client.asks("/held/" + i));
        }
        client.settle();
        // A thousand nodes a beat are left to watches.
        steps(client, SESSION.multipliedBy(3));
        beats.clear();

        Steps calm = steps(client, SESSION);

        System.out.printf(
                Locale.ROOT,
                "%d locks held, %d paths used before: %d beats of %s checks; longest step %.2f ms of the processor, %d bytes%n",
                held,
                used,
                beats.size(),
                Set.copyOf(beats),
                calm.nanos() / 1e6,
                calm.bytes());
        assertEquals(List.of(500, 500, 500, 500, 500, 500), beats);
        assertTrue(calm.bytes() < 200_000, () -> calm.bytes() + " bytes");
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            each.get(5, TimeUnit.SECONDS).orElseThrow().ensureValid();
        }
    }

    /** Else a client whose paths are named by its work would keep all that it ever used. */
    @Test
    @Tag("once")
    void unusedPathsAreForgotten_beyondTenThousand() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/held");
        for (int i = 0; i < 11_000; i++) {
            var unused = client.acquire("/used/" + i).releaseAsync();
            client.settle();
        }
        String queue = "io.latchkey.zk.internal.path.SessionQueue";
        long known = LiveObjects.count(queue::equals).getOrDefault(queue, 0L);
        assertTrue(known < 10_500, () -> known + " paths");
        held.ensureValid();
    }

    /** An earlier one would be the second half of no pair. */
    @Test
    void firstBeatOnANewConnectionComesAMarginAfterTheBarrier() throws Exception {
        List<Long> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(leader.time().nanos()));
        client.acquire("/m").ensureValid();
        client.cut();
        client.settle();
        beats.clear();
        long barrier = leader.time().nanos();
        var unused = steps(client, SESSION.dividedBy(2));
        assertEquals(SESSION.dividedBy(4).toNanos(), beats.get(0) - barrier);
    }

    /** With a fixed number of watches in a beat the checks until then would grow with the square of the locks. */
    @Test
    @Tag("once")
    void nodesAreCheckedAFewTimesBeforeTheyAreWatched_howeverManyAreHeld() throws Exception {
        int held = 20_000;
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        for (int i = 0; i < held; i++) {
            var unused = client.asks("/held/" + i);
        }
        client.settle();
        steps(client, SESSION.multipliedBy(4));
        int checks = beats.stream().mapToInt(Integer::intValue).sum();
        assertEquals(500, beats.get(beats.size() - 1), "calm");
        assertTrue(checks < 5 * held, () -> checks + " checks of " + held + " nodes");
    }

    /**
     * The step that took most of the processor's time, and the one that allocated most, of those that a timer began.
     */
    private record Steps(long nanos, long bytes) {}

    private Steps steps(Client client, Duration span) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        SimulatedTime time = leader.time();
        long end = time.nanos() + span.toNanos();
        long longest = 0;
        long most = 0;
        while (time.nextAt() <= end) {
            long bytes = threads.getCurrentThreadAllocatedBytes();
            long start = threads.getCurrentThreadCpuTime();
            time.runNext();
            longest = Math.max(longest, threads.getCurrentThreadCpuTime() - start);
            most = Math.max(most, threads.getCurrentThreadAllocatedBytes() - bytes);
            client.settle();
        }
        time.moveTo(end);
        return new Steps(longest, most);
    }

    /** A failed transaction names one node only. */
    @Test
    void allDeletedNodesAreReported_whenOneHeartbeatFails() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        List<ZkLease> held = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            held.add(client.acquire("/robbed/" + i));
        }
        List<ZkLease> robbed = held.subList(3, 40);
        robbed.forEach(lease -> leader.delete(lease.nodePaths().get(0)));
        BoundedLoop.until(() -> !beats.isEmpty(), leader.time()::runNext);
        client.settle();
        assertEquals(List.of(), robbed.stream().filter(ZkLease::isValid).toList());
        held.subList(0, 3).forEach(ZkLease::ensureValid);
        assertEquals(List.of(40), beats);
    }

    @Test
    void allDeletedNodesAreReported_whenTheResponseThatNamesThemIsLost() throws Exception {
        Client client = new Client(0, checks -> {});
        List<ZkLease> robbed = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            robbed.add(client.acquire("/robbed/" + i));
        }
        robbed.forEach(lease -> leader.delete(lease.nodePaths().get(0)));
        BoundedLoop.until(() -> !robbed.stream().allMatch(ZkLease::isValid), () -> {
            if (!client.step(server)) {
                leader.time().runNext();
            }
        });
        // The heartbeat has named one; the others are asked for.
        client.loseTheAnswer();
        client.settle();
        var unused = steps(client, SESSION.dividedBy(2));
        assertEquals(
                List.of(LossCause.NODE_DELETED, LossCause.NODE_DELETED, LossCause.NODE_DELETED),
                robbed.stream().map(lease -> lease.lost().getNow(null)).toList());
    }

    /** The request for the watch on its own node is lost. No heartbeat comes before the end of the test. */
    @Test
    void evictedHolderLearnsAtOnce_whenItsWatchWasLost() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<LossCause> lost = held.lost();
        client.cut();
        client.settle();
        leader.delete(held.nodePaths().get(0));
        client.settle();
        assertEquals(LossCause.NODE_DELETED, lost.getNow(null));
    }

    /**
     * The second deletion is reported right after the first, so it is checked a moment later, and by then that holder
     * has released. No heartbeat comes before the end of the test.
     */
    @Test
    void evictedHolderLearnsAtOnce_afterOneThatReleased() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease first = client.acquire("/a");
        ZkLease second = client.acquire("/b");
        ZkLease third = client.acquire("/c");
        CompletableFuture<LossCause> firstLost = first.lost();
        var unused = second.lost();
        CompletableFuture<LossCause> thirdLost = third.lost();
        client.settle();
        leader.delete(first.nodePaths().get(0));
        client.settle();
        assertEquals(LossCause.NODE_DELETED, firstLost.getNow(null));
        leader.delete(second.nodePaths().get(0));
        client.settle();
        var unused2 = second.releaseAsync();
        client.settle();
        steps(client, SESSION.dividedBy(12));

        leader.delete(third.nodePaths().get(0));
        client.settle();
        assertEquals(LossCause.NODE_DELETED, thirdLost.getNow(null));
    }

    /**
     * The first deletion is checked at once, and those that are reported before the response together, a moment later.
     * No heartbeat comes before the end of the test.
     */
    @Test
    void evictedHoldersLearnAtOnce_whenTheirNodesAreDeletedTogether() throws Exception {
        Client client = new Client(0, checks -> {});
        List<String> nodes = new ArrayList<>();
        List<CompletableFuture<LossCause>> lost = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ZkLease held = client.acquire("/held/" + i);
            nodes.add(held.nodePaths().get(0));
            lost.add(held.lost());
        }
        client.settle();
        nodes.subList(0, 3).forEach(leader::delete);
        client.settle();
        steps(client, SESSION.dividedBy(12));
        assertEquals(
                List.of(LossCause.NODE_DELETED, LossCause.NODE_DELETED, LossCause.NODE_DELETED),
                lost.subList(0, 3).stream().map(each -> each.getNow(null)).toList());

        leader.delete(nodes.get(3));
        client.settle();
        assertEquals(LossCause.NODE_DELETED, lost.get(3).getNow(null));
    }

    /** One node more than a part of a heartbeat has. No heartbeat comes after its deletion. */
    @Test
    void evictedHolderLearnsAtOnce_whenItsNodeIsLeftToAWatch() throws Exception {
        Client client = new Client(0, checks -> {});
        List<ZkLease> held = new ArrayList<>();
        for (int i = 0; i < 501; i++) {
            held.add(client.acquire("/held/" + i));
        }
        steps(client, SESSION.dividedBy(2));
        ZkLease last = held.get(500);
        last.ensureValid();
        leader.delete(last.nodePaths().get(0));
        client.settle();
        assertFalse(last.isValid());
        held.subList(0, 500).forEach(ZkLease::ensureValid);
    }

    @Test
    void heartbeatsStop_whenTheLastNodeIsGone() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        var unused = client.acquire("/m").releaseAsync();
        client.settle();
        steps(client, SESSION);
        beats.clear();
        steps(client, SESSION);
        assertEquals(List.of(), beats);
    }

    /**
     * On a borrowed handle both wait for a proof. The beat that brings it fails and names one of them, or the barrier
     * of a new connection brings it and checks none of them.
     */
    @ParameterizedTest
    @CsvSource({"2, false", "1, true"})
    void requestsAreNotGrantedWithoutNodes_whenTheyWaitForAProof(int requests, boolean reconnects) throws Exception {
        List<String> paths = List.of("/a", "/b").subList(0, requests);
        Client borrower = new Client(0, checks -> {}, true);
        Client other = new Client(1, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked =
                paths.stream().map(borrower::asks).toList();
        borrower.settle();
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "granted without a proof");
        if (reconnects) {
            borrower.cut();
        }
        for (String path : paths) {
            leader.delete(queueUnder(path).get(0));
            other.acquire(path).ensureValid();
        }
        long end = leader.time().nanos() + SESSION.toNanos();
        while (leader.time().nanos() < end) {
            borrower.settle();
            other.settle();
            leader.time().runNext();
        }
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "the other client holds");
    }

    /** The heartbeat that brings the proof names one of the two nodes, and the answer that names the other is lost. */
    @Test
    void requestIsNotGrantedWithoutANode_whenTheAnswerThatNamesItIsLost() throws Exception {
        Client borrower = new Client(0, checks -> {}, true);
        Client other = new Client(1, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked = List.of(borrower.asks("/a"), borrower.asks("/b"));
        borrower.settle();
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "granted without a proof");
        for (String path : List.of("/a", "/b")) {
            leader.delete(queueUnder(path).get(0));
            other.acquire(path).ensureValid();
        }
        borrower.settleUntilNext(RequestMatch.op(WireRecord.Op.MULTI_READ));
        borrower.loseTheAnswer();
        borrower.settle();
        assertFalse(asked.get(1).isDone(), "granted without a node");
        steps(borrower, SESSION);
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "the other client holds");
    }

    /**
     * The lease waited for a proof, no connection is reported lost after that, and the holder looks at nothing: only
     * the timer of the deadline can report the loss.
     */
    @Test
    void lossIsReported_whenTheFirstHolderOnABorrowedHandleIsCutOffWithoutNotice() throws Exception {
        Client borrower = new Client(0, checks -> {}, true);
        CompletableFuture<Optional<ZkLease>> asked = borrower.asks("/m");
        borrower.settle();
        assertFalse(asked.isDone(), "granted without a proof");
        steps(borrower, SESSION.dividedBy(2));
        CompletableFuture<LossCause> lost =
                asked.get(5, TimeUnit.SECONDS).orElseThrow().lost();
        borrower.settle();
        Objects.requireNonNull(borrower.port).silence();
        steps(borrower, SESSION);
        assertEquals(LossCause.DEADLINE_PASSED, lost.getNow(null));
    }

    /** The timer of the deadline was set for the first one, and heartbeats have moved that on ever since. */
    @Test
    void lossIsReported_whenAHolderOfManyHeartbeatsIsCutOffWithoutNotice() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<LossCause> lost = client.acquire("/m").lost();
        client.settle();
        steps(client, SESSION.multipliedBy(2));
        assertFalse(lost.isDone());
        Objects.requireNonNull(client.port).silence();
        steps(client, SESSION);
        assertEquals(LossCause.DEADLINE_PASSED, lost.getNow(null));
    }

    /** As a request that is repeated, behind a heartbeat or behind the barrier of a new connection. */
    @Test
    void taskRunsOnce_whateverItHasWaitedFor() throws Exception {
        Client client = new Client(0, checks -> {});
        client.acquire("/m").ensureValid();
        Session session = client.engine
                .queries()
                .<Session>inSession((present, then) -> then.complete(present))
                .join();
        List<String> ran = new ArrayList<>();
        client.engine.context().execute(() -> session.tryAgain(() -> ran.add("behind a heartbeat")));
        steps(client, SESSION);
        assertEquals(List.of("behind a heartbeat"), ran);

        client.cut();
        Objects.requireNonNull(client.port).takeMessage();
        client.engine.context().execute(() -> session.tryAgain(() -> ran.add("behind a barrier")));
        assertEquals(1, ran.size(), "no connection is there");
        client.settle();
        client.cut();
        client.settle();
        assertEquals(List.of("behind a heartbeat", "behind a barrier"), ran);
    }

    /** The leader starts the session's time again at the reconnect. */
    @Test
    void leaseHasHalfASessionAtOnce_afterALongOutage() throws Exception {
        Client client = new Client(0, checks -> {});
        var unused = client.acquire("/m").releaseAsync();
        client.settle();
        client.cut();
        moveTo(leader.time().nanos() + SESSION.multipliedBy(9).dividedBy(10).toNanos());
        client.settle();
        Duration left = client.acquire("/m").remaining();
        assertTrue(left.compareTo(SESSION.dividedBy(2)) > 0, left::toString);
    }

    /** The last beat proves that the leader has heard of the one but one before it, and counts from its request. */
    @Test
    void leaseIsNoLongerValid_whenResponsesAreLate() throws Exception {
        List<Long> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(leader.time().nanos()));
        ZkLease held = client.acquire("/m");
        for (int beat = 0; beat < 4; beat++) {
            int before = beat;
            BoundedLoop.until(() -> beats.size() > before, leader.time()::runNext);
            moveTo(beats.get(beat) + LATE.toNanos());
            client.settle();
        }
        assertEndsInASession(held, beats.get(1));
    }

    /** The same for the report of a new connection: the servers know the session from the attempt on. */
    @Test
    void leaseIsNoLongerValid_whenTheReportOfTheConnectionIsLate() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        long attempt = leader.time().nanos();
        client.cut();
        BoundedLoop.until(() -> Objects.requireNonNull(client.port).isUp(), () -> client.step(server));
        moveTo(attempt + LATE.toNanos());
        client.settle();
        assertEndsInASession(held, attempt);
    }

    private void moveTo(long end) {
        SimulatedTime time = leader.time();
        while (time.hasNext() && time.nextAt() <= end) {
            time.runNext();
        }
        time.moveTo(end);
    }

    private void assertEndsInASession(ZkLease held, long proved) {
        Duration end = held.remaining().plusNanos(leader.time().nanos() - proved);
        assertTrue(held.isValid() && end.compareTo(SESSION) <= 0, end::toString);
    }

    /** The request for a watch may be what is lost. */
    @ParameterizedTest
    @MethodSource("stepsOfAnAcquire")
    void waiterIsGranted_whenItsConnectionIsLostOnTheWay(int before) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> asked = waiter.asks("/m");
        steps(before, waiter, server);
        waiter.cut();
        waiter.settle();
        assertFalse(asked.isDone());
        var unused = held.releaseAsync();
        holder.settle();
        waiter.settle();
        assertTrue(asked.isDone(), "a waiter without a watch");
    }

    /**
     * ZooKeeper's client sets its watches again in packets of some 1,500. Between two of them the waiter's node is
     * deleted and the holder ahead releases: then the events of the release arrive before that of the deletion.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void releaseAheadIsNoGrant_beforeTheBarrierOfANewConnection(boolean marked) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        Client next = new Client(2, checks -> {});
        ZkLease first = holder.acquire("/m");
        String ahead = first.nodePaths().get(0);
        CompletableFuture<Optional<ZkLease>> second = waiter.asks("/m");
        waiter.settle();
        CompletableFuture<Optional<ZkLease>> third = next.asks("/m");
        next.settle();
        String own = queueUnder("/m").get(1);

        leader.delete(own);
        var released = first.releaseAsync();
        holder.settle();
        next.settle();
        assertTrue(third.get(5, TimeUnit.SECONDS).isPresent());
        waiter.listener().disconnected();
        waiter.listener().connected((int) SESSION.toMillis(), Optional.empty());
        if (marked) {
            waiter.listener().fired(ahead, ZnodeStore.Change.DATA, 99);
        }
        waiter.listener().fired(ahead, ZnodeStore.Change.DELETED, 99);

        assertFalse(second.isDone(), "the third holds");
        assertTrue(released.isDone());
    }

    /** As servers before 3.9 tell of changes: a pair of events may then be of two transactions. */
    @Test
    void markIsNoGrant_whenEventsHaveNoZxid() throws Exception {
        List<Client> clients =
                List.of(new Client(0, checks -> {}), new Client(1, checks -> {}), new Client(2, checks -> {}));
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (Client client : clients) {
            asked.add(client.asks("/m"));
            client.settle();
        }
        String ahead = queueUnder("/m").get(1);
        clients.get(2).listener().fired(ahead, ZnodeStore.Change.DATA, -1);
        clients.get(2).listener().fired(ahead, ZnodeStore.Change.DELETED, -1);
        clients.get(2).settle();

        assertTrue(asked.get(0).isDone());
        assertFalse(asked.get(2).isDone(), "the first holds");
    }

    /**
     * A server that lags behind does not show what is committed, until it has answered the barrier. That is sent late
     * where a heartbeat is on its way when the connection is lost.
     */
    @Test
    void lostCreateIsFound_whenTheServerLagsBehind() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client other = new Client(1, checks -> {});
        other.acquire("/held").ensureValid();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        CompletableFuture<Optional<ZkLease>> waits = client.asks("/held");
        client.settle();
        var released = client.acquire("/m").releaseAsync();
        client.settle();
        assertTrue(released.isDone());

        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        beats.clear();
        BoundedLoop.until(() -> !beats.isEmpty(), leader.time()::runNext);
        client.loseTheAnswer();
        List<String> created = queueUnder("/m");
        client.settleBehindALaggingServer();
        assertEquals(1, created.size());
        assertEquals(created, asked.get(5, TimeUnit.SECONDS).orElseThrow().nodePaths());
        assertFalse(waits.isDone());
    }

    @Test
    void lostCreateIsFoundAgain_whenAnotherOneWasLostBefore() throws Exception {
        Client client = new Client(0, checks -> {});
        var unused = client.acquire("/m").releaseAsync();
        client.settle();
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
            client.loseTheAnswer();
            List<String> created = queueUnder("/m");
            client.settle();
            assertTrue(asked.isDone(), "its create is looked for");
            ZkLease held = asked.get(5, TimeUnit.SECONDS).orElseThrow();
            assertEquals(created, held.nodePaths());
            var released = held.releaseAsync();
            client.settle();
            assertEquals(ReleaseOutcome.RELEASED, released.getNow(null));
        }
    }

    @Test
    void lostCreateIsFound_whenTheReadOfItsTokenIsLostToo() throws Exception {
        Client client = new Client(0, checks -> {});
        var unused = client.acquire("/m").releaseAsync();
        client.settle();
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.loseTheAnswer();
        List<String> created = queueUnder("/m");
        client.settleUntilNext(RequestMatch.getData().path("of the created node", created.get(0)::equals));
        client.loseTheAnswer();
        client.settle();
        assertEquals(created, asked.get(5, TimeUnit.SECONDS).orElseThrow().nodePaths());
    }

    /** One member was ready from the start, so no watch is on its node. It is gone when the other becomes ready. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void multiLockIsAskedForAgain_whenTheNodeOfItsReadyMemberIsGone(int ready) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        Client next = new Client(2, checks -> {});
        String free = List.of("/a", "/b").get(ready);
        ZkLease held = holder.acquire(List.of("/a", "/b").get(1 - ready));
        CompletableFuture<Optional<ZkLease>> both = client.asks(Recipe.MUTEX, "/a", "/b");
        client.settle();
        leader.delete(queueUnder(free).get(0));
        ZkLease other = next.acquire(free);
        held.abandon();
        holder.settle();
        client.settle();
        assertFalse(both.isDone(), "the other client holds");

        other.abandon();
        next.settle();
        client.settle();
        List<String> nodes = both.get(5, TimeUnit.SECONDS).orElseThrow().nodePaths();
        assertEquals(List.of(nodes.get(0)), queueUnder("/a"));
        assertEquals(List.of(nodes.get(1)), queueUnder("/b"));
    }

    /**
     * The last request of its client has to look at the queue again as well, since its watches are lost with the
     * response to the downgrade. Its list comes first, and shows the node in the place of the writer's.
     */
    @Test
    void downgradeSucceeds_whenAListOfItsClientShowsItBeforeTheResponse() throws Exception {
        Client client = new Client(0, checks -> {});
        Client other = new Client(1, checks -> {});
        CompletableFuture<Optional<ZkLease>> first = client.asks(Recipe.WRITE, "/rw");
        client.settle();
        CompletableFuture<Optional<ZkLease>> second = other.asks(Recipe.WRITE, "/rw");
        other.settle();
        CompletableFuture<Optional<ZkLease>> third = client.asks(Recipe.WRITE, "/rw");
        client.settleUntilNext(RequestMatch.watching());
        CompletableFuture<ZkLease> read =
                first.get(5, TimeUnit.SECONDS).orElseThrow().downgrade(Recipe.READ);
        SimulatedPort port = Objects.requireNonNull(client.port);
        BoundedLoop.until(() -> RequestMatch.create().matches(port.peekRequest().onTheWire()), port::takeRequest);
        client.loseTheAnswer();
        client.settle();
        ZkLease reader = read.get(5, TimeUnit.SECONDS);
        assertTrue(reader.isValid(), reader::toString);
        assertEquals(reader.nodePaths().get(0), queueUnder("/rw").get(0));
        assertFalse(second.isDone() || third.isDone());
    }

    /** The server has refused the release for each of two nodes. So the client asks which of them exist. */
    @Test
    void releaseIsAnswered_whenItsClientClosesWhileMissingNodesAreLookedFor() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks(Recipe.MUTEX, "/a", "/b", "/c");
        client.settle();
        ZkLease held = asked.get(5, TimeUnit.SECONDS).orElseThrow();
        held.nodePaths().subList(0, 2).forEach(leader::delete);
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync();
        client.settleUntilNext(RequestMatch.op(WireRecord.Op.MULTI_READ));
        assertFalse(released.isDone());
        client.engine.context().execute(client.engine::close);
        assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
    }

    /** The first one waits for the connection, and the second one behind it. */
    @Test
    void everyReleaseIsPendingAtOnce_withoutAConnection() throws Exception {
        Client client = new Client(0, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked =
                List.of(client.asks(Recipe.READ, "/rw"), client.asks(Recipe.READ, "/rw"));
        client.settle();
        client.cut();
        assertTrue(client.step(server), "it learns of the loss");
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            CompletableFuture<ReleaseOutcome> released =
                    each.get(5, TimeUnit.SECONDS).orElseThrow().releaseAsync();
            assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
        }
        client.settle();
        assertEquals(List.of(), queueUnder("/rw"));
    }

    /** All in one transaction would outgrow a packet. */
    @Test
    @Tag("once")
    void deletionsAreSentInParts_whenManyWereReleasedWithoutAConnection() throws Exception {
        Client client = new Client(0, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        asked.add(client.asks(Recipe.READ, "/rw"));
        client.settle();
        while (asked.size() < 1_200) {
            asked.add(client.asks(Recipe.READ, "/rw"));
        }
        client.settle();
        client.cut();
        assertTrue(client.step(server), "it learns of the loss");
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            each.get(5, TimeUnit.SECONDS).orElseThrow().abandon();
        }
        SimulatedPort port = Objects.requireNonNull(client.port);
        Set<Integer> sizes = new HashSet<>();
        BoundedLoop.all(() -> {
            if (port.hasRequest()
                    && RequestMatch.delete().matches(port.peekRequest().onTheWire())) {
                sizes.add(port.peekRequest().onTheWire().parts().size());
            }
            return client.step(server);
        });
        assertEquals(Set.of(500, 200), sizes);
        assertEquals(List.of(), queueUnder("/rw"));
    }

    /**
     * The server refuses the release for the request's node, and then for the revocation node: only the first of them
     * was held. More often than transactions of a path may be on their way.
     */
    @Test
    void everyReleaseOfAHolderThatListensTellsTheLoss_whenBothNodesAreGone() throws Exception {
        Client client = new Client(0, checks -> {});
        for (int i = 0; i < 6; i++) {
            ZkLease held = client.acquire("/m");
            var unused = held.releaseRequested();
            client.settle();
            List<String> nodes = queueUnder("/m");
            assertEquals(2, nodes.size(), nodes::toString);
            nodes.forEach(leader::delete);
            CompletableFuture<ReleaseOutcome> released = held.releaseAsync();
            client.settle();
            assertEquals(ReleaseOutcome.LOST, released.getNow(null));
        }
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        client.engine.onceClosed(() -> closed.complete(true));
        client.engine.context().execute(() -> client.engine.close(SESSION));
        assertTrue(closed.isDone(), "no release is pending");
    }

    @Test
    void otherNodesAreDeleted_whenTheAnswerThatNamesMissingOnesIsLost() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks(Recipe.MUTEX, "/a", "/b", "/c");
        client.settle();
        ZkLease held = asked.get(5, TimeUnit.SECONDS).orElseThrow();
        held.nodePaths().subList(0, 2).forEach(leader::delete);
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync();
        client.settleUntilNext(RequestMatch.op(WireRecord.Op.MULTI_READ));
        client.loseTheAnswer();
        client.settle();
        assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
        assertEquals(List.of(), queueUnder("/c"));
    }

    /** While a neighbour holds, one release of a path is on its way: the second one has not been sent. */
    @Test
    void everyReleaseIsAnswered_whenItsSessionEnds() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease first = client.acquire("/m");
        CompletableFuture<Optional<ZkLease>> second = client.asks("/m");
        CompletableFuture<Optional<ZkLease>> third = client.asks("/m");
        client.settle();
        SimulatedPort port = Objects.requireNonNull(client.port);
        List<CompletableFuture<ReleaseOutcome>> released = new ArrayList<>();
        released.add(first.releaseAsync());
        released.add(second.get(5, TimeUnit.SECONDS).orElseThrow().releaseAsync());
        assertTrue(third.isDone(), "it holds");
        leader.closeSession(port.session());
        // The response to the first release tells of the end, before the loss of the connection.
        port.takeRequest();
        client.settle();
        assertEquals(
                List.of(ReleaseOutcome.LOST, ReleaseOutcome.LOST),
                released.stream().map(each -> each.getNow(null)).toList());
    }

    /** Until then the session, which goes on, may have a node of the closed client. */
    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "false, true"})
    void borrowerIsClosed_onceItsLostCreateWasLookedFor(boolean applied, boolean pathIsGone) throws Exception {
        Client other = new Client(1, checks -> {});
        var unused = other.acquire("/m").releaseAsync();
        other.settle();
        Client borrower = new Client(0, checks -> {}, true);
        CompletableFuture<Optional<ZkLease>> asked = borrower.asks("/m");
        if (applied) {
            borrower.loseTheAnswer();
        } else {
            borrower.cut();
        }
        if (pathIsGone) {
            leader.delete("/m");
        }
        assertTrue(borrower.step(server), "it learns of the loss");
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        borrower.engine.onceClosed(() -> closed.complete(true));
        borrower.engine.context().execute(borrower.engine::close);
        assertTrue(asked.isCompletedExceptionally());
        assertFalse(closed.isDone(), "its node may be there");
        borrower.settle();
        assertTrue(closed.isDone());
    }

    private void makePlainNode(String path) {
        leader.commit(List.of(Tree.Effect.Created.of(path, new byte[0], Tree.NO_OWNER)), 0);
    }

    private static void assertMismatch(CompletableFuture<?> asked) {
        ExecutionException refused = assertThrows(ExecutionException.class, () -> asked.get(5, TimeUnit.SECONDS));
        assertInstanceOf(LockMismatchException.class, refused.getCause());
    }

    /** Both have read that its data is empty. */
    @Test
    void plainNodeIsAdoptedOnce_whenTwoKindsAreAskedFor() throws Exception {
        Client first = new Client(0, checks -> {});
        Client second = new Client(1, checks -> {});
        makePlainNode("/p");
        CompletableFuture<Optional<ZkLease>> mutex = first.asks(Recipe.MUTEX, "/p");
        first.settleUntilNext(RequestMatch.setData().path("of the path", "/p"::equals));
        CompletableFuture<Optional<ZkLease>> write = second.asks(Recipe.WRITE, "/p");
        second.settle();
        settleBoth(first, second);
        assertMismatch(mutex);
        write.get(5, TimeUnit.SECONDS).orElseThrow().ensureValid();
        assertEquals("latchkey/3 read-write", new String(leader.tree().get("/p").data, StandardCharsets.UTF_8));
    }

    @Test
    void plainNodeStaysAsItIs_whenAnotherLayoutUsesIt() throws Exception {
        Client client = new Client(0, checks -> {});
        makePlainNode("/p");
        makePlainNode("/p/_c_0b1c2d3e-0000-4000-8000-000000000000-lock-0000000000");
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/p");
        client.settle();
        assertMismatch(asked);
        assertEquals(0, leader.tree().get("/p").data.length);
    }

    /** The list of the first is on its way when the others ask: the next one serves both. */
    @Test
    void requestForAnotherKindFailsAlone_whenItsListServesOthers() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> first = client.asks("/m");
        CompletableFuture<Optional<ZkLease>> ofAnotherKind = client.asks(Recipe.WRITE, "/m");
        CompletableFuture<Optional<ZkLease>> last = client.asks("/m");
        client.settle();
        assertMismatch(ofAnotherKind);
        assertFalse(first.isDone() || last.isDone(), "the other client holds");
        held.abandon();
        settleBoth(holder, client);
        first.get(5, TimeUnit.SECONDS).orElseThrow().abandon();
        client.settle();
        last.get(5, TimeUnit.SECONDS).orElseThrow().ensureValid();
    }

    @Test
    void pathIsRenewed_whenTheConnectionIsLostTwiceBefore() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = waiter.asks("/m");
        for (int i = 0; i < 2; i++) {
            waiter.settleUntilNext(RequestMatch.watching().path("of the path", "/m"::equals));
            waiter.cut();
        }
        settleBothFor(SESSION, holder, waiter);
        assertFalse(asked.isDone(), "the other client holds");
        held.abandon();
        settleBothFor(SESSION, holder, waiter);
        assertTrue(asked.isDone(), "the path is empty");
    }

    /** A path whose lists were lost twice is listed behind a heartbeat, so time has to pass. */
    private void settleBothFor(Duration span, Client one, Client other) {
        long end = leader.time().nanos() + span.toNanos();
        settleBoth(one, other);
        while (leader.time().nextAt() <= end) {
            leader.time().runNext();
            settleBoth(one, other);
        }
        leader.time().moveTo(end);
    }

    @Test
    void requestFails_whenTheServerRefusesToDeleteAWornOutPath() throws Exception {
        Client client = new Client(0, checks -> {});
        var unused = client.acquire("/m").releaseAsync();
        client.settle();
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.settleUntilNext(RequestMatch.delete().path("of the path", "/m"::equals));
        Objects.requireNonNull(client.port).refuseWrites(1);
        client.settle();
        ExecutionException refused = assertThrows(ExecutionException.class, () -> asked.get(5, TimeUnit.SECONDS));
        LockException told = assertInstanceOf(LockException.class, refused.getCause());
        assertEquals(LockException.Reason.COUNTER_EXHAUSTED, told.reason(), told.getMessage());
        client.acquire("/m").ensureValid();
    }

    /** The first has seen an empty path, and the request of the second arrives before the path is deleted. */
    @Test
    void pathIsRenewedLater_whenARequestComesBeforeItIsDeleted() throws Exception {
        Client first = new Client(0, checks -> {});
        Client second = new Client(1, checks -> {});
        var unused = first.acquire("/m").releaseAsync();
        first.settle();
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> one = first.asks("/m");
        first.settleUntilNext(RequestMatch.delete().path("of the path", "/m"::equals));
        CompletableFuture<Optional<ZkLease>> other = second.asks("/m");
        BoundedLoop.until(() -> queueUnder("/m").size() == 1, () -> second.step(server));
        settleBoth(first, second);
        assertTrue(one.isDone() != other.isDone(), "one of them holds the new path's lock");
        for (CompletableFuture<Optional<ZkLease>> next : one.isDone() ? List.of(one, other) : List.of(other, one)) {
            next.get(5, TimeUnit.SECONDS).orElseThrow().abandon();
            settleBoth(first, second);
        }
    }

    private void settleBoth(Client one, Client other) {
        BoundedLoop.all(() -> one.step(server) || other.step(server));
    }

    /**
     * The first server keeps the create, and carries it out when the session is back, which has released at the second
     * one: before or after it created the node again there. It moves back at any moment.
     */
    @ParameterizedTest
    @MethodSource("stepsAtTheSecondServer")
    void lateRevocationNodeIsNotLeft_whenTheSessionMovesBack(int before, int behind) throws Exception {
        Server second = new Server(leader);
        Client holder = new Client(0, checks -> {});
        ZkLease lease = holder.acquire("/m");
        var unused = lease.releaseRequested();
        holder.cut();
        steps(before, holder, second);
        var released = lease.releaseAsync();
        steps(behind, holder, second);
        holder.cut();
        holder.settle();
        assertTrue(released.isDone());
        assertEquals(List.of(), queueUnder("/m"));
    }

    static Stream<Arguments> stepsAtTheSecondServer() {
        return Stream.of(0, 12)
                .flatMap(before -> IntStream.rangeClosed(0, 12).mapToObj(behind -> Arguments.of(before, behind)));
    }

    private static void steps(int most, Client client, Server at) {
        int done = 0;
        while (done < most && client.step(at)) {
            done++;
        }
    }

    /** Servers delete an empty container sooner or later, but only one that has had a child. */
    @ParameterizedTest
    @MethodSource("stepsOfAnAcquire")
    void levelsOfAPathAreNotLeft_whenTheRequestIsGivenUp(int before) throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/x/y/z");
        steps(before, client, server);
        asked.cancel(false);
        client.settle();
        assertEquals(List.of(), client.engine.requests());
        BoundedLoop.until(() -> Nodes.deserted(leader.tree()).isEmpty(), () -> Nodes.deserted(leader.tree())
                .forEach(leader::delete));
        assertNull(leader.tree().find("/x"));
    }

    static IntStream stepsOfAnAcquire() {
        return IntStream.rangeClosed(0, 15);
    }

    /** More often than the margin after which a reconnect has its next heartbeat. */
    @Test
    void deletedNodeIsReported_whenTheConnectionIsLostRepeatedly() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        leader.delete(held.nodePaths().get(0));
        SimulatedTime time = leader.time();
        long end = time.nanos() + SESSION.toNanos();
        while (held.isValid() && time.nanos() < end) {
            client.cut();
            client.settle();
            time.moveTo(time.nanos() + SESSION.dividedBy(8).toNanos());
            client.settle();
        }
        assertEquals(LossCause.NODE_DELETED, held.lost().getNow(null));
    }

    /** The list is read for the request behind it, of the same client. */
    @Test
    void waiterWithoutANodeIsNotGranted_whenAListShowsThatItHasNone() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<Optional<ZkLease>> deleted = client.asks("/m");
        client.settle();
        leader.delete(queueUnder("/m").get(1));
        CompletableFuture<Optional<ZkLease>> third = client.asks("/m");
        client.settle();
        var unused = held.releaseAsync();
        assertFalse(deleted.isDone(), "granted without a node");
        client.settle();
        assertTrue(third.isDone());
        assertFalse(deleted.isDone(), "its new node is behind the third");
    }

    private List<String> queueUnder(String path) {
        return leader.tree().find(path).listing().children().stream()
                .map(child -> path + '/' + child)
                .sorted(Comparator.comparing(child -> child.substring(child.length() - 10)))
                .toList();
    }
}
