// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SynchronizedHistogram;

/**
 * Many requests of several sessions that wait for one mutex. The holder releases, and each waiter releases as soon as
 * it is granted. Measures the time until all were granted, their order, the traffic, and the memory of waiting on both
 * sides.
 */
final class Waiters {
    static final String DRAIN = "drain_ms";
    static final String HANDOVER = "handover_us";
    static final String IN_ORDER = "in_order";
    static final String MISSING = "never_granted";
    static final String BYTES = "bytes_per_handover";
    static final String REQUESTS = "requests_per_handover";
    static final String QUEUEING_BYTES = "bytes_per_request_to_queue_up";
    static final String CLIENT_HEAP = "client_heap_bytes_per_waiter";
    static final String SERVER_HEAP = "server_heap_bytes_per_waiter";
    static final String QUEUEING = "queueing_up_ms";
    static final String QUEUEING_REQUESTS = "requests_per_request_to_queue_up";
    static final String ALL_BYTES = "bytes_per_request_in_all";
    static final String ALL_REQUESTS = "requests_per_request_in_all";

    static final int SESSIONS = 10;
    private static final Duration QUIET = Duration.ofMillis(300);
    private static final long LOOK_AGAIN_MILLIS = 5;

    private final ServersAtADistance site;
    private final Duration roundTrip;
    private final Duration limit;
    private final int sessions;

    /** @param limit the maximum duration, even if some requests were not granted */
    Waiters(ServersAtADistance site, Duration roundTrip, Duration limit) {
        this(site, roundTrip, limit, SESSIONS);
    }

    Waiters(ServersAtADistance site, Duration roundTrip, Duration limit, int sessions) {
        this.site = site;
        this.roundTrip = roundTrip;
        this.limit = limit;
        this.sessions = sessions;
    }

    static String name(int waiters) {
        return waiters + " waiters from " + SESSIONS + " sessions";
    }

    /**
     * The result of one turn.
     *
     * @param drain the times from grant to grant, the first from the holder's release
     * @param more further figures
     */
    record Turn(LoadSample drain, Map<String, Double> more) {
        double figure(String name) {
            return Objects.requireNonNull(more.get(name), name);
        }
    }

    /** Combines all turns of one system. Fails if a request was skipped or granted out of order. */
    static Map<String, Double> usual(List<Turn> turns) {
        List<Map<String, Double>> found = turns.stream().map(Turn::more).toList();
        Map<String, Double> usual = CaseFigures.usual(found);
        usual.put(
                IN_ORDER,
                found.stream()
                        .map(turn -> turn.get(IN_ORDER))
                        .min(Double::compare)
                        .orElseThrow());
        usual.put(
                MISSING,
                found.stream()
                        .map(turn -> turn.get(MISSING))
                        .max(Double::compare)
                        .orElseThrow());
        return usual;
    }

    Turn measure(Contestant contestant, int waiters, String path) throws Exception {
        String servers = site.throughProxy(roundTrip);
        List<MeasuredClient> clients = new ArrayList<>();
        try (RawClient looker = new RawClient(servers, MeasuredClient.SESSION);
                MeasuredClient first = contestant.connect(servers)) {
            MeasuredClient.HeldLock held =
                    first.handle(MeasuredLock.MUTEX, path).acquire();
            for (int i = 0; i < sessions; i++) {
                clients.add(contestant.connect(servers));
            }
            Turns turns = new Turns(waiters);
            Map<String, Double> more = new TreeMap<>();
            long clientHeap = liveBytes();
            long serverHeap = site.heapBytes();
            ServersAtADistance.Traffic before = site.traffic();
            long from = System.nanoTime();
            for (int i = 0; i < waiters; i++) {
                clients.get(i % sessions).queueUp(path, turns::taken);
            }
            awaitQueue(looker, path, waiters + 1);
            more.put(QUEUEING, millisSince(from));
            awaitQuiet();
            ServersAtADistance.Traffic traffic = site.traffic().since(before);
            more.put(QUEUEING_BYTES, (double) traffic.bytes() / waiters);
            more.put(QUEUEING_REQUESTS, (double) traffic.requests() / waiters);
            more.put(CLIENT_HEAP, (double) (liveBytes() - clientHeap) / waiters);
            more.put(SERVER_HEAP, (double) (site.heapBytes() - serverHeap) / waiters);
            return drained(turns, held, more, waiters);
        } finally {
            MeasuredClient.closeAll(clients);
        }
    }

    private Turn drained(Turns turns, MeasuredClient.HeldLock held, Map<String, Double> more, int waiters)
            throws Exception {
        ServersAtADistance.Traffic before = site.traffic();
        ServerProbe.Reading reading = site.probe().read();
        long from = System.nanoTime();
        turns.lastAt.set(from);
        held.release();
        boolean all = turns.missing.await(limit.toMillis(), TimeUnit.MILLISECONDS);
        long nanos = System.nanoTime() - from;
        ServerProbe.Reading spent = site.probe().since(reading);
        ServersAtADistance.Traffic traffic = site.traffic().since(before);
        long taken = waiters - turns.missing.getCount();
        double turnsTaken = Math.max(1, taken);
        more.put(DRAIN, nanos / 1e6);
        more.put(HANDOVER, nanos / 1e3 / turnsTaken);
        more.put(IN_ORDER, turns.outOfOrder.get() == 0 ? 1.0 : 0.0);
        more.put(MISSING, all ? 0.0 : (double) turns.missing.getCount());
        more.put(BYTES, traffic.bytes() / turnsTaken);
        more.put(REQUESTS, traffic.requests() / turnsTaken);
        Turn turn = new Turn(new LoadSample(taken, nanos, turns.gaps.copy(), spent), more);
        more.put(ALL_BYTES, turn.figure(QUEUEING_BYTES) + turn.figure(BYTES));
        more.put(ALL_REQUESTS, turn.figure(QUEUEING_REQUESTS) + turn.figure(REQUESTS));
        return turn;
    }

    /** The requests that were granted. Only the holder writes to it. */
    private static final class Turns {
        private final CountDownLatch missing;
        private final AtomicLong last = new AtomicLong(Long.MIN_VALUE);
        private final AtomicLong outOfOrder = new AtomicLong();
        private final AtomicLong lastAt = new AtomicLong();
        private final Histogram gaps = new SynchronizedHistogram(LoadSample.DIGITS);

        Turns(int waiters) {
            missing = new CountDownLatch(waiters);
        }

        void taken(long place) {
            long now = System.nanoTime();
            gaps.recordValue(Math.max(0, now - lastAt.getAndSet(now)));
            if (last.getAndSet(place) > place) {
                outOfOrder.incrementAndGet();
            }
            missing.countDown();
        }
    }

    private void awaitQueue(RawClient looker, String path, int requests) throws Exception {
        long deadline = System.nanoTime() + limit.toNanos();
        while (looker.children(path) < requests) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("only " + looker.children(path) + " of " + requests
                        + " requests stand at " + path + " after " + limit);
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
        }
    }

    /** Waits until each request has read the queue. */
    private void awaitQuiet() throws InterruptedException {
        long seen = -1;
        while (seen != site.traffic().requests()) {
            seen = site.traffic().requests();
            TimeUnit.MILLISECONDS.sleep(QUIET.toMillis());
        }
    }

    private static double millisSince(long nanoTime) {
        return (System.nanoTime() - nanoTime) / 1e6;
    }

    /** Returns the size of live objects on the heap of this JVM, after a full collection. */
    static long liveBytes() throws IOException {
        System.gc();
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
