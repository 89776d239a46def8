// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Contender.Access;
import io.latchkey.lock.Lease;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.HeldFrames;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ServerNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a read-write lock does on its server while nothing fails, beyond what the contracts ask of every implementation.
 */
@Timeout(30)
class ReadWriteLockTest extends OnOneServer {
    private static final String PATH = "/rw";

    private final ZkLockClient one = client("one");
    private final ZkLockClient two = client("two");
    private final ZkLockClient three = client("three");

    private static Acquirable read(ZkLockClient client) {
        return client.readWriteLock(PATH).readLock();
    }

    private static Acquirable write(ZkLockClient client) {
        return client.readWriteLock(PATH).writeLock();
    }

    private CompletableFuture<Lease> queued(Acquirable lock) throws InterruptedException {
        int before = requestsUnder(PATH).size();
        CompletableFuture<Lease> asked = lock.acquireAsync();
        awaitRequests(PATH, before + 1);
        return asked;
    }

    // ---- holders

    /**
     * Newest first is the order that lost wake-ups elsewhere: a writer that watches only the oldest reader sleeps on,
     * or is let in early.
     */
    @ParameterizedTest
    @ValueSource(strings = {"012", "021", "102", "120", "201", "210"})
    void writerIsGranted_whenAllReadersHaveReleasedInAnyOrder(String order) throws Exception {
        ZkLockClient four = client("four");
        // Readers of other clients; of the writer's own, where a release is known before the server has it; of both.
        for (List<ZkLockClient> clients :
                List.of(List.of(one, two, four), List.of(three, three, three), List.of(one, three, three))) {
            List<Lease> readers = new ArrayList<>();
            for (ZkLockClient client : clients) {
                readers.add(read(client).acquire());
            }
            CompletableFuture<Lease> writer = queued(write(three));
            for (int left = 0; left < 3; left++) {
                settle(write(three));
                assertFalse(writer.isDone(), "after " + left + " of 3 left");
                readers.get(order.charAt(left) - '0').close();
            }
            soon(writer).close();
            awaitNothingLeft(PATH);
        }
    }

    @Test
    void cancelledNeighbour_isNoHandOver() throws Exception {
        Lease foreign = read(two).acquire();
        CompletableFuture<Lease> first = queued(write(one));
        CompletableFuture<Lease> second = queued(write(one));
        CompletableFuture<Lease> reader = queued(read(one));
        settle(write(one));
        assertTrue(first.cancel(false));
        awaitRequests(PATH, 3);
        settle(write(one));
        assertFalse(second.isDone() || reader.isDone(), "the other client still reads");
        assertTrue(second.cancel(false));
        soon(reader).close();
        foreign.close();
    }

    // ---- the queue

    @Test
    void queueShowsLabelsAndAccess() throws Exception {
        Lease reading = read(one).acquire();
        CompletableFuture<Lease> writer = queued(write(two));
        for (Acquirable lock : List.of(read(three), write(three))) {
            List<Contender> queue = lock.queue();
            assertEquals(
                    List.of("one", "two"), queue.stream().map(Contender::label).toList());
            assertEquals(
                    List.of(Access.SHARED, Access.EXCLUSIVE),
                    queue.stream().map(Contender::access).toList());
            assertEquals(reading.token(), queue.get(0).token());
        }
        assertTrue(writer.cancel(false));
    }

    // ---- within one session

    @Test
    void writerHandsOverToLocalReaders_withoutTheServer() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient local = patient(proxy);
        read(local).acquire().close();
        Lease writing = write(local).acquire();
        CompletableFuture<Lease> first = queued(read(local));
        CompletableFuture<Lease> foreign = queued(read(two));
        CompletableFuture<Lease> second = queued(read(local));
        settle(read(local));
        HeldFrames answers = proxy.holdAnswers(RequestMatch.delete());
        CompletableFuture<ReleaseOutcome> release = writing.releaseAsync();
        assertTrue(soon(first).isValid());
        assertTrue(soon(second).isValid(), "its nearest writer is the one that left, with readers between them");
        assertFalse(release.isDone());
        answers.close();
        assertEquals(ReleaseOutcome.RELEASED, release.get(5, TimeUnit.SECONDS));
        soon(foreign).close();
    }

    @Test
    void readerGetsNoLocalHandOver_whenAForeignWriterIsBetween() throws Exception {
        Lease writing = write(one).acquire();
        CompletableFuture<Lease> between = queued(write(two));
        CompletableFuture<Lease> reader = queued(read(one));
        writing.close();
        Lease second = soon(between);
        settle(read(one));
        assertFalse(reader.isDone());
        second.close();
        soon(reader).close();
    }

    @Test
    void localReadersAndWritersAreServedInOrder() throws Exception {
        Lease held = write(one).acquire();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        String asked = "rrwrwwrrrwr";
        for (int i = 0; i < asked.length(); i++) {
            boolean reads = asked.charAt(i) == 'r';
            String me = asked.charAt(i) + "" + i;
            all.add(queued(reads ? read(one) : write(one)).thenAccept(lease -> {
                AtomicInteger mine = reads ? readers : writers;
                mine.incrementAndGet();
                if (writers.get() > (reads ? 0 : 1) || (!reads && readers.get() > 0)) {
                    order.add("BROKEN at " + me);
                }
                order.add(me);
                mine.decrementAndGet();
                lease.close();
            }));
        }
        held.close();
        for (CompletableFuture<Void> done : all) {
            done.get(10, TimeUnit.SECONDS);
        }
        assertFalse(order.toString().contains("BROKEN"), order::toString);
        // Readers between two writers may come in any order among themselves.
        String kinds = order.stream().map(each -> each.substring(0, 1)).reduce("", String::concat);
        assertEquals(asked, kinds);
        awaitNothingLeft(PATH);
    }

    // ---- wake-ups

    @Test
    void readerWatchesTheNearestWriterAhead() throws Exception {
        Lease first = write(one).acquire();
        CompletableFuture<Lease> second = queued(write(two));
        FaultProxy proxy = proxy();
        ZkLockClient counted = patient(proxy);
        CompletableFuture<Lease> between = queued(read(client("reader between")));
        CompletableFuture<Lease> reader = queued(read(counted));
        List<ServerNode> nodes = requestsUnder(PATH);
        long session = proxy.session().orElseThrow();
        awaitUntil("a watch on the second writer", () -> watches(session, nodes.get(1)));
        assertFalse(watches(session, nodes.get(0)), "not on the first");
        assertFalse(watches(session, nodes.get(2)), "nor on a reader");

        Wire.Mark before = proxy.mark();
        first.close();
        Lease written = soon(second);
        assertEquals(
                0, proxy.since(before).watchEvents(), () -> proxy.since(before).toString());
        written.close();
        soon(between).close();
        soon(reader).close();
    }

    private boolean watches(long session, ServerNode node) {
        return server().watches().stream()
                .anyMatch(watch -> watch.session() == session && watch.path().equals(node.path()));
    }

    /** If all waiters watched the first writer, each writer would wake all of them: k times M. */
    @Test
    void readersAreWokenOnce_behindManyWriters() throws Exception {
        int writers = 4;
        int readers = 5;
        List<CompletableFuture<Lease>> writing = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
            writing.add(queued(write(client("writer"))));
        }
        List<FaultProxy> proxies = new ArrayList<>();
        List<CompletableFuture<Lease>> reading = new ArrayList<>();
        for (int i = 0; i < readers; i++) {
            FaultProxy proxy = proxy();
            proxies.add(proxy);
            reading.add(queued(read(patient(proxy))));
        }
        // Each reader has two watches on the last writer and one on its own node; each waiting writer as many.
        awaitWatches(3 * readers + 3 * (writers - 1));
        List<Wire.Mark> marks = proxies.stream().map(FaultProxy::mark).toList();
        for (CompletableFuture<Lease> writer : writing) {
            soon(writer).close();
        }
        for (CompletableFuture<Lease> reader : reading) {
            soon(reader);
        }
        for (int i = 0; i < readers; i++) {
            Wire wire = proxies.get(i).since(marks.get(i));
            assertEquals(2, wire.watchEvents(), "the pair of one transaction, once: " + wire);
            assertEquals(0, wire.requestsButHeartbeats(), wire::toString);
        }
    }

    @Test
    void waitingWriterIsNotWoken_byReadersFarAhead() throws Exception {
        Lease oldest = read(one).acquire();
        Lease newest = read(two).acquire();
        FaultProxy proxy = proxy();
        ZkLockClient counted = patient(proxy);
        CompletableFuture<Lease> writer = queued(write(counted));
        awaitWatchers(requestsUnder(PATH).get(1), 1);
        settle(write(counted));
        Wire.Mark before = proxy.mark();
        oldest.close();
        assertEquals(
                0, proxy.since(before).watchEvents(), () -> proxy.since(before).toString());
        newest.close();
        soon(writer).close();
    }
}
