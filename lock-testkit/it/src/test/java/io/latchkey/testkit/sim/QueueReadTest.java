// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Mutex;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.zk.internal.admin.LockTree;
import io.latchkey.zk.internal.admin.QueueInspector;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Tag;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a client with a lease reads queues at other paths: a long one, and one whose path is written again and again. */
@Timeout(30)
class QueueReadTest extends OnSimulatedServer {
    private static final int LENGTH = 2_000;
    private static final RequestMatch REQUEST =
            RequestMatch.getData().path("of a request", path -> path.startsWith("/long/write-"));

    private final List<Integer> beats = new ArrayList<>();
    private final Client client;

    QueueReadTest() throws Exception {
        client = new Client(0, checks -> beats.add(checks.size()));
    }

    @BeforeEach
    void makeALongQueue() throws Exception {
        client.acquire("/held").ensureValid();
        client.use("/long");
        List<Tree.Effect> requests = new ArrayList<>();
        for (int i = 0; i < LENGTH; i++) {
            String name = NodeName.prefix(Tag.WRITE, String.format("%016x", i), 1) + String.format("%010d", i);
            requests.add(Tree.Effect.Created.of("/long/" + name, new byte[0], Tree.NO_OWNER));
        }
        leader.commit(requests, 0);
    }

    /** A read of the queue. */
    enum Read {
        QUEUE,
        LISTING;

        CompletableFuture<Integer> length(Client by) {
            return switch (this) {
                case QUEUE ->
                    new QueueInspector(by.engine, new LockPath("/long"), PathData.MUTEX)
                            .readLater()
                            .thenApply(List::size);
                case LISTING ->
                    new LockTree(by.engine, "", path -> {}).below("/").thenApply(seen -> seen.locks().stream()
                            .mapToInt(lock -> lock.queue().size())
                            .sum());
            };
        }
    }

    /** It would lose its leases, and the connection, if heartbeats waited behind thousands of reads. */
    @ParameterizedTest
    @EnumSource
    void heartbeatWaitsForFewOfTheReads(Read read) throws Exception {
        // The listing has the held lock, too.
        int length = read == Read.QUEUE ? LENGTH : LENGTH + 1;
        beats.clear();
        CompletableFuture<Integer> asked = read.length(client);
        client.settleUntilNext(REQUEST);
        BoundedLoop.until(() -> !beats.isEmpty(), leader.time()::runNext);
        int ahead = client.store().outgoing.size();
        assertTrue(ahead <= 101, ahead + " requests are on the wire");
        assertFalse(asked.isDone());
        client.settle();
        assertEquals(length, asked.get(5, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @EnumSource
    void shortQueueIsRead_whileALongOneIsRead(Read read) throws Exception {
        CompletableFuture<Integer> asked = read.length(client);
        client.settleUntilNext(REQUEST);
        CompletableFuture<List<Contender>> held =
                new QueueInspector(client.engine, new LockPath("/held"), PathData.MUTEX).readLater();
        BoundedLoop.until(held::isDone, () -> client.step(server));
        assertEquals(1, held.get().size());
        assertFalse(asked.isDone());
    }

    /** Reads that its caller no longer waits for are not sent. */
    @Test
    void readEnds_whenItsCallerHasGone() throws Exception {
        CompletableFuture<Integer> gone = Read.QUEUE.length(client);
        client.settleUntilNext(REQUEST);
        CompletableFuture<Integer> next = Read.QUEUE.length(client);
        BoundedLoop.until(() -> gone.isDone() && next.isDone(), leader.time()::runNext);
        int sent = client.sent(REQUEST).size();
        assertTrue(gone.isCompletedExceptionally());
        assertTrue(next.isCompletedExceptionally());
        assertTrue(sent <= 100, sent + " reads after the end of the time");
    }

    private void passes(Duration span) {
        long end = leader.time().nanos() + span.toNanos();
        BoundedLoop.until(() -> leader.time().nextAt() > end, leader.time()::runNext);
        leader.time().moveTo(end);
    }

    /** Each answer gives the servers another session timeout, also within a queue. */
    @Test
    void queueIsListed_whenItsRequestsAreReadForLongerThanASessionTimeout() throws Exception {
        long begun = leader.time().nanos();
        CompletableFuture<LockListing> asked = new LockTree(client.engine, "", path -> {}).below("/long");
        BoundedLoop.until(asked::isDone, () -> {
            steps(200, client, server);
            passes(SESSION.dividedBy(10));
        });
        LockListing seen = asked.get(5, TimeUnit.SECONDS);
        long took = leader.time().nanos() - begun;
        assertTrue(took > SESSION.toNanos(), took + " ns");
        assertTrue(seen.isComplete(), seen::toString);
        assertEquals(LENGTH, seen.locks().get(0).queue().size());
    }

    // ---- paths whose data is written before each list of them is answered

    /** Takes a step of the client, and returns whether there was one. */
    private boolean stepWhileWriting(Client by, String data) {
        if (by.isNext(RequestMatch.list())) {
            String path = by.store().peekRequest().onTheWire().path();
            leader.commit(List.of(new Tree.Effect.DataSet(path, data.getBytes(StandardCharsets.UTF_8))), 0);
        }
        return by.step(server);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void queueIsNotReadForEver_whenItsCallerHasGone(int members) throws Exception {
        EngineLockClient locks = new EngineLockClient(client.engine, Optional.empty());
        List<String> paths = List.of("/m", "/n").subList(0, members);
        for (String path : paths) {
            client.use(path);
        }
        Mutex[] mutexes = paths.stream().map(locks::mutex).toArray(Mutex[]::new);
        CompletableFuture<?> asked = mutexes.length == 1
                ? mutexes[0].queueAsync()
                : locks.multiLock(mutexes).queueAsync();
        BooleanSupplier step = () -> stepWhileWriting(client, "latchkey/3 mutex");
        for (int steps = 0; steps < 100; steps++) {
            assertTrue(step.getAsBoolean());
        }
        assertTrue(asked.cancel(false));
        BoundedLoop.all(step);
    }

    /** There the data belongs to others, and says nothing of the lock. */
    @Test
    void queueOfASharedLayoutIsRead_whileItsPathIsWritten() throws Exception {
        Client shared = new Client(1, Namings.KAZOO);
        long token = shared.acquire("/kazoo").token();
        CompletableFuture<List<Contender>> asked = new EngineLockClient(shared.engine, Optional.empty())
                .mutex("/kazoo")
                .queueAsync();
        BoundedLoop.all(() -> stepWhileWriting(shared, "data of an application"));
        List<Contender> seen = asked.get(5, TimeUnit.SECONDS);
        assertEquals(List.of(token), seen.stream().map(Contender::token).toList());
    }
}
