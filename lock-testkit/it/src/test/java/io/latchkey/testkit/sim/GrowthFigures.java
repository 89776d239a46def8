// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Prints the cost of one session beside more of them than a machine can connect, for the section "More sessions,
 * simulated" of docs/archive/growth-record.md: {@code mvn test -Dtest=GrowthFigures}. Its name
 * keeps it out of the suite.
 */
class GrowthFigures {
    private static final Duration BEAT = Client.SESSION.dividedBy(6);
    private static final int OBSERVED_BEATS = 3;

    private final Map<String, TreeMap<Integer, Double>> rows = new LinkedHashMap<>();

    /** One server, and clients whose steps are taken in the order in which they ask for them. */
    private static final class Site {
        private final SimulatedTime time = new SimulatedTime();
        private final Leader leader = new Leader(time, Sessions.Expiry.BY_FORCE);
        private final Server server = new Server(leader);
        private final List<Client> clients = new ArrayList<>();

        /** Connects a client that asks for a mutex. */
        CompletableFuture<Optional<ZkLease>> acquire(String path) {
            Client client = new Client(clients.size(), leader, 0, Optional.empty(), broken -> {
                throw new IllegalStateException(broken.toString());
            });
            clients.add(client);
            client.start();
            settle(client);
            CompletableFuture<Optional<ZkLease>> asked =
                    client.acquire(List.of(new LockTarget(Recipe.MUTEX, new LockPath(path))), new WaitPolicy.Forever());
            settle(client);
            return asked;
        }

        void settle(int client) {
            settle(clients.get(client));
        }

        /** Delivers all that is on its way between the server and one client. */
        private void settle(Client client) {
            BoundedLoop.all(() -> Delivery.nextWithoutLag(client.store(), server));
        }

        /** Lets time pass, and then delivers what the clients have sent in it. */
        void pass(Duration span) {
            long end = time.nanos() + span.toNanos();
            while (time.nextAt() <= end) {
                time.runNext();
            }
            time.moveTo(end);
            clients.forEach(this::settle);
        }

        long requests() {
            return clients.stream().mapToLong(client -> client.store().requests).sum();
        }
    }

    @Test
    void sessionsWithOneLockEach() {
        // The first ones load classes, whose heap is not theirs.
        var unused = granted(new Site().acquire("/first"));
        for (int count : List.of(100, 1_000, 10_000, 100_000)) {
            Site site = new Site();
            long heap = liveBytes();
            List<ZkLease> held = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                held.add(granted(site.acquire("/growth/" + i)));
            }
            put("connect and acquire: requests", count, (double) site.requests() / count);
            put(
                    "session: heap of the client and the simulated server, bytes",
                    count,
                    (double) (liveBytes() - heap) / count);
            site.pass(BEAT);
            long before = site.requests();
            for (int beat = 0; beat < OBSERVED_BEATS; beat++) {
                site.pass(BEAT);
            }
            put(
                    "heartbeat of a session: requests",
                    count,
                    (double) (site.requests() - before) / count / OBSERVED_BEATS);
            if (!held.stream().allMatch(ZkLease::isValid)) {
                throw new IllegalStateException("leases were lost beside " + count);
            }
        }
        print("simulated sessions");
    }

    @Test
    void sessionsThatWaitForOneMutex() {
        for (int count : List.of(100, 1_000, 10_000)) {
            Site site = new Site();
            List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
            for (int i = 0; i <= count; i++) {
                asked.add(site.acquire("/growth"));
            }
            put("connect and queue up: requests", count, (double) site.requests() / asked.size());
            long before = site.requests();
            for (int i = 0; i < count; i++) {
                var unused = granted(asked.get(i)).releaseAsync();
                site.settle(i);
                site.settle(i + 1);
            }
            put("hand-over: requests", count, (double) (site.requests() - before) / count);
            var unused = granted(asked.get(count));
        }
        print("simulated sessions that wait");
    }

    private static ZkLease granted(CompletableFuture<Optional<ZkLease>> asked) {
        return asked.getNow(Optional.empty()).orElseThrow(() -> new IllegalStateException("a request was not granted"));
    }

    private static long liveBytes() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private void put(String row, int count, double cost) {
        rows.computeIfAbsent(row, first -> new TreeMap<>()).put(count, cost);
    }

    private void print(String what) {
        rows.forEach((row, costs) -> {
            Map.Entry<Integer, Double> first = costs.firstEntry();
            Map.Entry<Integer, Double> last = costs.lastEntry();
            double exponent =
                    Math.log(last.getValue() / first.getValue()) / Math.log((double) last.getKey() / first.getKey());
            System.out.printf(Locale.ROOT, "| %s, %s | %s | %.2f |%n", what, row, costs, exponent);
        });
    }
}
