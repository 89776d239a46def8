// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Heartbeats and watches of an engine, in moments that no server can be held in. */
@Timeout(30)
class HeartbeatTest {
    private static final Duration SESSION = Duration.ofSeconds(12);

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
            port = new SimulatedPort(leader, SESSION, told);
            return new Telling(port, beats);
        }

        ZnodeStore.Listener listener() {
            return Objects.requireNonNull(listener);
        }

        CompletableFuture<Optional<ZkLease>> asks(String path) {
            return engine.acquire(List.of(new LockTarget(Recipe.MUTEX, path)), new WaitPolicy.Forever());
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
            while (true) {
                if (moved.hasMessage()) {
                    moved.takeMessage();
                } else if (moved.seeksConnection()) {
                    moved.connect(server);
                } else if (moved.hasRequest()) {
                    moved.takeRequest();
                } else if (server.lags()) {
                    server.applyNext();
                } else {
                    return;
                }
            }
        }

        /** Until nothing is on its way. */
        void settle() {
            boolean moving = true;
            while (moving) {
                moving = step(server);
            }
        }

        /** Says whether anything was on its way; a client without a connection connects to that server. */
        boolean step(Server at) {
            SimulatedPort moved = Objects.requireNonNull(port);
            while (at.lags()) {
                at.applyNext();
            }
            if (moved.hasMessage()) {
                moved.takeMessage();
            } else if (moved.seeksConnection()) {
                moved.connect(at);
            } else if (moved.hasRequest()) {
                moved.takeRequest();
            } else {
                return false;
            }
            return true;
        }
    }

    /** Hands all on. */
    private record Telling(ZnodeStore to, Consumer<List<ZnodeStore.Write>> beats) implements ZnodeStore {
        @Override
        public void create(String path, byte[] data, Consumer<Response<Created>> then) {
            to.create(path, data, then);
        }

        @Override
        public void list(String path, Consumer<Response<Listing>> then) {
            to.list(path, then);
        }

        @Override
        public void lists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then) {
            to.lists(paths, then);
        }

        @Override
        public void exist(List<String> paths, Consumer<Response<List<Status>>> then) {
            to.exist(paths, then);
        }

        @Override
        public void read(String path, Consumer<Response<NodeData>> then) {
            to.read(path, then);
        }

        @Override
        public void watchData(String path, Consumer<Response<NodeData>> then) {
            to.watchData(path, then);
        }

        @Override
        public void watchChildren(String path, Consumer<Response<Listing>> then) {
            to.watchChildren(path, then);
        }

        @Override
        public void removeWatches(String path, Runnable then) {
            to.removeWatches(path, then);
        }

        @Override
        public void write(List<Write> writes, Consumer<Response<Written>> then) {
            if (writes.stream().allMatch(Write.Check.class::isInstance)) {
                beats.accept(writes);
            }
            to.write(writes, then);
        }

        @Override
        public void close(Runnable then) {
            to.close(then);
        }
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
            CompletableFuture<Optional<ZkLease>> asked = client.asks("/many/" + i);
            client.settle();
            assertTrue(asked.get(5, TimeUnit.SECONDS).isPresent());
        }
        while (order.isEmpty()) {
            leader.time().runNext();
        }
        assertEquals(List.of("part of 500", "other", "part of 500", "other", "part of 200", "other"), order);
    }

    /**
     * Bytes count what a beat walks over, whatever else the machine does; the time is printed for the figures in
     * docs/testing.md.
     */
    @ParameterizedTest
    @CsvSource({"500, 0", "500, 9000", "10000, 0"})
    void calmBeatCosts500Checks_whateverIsHeldOrWasUsed(int held, int used) throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        for (int i = 0; i < used; i++) {
            CompletableFuture<Optional<ZkLease>> former = client.asks("/used/" + i);
            client.settle();
            var unused = former.get(5, TimeUnit.SECONDS).orElseThrow().releaseAsync();
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
            CompletableFuture<Optional<ZkLease>> asked = client.asks("/robbed/" + i);
            client.settle();
            held.add(asked.get(5, TimeUnit.SECONDS).orElseThrow());
        }
        List<ZkLease> robbed = held.subList(3, 40);
        robbed.forEach(lease -> leader.delete(lease.nodePaths().get(0)));
        while (beats.isEmpty()) {
            leader.time().runNext();
        }
        client.settle();
        assertEquals(List.of(), robbed.stream().filter(ZkLease::isValid).toList());
        held.subList(0, 3).forEach(ZkLease::ensureValid);
        assertEquals(List.of(40), beats);
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
            CompletableFuture<Optional<ZkLease>> next = other.asks(path);
            other.settle();
            assertTrue(next.get(5, TimeUnit.SECONDS).isPresent());
        }
        long end = leader.time().nanos() + SESSION.toNanos();
        while (leader.time().nanos() < end) {
            borrower.settle();
            other.settle();
            leader.time().runNext();
        }
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "the other client holds");
    }

    /**
     * ZooKeeper's client sets its watches again in packets of some 1,500. Between two of them the waiter's node is
     * deleted and the holder ahead releases: then the events of the release arrive before that of the deletion.
     */
    @Test
    void markIsNoGrant_beforeTheBarrierOfANewConnection() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        Client next = new Client(2, checks -> {});
        CompletableFuture<Optional<ZkLease>> first = holder.asks("/m");
        holder.settle();
        String ahead = first.get(5, TimeUnit.SECONDS).orElseThrow().nodePaths().get(0);
        CompletableFuture<Optional<ZkLease>> second = waiter.asks("/m");
        waiter.settle();
        CompletableFuture<Optional<ZkLease>> third = next.asks("/m");
        next.settle();
        String own = queueUnder("/m").get(1);

        leader.delete(own);
        var released = first.get(5, TimeUnit.SECONDS).orElseThrow().releaseAsync();
        holder.settle();
        next.settle();
        assertTrue(third.get(5, TimeUnit.SECONDS).isPresent());
        waiter.listener().disconnected();
        waiter.listener().connected((int) SESSION.toMillis());
        waiter.listener().fired(ahead, ZnodeStore.Change.DATA, 99);
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
        CompletableFuture<Optional<ZkLease>> held = other.asks("/held");
        other.settle();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        CompletableFuture<Optional<ZkLease>> waits = client.asks("/held");
        client.settle();
        CompletableFuture<Optional<ZkLease>> former = client.asks("/m");
        client.settle();
        var released = former.get(5, TimeUnit.SECONDS).orElseThrow().releaseAsync();
        client.settle();
        assertTrue(released.isDone());

        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        beats.clear();
        while (beats.isEmpty()) {
            leader.time().runNext();
        }
        client.loseTheAnswer();
        List<String> created = queueUnder("/m");
        client.settleBehindALaggingServer();
        assertEquals(1, created.size());
        assertEquals(created, asked.get(5, TimeUnit.SECONDS).orElseThrow().nodePaths());
        assertTrue(held.isDone() && !waits.isDone());
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
        CompletableFuture<Optional<ZkLease>> asked = holder.asks("/m");
        holder.settle();
        ZkLease lease = asked.get(5, TimeUnit.SECONDS).orElseThrow();
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
        while (!leader.deserted().isEmpty()) {
            leader.deserted().forEach(leader::delete);
        }
        assertNull(leader.tree().find("/x"));
    }

    static IntStream stepsOfAnAcquire() {
        return IntStream.rangeClosed(0, 15);
    }

    /** More often than the margin after which a reconnect has its next heartbeat. */
    @Test
    void deletedNodeIsReported_whenTheConnectionIsLostRepeatedly() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.settle();
        ZkLease held = asked.get(5, TimeUnit.SECONDS).orElseThrow();
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

    private List<String> queueUnder(String path) {
        return leader.tree().find(path).listing().children().stream()
                .map(child -> path + '/' + child)
                .sorted(Comparator.comparing(child -> child.substring(child.length() - 10)))
                .toList();
    }
}
