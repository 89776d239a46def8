// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.zk.ZkLockClient;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/observing.md; {@link ExamplesTest} compares the sources. */
@Timeout(60)
class ObservingExamplesTest {
    private static LockClient observed(String servers, MeterRegistry meters) {
        LockObserver observer = LockMeters.of(meters);
        return ZkLockClient.builder().connectString(servers).observer(observer).build();
    }

    @Test
    void metersCountAndTime() throws Exception {
        MeterRegistry meters = new SimpleMeterRegistry();
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            LockClient locks = observed(server.connectString(), meters);
            locks.mutex("/a").acquire().close();
            Lease held = locks.mutex("/a").acquire();
            assertEquals(Optional.empty(), locks.mutex("/a").tryAcquire());
            locks.close();
            assertTrue(held.lost().join() != null);
            Eventually.holds("the loss is counted", Duration.ofSeconds(10), () -> count(meters, "lock.lost") == 1);
            assertEquals(
                    2,
                    meters.find("lock.wait").tag("lock", "mutex").timers().stream()
                            .mapToLong(Timer::count)
                            .sum());
            assertEquals(
                    1,
                    meters.find("lock.hold").timers().stream()
                            .mapToLong(Timer::count)
                            .sum());
            assertEquals(1, count(meters, "lock.not.granted"));
        }
    }

    @Test
    void anObserverIsTestedWithoutAServer() throws Exception {
        MeterRegistry meters = new SimpleMeterRegistry();
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient client = locks.client(LockMeters.of(meters));
            Lease lease = client.mutex("/a").acquire();
            locks.advance(Duration.ofSeconds(3));
            lease.close();
            Timer holds = meters.timer("lock.hold", "lock", "mutex");
            Eventually.holds("three seconds", Duration.ofSeconds(10), () -> holds.totalTime(TimeUnit.SECONDS) == 3);
        }
        assertEquals(0, meters.get("lock.wait").timer().totalTime(TimeUnit.NANOSECONDS), "time stood still meanwhile");
    }

    @Test
    void aQueueTellsWhoHolds() throws Exception {
        List<String> told = new ArrayList<>();
        try (SimulatedLocks simulated = SimulatedLocks.start()) {
            LockClient locks = simulated.client("billing");
            try (Lease lease = locks.mutex("/orders/42").acquire()) {
                assertTrue(lease.isValid());
                for (Contender each : locks.mutex("/orders/42").queue()) {
                    told.add(each.state() + " since " + each.since() + ": " + each.label() + " on " + each.host());
                }
            }
        }
        assertEquals(1, told.size());
        assertTrue(told.get(0).matches("HOLDING since \\S+: billing on \\S+"), told.get(0));
    }

    private static double count(MeterRegistry meters, String name) {
        return meters.find(name).counters().stream().mapToDouble(Counter::count).sum();
    }

    /** What the page shows is printed here, but for times and hosts. */
    @Test
    void aDeadlockIsPrinted() throws Exception {
        try (SimulatedLocks simulated = SimulatedLocks.start()) {
            List<LockClient> clients =
                    List.of(simulated.client("billing"), simulated.client("shipping"), simulated.client("returns"));
            String[] paths = {"/orders/1", "/orders/2", "/stock/7"};
            for (int i = 0; i < 3; i++) {
                assertTrue(clients.get(i).mutex("/shop" + paths[i]).acquire().isValid());
            }
            for (int i = 0; i < 3; i++) {
                CompletableFuture<Lease> waiting =
                        clients.get(i).mutex("/shop" + paths[(i + 1) % 3]).acquireAsync();
                assertTrue(!waiting.isDone());
            }
            String printed = masked(clients.get(0).diagnose().toString());
            String page = masked(Files.readString(Docs.root().resolve("docs/observing.md")));
            assertTrue(page.contains(printed), () -> "not on the page:\n" + printed);
        }
    }

    private static String masked(String text) throws IOException {
        return text.replaceAll("since [^\\s,]+", "since T")
                .replaceAll("by thread \\S+", "by thread NAME")
                .replaceAll("\\([^(),]+, process \\d+\\)", "(HOST, process N)");
    }
}
