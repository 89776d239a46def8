// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** The traffic of an idle client that holds many locks. */
final class IdleHolder {
    static final String REQUESTS = "requests_per_s";
    static final String BYTES = "bytes_per_s";
    static final String CPU = "server_cpu_us_per_s";
    static final String REQUESTS_PER_BEAT = "requests_per_beat";

    /** Short, so that there are heartbeats to count; Latchkey sends six in a session timeout. */
    private static final Duration SESSION = Duration.ofSeconds(6);

    private static final int BEATS = 6;
    private static final int THREADS = 64;

    /** Checks in a heartbeat; Latchkey watches the nodes beyond these. */
    private static final int CALM = 1;

    private static final int CALM_WITHIN_BEATS = 30;

    private IdleHolder() {}

    static String name(int locks) {
        return locks + " held locks, idle";
    }

    static Map<String, Double> measure(ServersAtADistance site, Contestant contestant, int locks, String path)
            throws Exception {
        String servers = site.throughProxy(Duration.ZERO);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (MeasuredClient client = contestant.connect(servers, SESSION)) {
            List<Future<MeasuredClient.Held>> acquired = new ArrayList<>();
            for (int i = 0; i < locks; i++) {
                MeasuredClient.Door door = client.door(MeasuredLock.MUTEX, path + "/" + i);
                acquired.add(threads.submit(door::acquire));
            }
            for (Future<MeasuredClient.Held> held : acquired) {
                held.get();
            }
            Duration beat = SESSION.dividedBy(BEATS);
            awaitCalm(site, beat);
            ServersAtADistance.Passed before = site.passed();
            ServerProbe.Reading reading = site.probe().read();
            TimeUnit.MILLISECONDS.sleep(beat.multipliedBy(3).toMillis());
            ServerProbe.Reading spent = site.probe().since(reading);
            ServersAtADistance.Passed passed = site.passed().since(before);
            double seconds = spent.nanoTime() / 1e9;
            Map<String, Double> more = new HashMap<>();
            more.put(REQUESTS, passed.requests() / seconds);
            more.put(REQUESTS_PER_BEAT, passed.requests() / seconds * beat.toMillis() / 1e3);
            more.put(BYTES, passed.bytes() / seconds);
            more.put(CPU, spent.cpuNanos() / 1e3 / seconds);
            return more;
        } finally {
            threads.shutdownNow();
        }
    }

    private static void awaitCalm(ServersAtADistance site, Duration beat) throws InterruptedException {
        long passed = Long.MAX_VALUE;
        for (int i = 0; i < CALM_WITHIN_BEATS && passed > CALM; i++) {
            ServersAtADistance.Passed before = site.passed();
            TimeUnit.MILLISECONDS.sleep(beat.toMillis());
            passed = site.passed().since(before).requests();
        }
    }
}
