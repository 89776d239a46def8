// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.Wire;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a read-write lock does on its server while nothing fails, beyond what the contracts ask of every implementation.
 */
@Timeout(30)
class ReadWriteLockTest extends OnOneServer {
    private static final String PATH = "/rw";

    private final ZkLockClient one = client("one");
    private final ZkLockClient two = client("two");

    ReadWriteLockTest() throws InterruptedException {}

    private static Acquirable read(ZkLockClient client) {
        return client.readWriteLock(PATH).readLock();
    }

    private static Acquirable write(ZkLockClient client) {
        return client.readWriteLock(PATH).writeLock();
    }

    // ---- within one session

    @Test
    void writerHandsOverToLocalReaders_withoutTheServer() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient local = patient(proxy);
        read(local).acquire().close();
        Lease writing = write(local).acquire();
        CompletableFuture<Lease> first = queued(PATH, read(local));
        CompletableFuture<Lease> foreign = queued(PATH, read(two));
        CompletableFuture<Lease> second = queued(PATH, read(local));
        settle(read(local));
        HeldFrames answers = proxy.holdAnswers(RequestMatch.delete());
        CompletableFuture<ReleaseOutcome> release = writing.releaseAsync().toCompletableFuture();
        assertTrue(soon(first).isValid());
        assertTrue(soon(second).isValid(), "its nearest writer is the one that left, with readers between them");
        assertFalse(release.isDone());
        answers.close();
        assertEquals(ReleaseOutcome.RELEASED, release.get(5, TimeUnit.SECONDS));
        soon(foreign).close();
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
            all.add(queued(PATH, reads ? read(one) : write(one)).thenAccept(lease -> {
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

    /** If all waiters watched the first writer, each writer would wake all of them: k times M. */
    @Test
    void readersAreWokenOnce_behindManyWriters() throws Exception {
        int writers = 4;
        int readers = 5;
        List<CompletableFuture<Lease>> writing = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
            writing.add(queued(PATH, write(client("writer"))));
        }
        List<FaultProxy> proxies = new ArrayList<>();
        List<CompletableFuture<Lease>> reading = new ArrayList<>();
        for (int i = 0; i < readers; i++) {
            FaultProxy proxy = proxy();
            proxies.add(proxy);
            reading.add(queued(PATH, read(patient(proxy))));
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
        CompletableFuture<Lease> writer = queued(PATH, write(counted));
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
