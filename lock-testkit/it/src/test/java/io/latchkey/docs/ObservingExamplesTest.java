// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.lock.micrometer.LockMeters;
import io.latchkey.lock.micrometer.ObservedLock;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.ZkLockClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/observing.md; {@link ExamplesTest} compares the sources. */
@Timeout(60)
class ObservingExamplesTest {
    private static LockClient observed(String servers, MeterRegistry meters) throws InterruptedException {
        LockObserver observer = LockMeters.of(meters);
        return ZkLockClient.builder().connectString(servers).observer(observer).build();
    }

    @Test
    void metersCountAndTime() throws Exception {
        MeterRegistry meters = new SimpleMeterRegistry();
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            LockClient locks = observed(server.connectString(), meters);
            Lease held = locks.mutex("/a").acquire();
            locks.close();
            assertTrue(held.lost().toCompletableFuture().join() != null);
            Eventually.holds(
                    "the loss is counted",
                    Duration.ofSeconds(10),
                    () -> meters.get("latchkey.lost")
                                    .tags("cause", "client_closed")
                                    .counter()
                                    .count()
                            == 1);
        }
    }

    @Test
    void observerIsTested_withoutAServer() throws Exception {
        MeterRegistry meters = new SimpleMeterRegistry();
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient client = locks.client(LockMeters.of(meters));
            Lease lease = client.mutex("/a").acquire();
            locks.advance(Duration.ofSeconds(3));
            lease.close();
            Timer holds = meters.timer("latchkey.hold", "lock", "mutex", "outcome", "released");
            Eventually.holds("three seconds", Duration.ofSeconds(10), () -> holds.totalTime(TimeUnit.SECONDS) == 3);
        }
        Timer waits = meters.timer("latchkey.wait", "lock", "mutex", "outcome", "granted");
        assertEquals(1, waits.count());
        assertEquals(0, waits.totalTime(TimeUnit.NANOSECONDS), "time did not advance");
    }

    @Test
    void metersHaveTheNamesOfTheFunction() throws Exception {
        MeterRegistry meters = new SimpleMeterRegistry();
        LockObserver named = LockMeters.of(meters, path -> path.startsWith("/orders/") ? "orders" : null);
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            locks.client(named).mutex("/orders/42").acquire().close();
            Timer holds = meters.timer("latchkey.named.hold", "name", "orders", "outcome", "released");
            Eventually.holds("one hold", Duration.ofSeconds(10), () -> holds.count() == 1);
        }
    }

    @Test
    void bodyIsObserved() throws Exception {
        List<String> stopped = new ArrayList<>();
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }

            @Override
            public void onStop(Observation.Context context) {
                stopped.add(context.getContextualName());
            }
        });
        try (SimulatedLocks simulated = SimulatedLocks.start()) {
            LockClient locks = simulated.client();
            Acquirable orders = ObservedLock.of(locks.mutex("/orders/42"), "orders", observations);
            orders.run(lease -> assertTrue(lease.isValid()));
        }
        assertEquals(List.of("acquire orders", "hold orders"), stopped);
    }

    @Test
    void queue_showsTheHolders() throws Exception {
        List<String> told = new ArrayList<>();
        try (SimulatedLocks simulated = SimulatedLocks.start()) {
            LockClient locks = simulated.client("billing");
            try (Lease lease = locks.mutex("/orders/42").acquire()) {
                assertTrue(lease.isValid());
                for (Contender each : locks.mutex("/orders/42").queue()) {
                    told.add(each.state() + " since " + each.requestedAt() + ": "
                            + each.owner().label() + " on " + each.owner().host());
                }
            }
        }
        assertEquals(1, told.size());
        assertTrue(told.get(0).matches("HOLDING since \\S+: billing on \\S+"), told.get(0));
    }

    @Test
    void listing_showsTheLocksBelowAPath() throws Exception {
        List<String> told = new ArrayList<>();
        try (SimulatedLocks simulated = SimulatedLocks.start()) {
            LockClient locks = simulated.client();
            Lease held = locks.mutex("/orders/42").acquire();
            LockListing listing = locks.listLocks("/orders");
            for (LockSummary lock : listing.locks()) {
                told.add(lock.path() + ": " + lock.holders() + " hold, " + lock.waiters() + " wait");
            }
            listing.unreadable().forEach((path, reason) -> told.add(path + " is missing: " + reason.getMessage()));
            held.close();
        }
        assertEquals(List.of("/orders/42: 1 hold, 0 wait"), told);
    }

    /** What the page shows is printed here, but for times and hosts. */
    @Test
    void deadlockIsPrinted() throws Exception {
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
                .replaceAll("session 0x[0-9a-f]+", "session ID")
                .replaceAll("by thread \\S+", "by thread NAME")
                .replaceAll("\\([^(),]+, process \\d+\\)", "(HOST, process N)");
    }
}
