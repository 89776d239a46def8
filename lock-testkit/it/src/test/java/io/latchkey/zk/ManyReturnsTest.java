// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many clients that lose their connections at once, beside as many plain ZooKeeper handles: how many attempts to
 * connect the server sees, and how long until each client has its session back. Prints the figures in
 * docs/archive/performance-record.md.
 */
@Tag("once")
@Tag("long")
@Timeout(600)
class ManyReturnsTest {
    private static final int CLIENTS = Integer.getInteger("latchkey.recovery.clients", 50);
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(40));
    private static final Duration OUTAGE = Duration.ofSeconds(Integer.getInteger("latchkey.recovery.outage", 5));
    private static final Duration WITHIN = Duration.ofSeconds(60);
    /** ZooKeeper's client waits half a second on average before an attempt. */
    private static final int ATTEMPTS_A_SECOND = 3;

    private static final int CONNECTING = 8;

    private final ExecutorService threads = Executors.newFixedThreadPool(CONNECTING);
    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();

    @AfterEach
    void close() {
        threads.shutdownNow();
        server.close();
    }

    /** Opens one client. */
    @FunctionalInterface
    private interface Opener {
        AutoCloseable connect(String connectString) throws Exception;
    }

    /** A fault that strikes all clients behind the proxy, and returns the time from which they are waited for. */
    @FunctionalInterface
    private interface FaultInjection {
        long on(FaultProxy proxy) throws Exception;
    }

    @Test
    void allComeBackWithoutAStorm_afterAReset() throws Exception {
        measure("connections reset", proxy -> {
            long start = System.nanoTime();
            proxy.cut();
            return start;
        });
    }

    @Test
    void allComeBackWithoutAStorm_afterAnOutage() throws Exception {
        measure("server away for " + OUTAGE.toSeconds() + " s", proxy -> {
            server.stop();
            TimeUnit.NANOSECONDS.sleep(OUTAGE.toNanos());
            server.restart();
            return System.nanoTime();
        });
    }

    private void measure(String fault, FaultInjection injection) throws Exception {
        play(fault, "Latchkey", injection, connectString -> ZkLockClient.builder()
                .connectString(connectString)
                .sessionTimeout(SESSION)
                .build());
        play(
                fault,
                "plain ZooKeeper",
                injection,
                connectString -> new ZooKeeper(connectString, (int) SESSION.toMillis(), event -> {}));
    }

    private void play(String fault, String system, FaultInjection injection, Opener opener) throws Exception {
        FaultProxy proxy = FaultProxy.to(server);
        List<AutoCloseable> clients = new ArrayList<>();
        try {
            List<Future<AutoCloseable>> opening = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                opening.add(threads.submit(() -> opener.connect(proxy.connectString())));
            }
            for (Future<AutoCloseable> each : opening) {
                clients.add(each.get());
            }
            Sessions opened = new Sessions(proxy, new Wire.Mark(0));
            Eventually.holds("all sessions", WITHIN, () -> opened.look() == CLIENTS);
            Wire.Mark mark = proxy.mark();
            Sessions back = new Sessions(proxy, mark);
            long struck = System.nanoTime();
            long from = injection.on(proxy);
            Eventually.holds("all sessions again", WITHIN, () -> back.look() == CLIENTS);
            assertEquals(opened.found.keySet(), back.found.keySet());
            long[] attempts = attempts(proxy.since(mark));
            LongSummaryStatistics answered =
                    back.found.values().stream().mapToLong(Long::longValue).summaryStatistics();
            double each = (double) attempts.length / CLIENTS;
            System.out.printf(
                    "| %s, %,d clients | %s | %,d in a second, %.1f of each client | %s |%n",
                    fault,
                    CLIENTS,
                    system,
                    mostInASecond(attempts),
                    each,
                    DurationSummary.of(back.found.values().stream().mapToLong(at -> at - from)));
            double seconds = Math.ceil((answered.getMax() - struck) / 1e9);
            assertTrue(each <= 1 + ATTEMPTS_A_SECOND * seconds, () -> each + " attempts in " + seconds + " s");
        } finally {
            List<Future<Object>> closing = threads.invokeAll(clients.stream()
                    .<Callable<Object>>map(client -> () -> {
                        client.close();
                        return client;
                    })
                    .toList());
            for (Future<Object> each : closing) {
                each.get();
            }
            proxy.close();
        }
    }

    /** The sessions to which servers answered since a mark, each with the time of the first answer. */
    private static final class Sessions {
        private final FaultProxy proxy;
        private final Map<Long, Long> found = new HashMap<>();
        private Wire.Mark seen;

        Sessions(FaultProxy proxy, Wire.Mark from) {
            this.proxy = proxy;
            this.seen = from;
        }

        /** Reads what passed since the last look, and returns the number of sessions. */
        int look() {
            List<WireRecord> records = proxy.since(seen).records();
            seen = new Wire.Mark(seen.position() + records.size());
            for (WireRecord record : records) {
                if (record instanceof WireRecord.Connect welcome && welcome.session() != 0) {
                    found.putIfAbsent(welcome.session(), welcome.nanoTime());
                }
            }
            return found.size();
        }
    }

    /** Returns the times of all attempts to connect, also of those that a stopped server refused. */
    private static long[] attempts(Wire wire) {
        return wire.records().stream()
                .filter(record -> record instanceof WireRecord.Note note
                        && (note.text().startsWith("opened to port")
                                || note.text().startsWith("server on port")))
                .mapToLong(WireRecord::nanoTime)
                .sorted()
                .toArray();
    }

    private static int mostInASecond(long[] times) {
        int most = 0;
        int first = 0;
        for (int last = 0; last < times.length; last++) {
            while (times[last] - times[first] >= TimeUnit.SECONDS.toNanos(1)) {
                first++;
            }
            most = Math.max(most, last - first + 1);
        }
        return most;
    }
}
