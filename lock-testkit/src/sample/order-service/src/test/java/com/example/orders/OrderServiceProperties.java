package com.example.orders;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.jqwik.LatchkeyProperties;
import io.latchkey.testkit.jqwik.Scope;
import io.latchkey.testkit.workload.FaultRun;
import io.latchkey.testkit.workload.FaultSchedule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import io.latchkey.testkit.jqwik.Scope.FaultKind;

@LatchkeyProperties
class OrderServiceProperties {
    @Property(tries = 50)
    void whatWasDoneIsInTheOrder(
            @ForAll @Scope(clients = 2, pace = 20, mostFaults = 6, faults = FaultKind.EXPIRY) FaultSchedule schedule,
            EmbeddedZooKeeper server) {
        OrderStore store = new OrderStore();
        History history = new History();
        try (FaultyClient one = FaultyClient.connect(server, Duration.ofSeconds(6), Reconnects.FAST);
                FaultyClient two = FaultyClient.connect(server, Duration.ofSeconds(6), Reconnects.FAST);
                FaultRun faults = FaultRun.start(schedule, List.of(one, two), history)) {
            var a = workAsync(new OrderService(order -> history.recordedMutex(one, "/orders/" + order), store), "a");
            var b = workAsync(new OrderService(order -> history.recordedMutex(two, "/orders/" + order), store), "b");
            for (List<String> done : List.of(a.join(), b.join())) {
                String order = store.read(1);
                assertTrue(
                        done.stream().allMatch(order::contains),
                        () -> done + " were done, and the order has " + order + "after " + faults.struck());
            }
        }
        ExclusionChecker.mutex().whileSessionsLive(history).assertNotBroken();
    }

    /** Works on order 1 five times, 20 ms each. Completes with what was done; the rest was refused. */
    private static CompletableFuture<List<String>> workAsync(OrderService service, String name) {
        return CompletableFuture.supplyAsync(() -> {
            List<String> done = new ArrayList<>();
            for (int i = 1; i <= 5; i++) {
                String step = name + i + " ";
                try {
                    service.process(1, order -> {
                        Thread.sleep(20);
                        return order + step;
                    });
                    done.add(step);
                } catch (StaleTokenException lockWasLost) {
                    continue;
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return done;
        }, task -> new Thread(task).start());
    }
}
