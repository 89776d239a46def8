package com.example.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.report.HtmlReport;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.check.TokenOrderChecker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@LatchkeyTest(reconnects = Reconnects.FAST, sessionMillis = 5000)
class OrderHistoryTest {
    @Test
    void neverTwoAtATime(FaultyClient one, FaultyClient two, @TempDir Path folder) throws Exception {
        History history = new History();
        Acquirable first = history.recordedMutex(one, "/orders/7");
        Acquirable second = history.recordedMutex(two, "/orders/7");
        Lease held = first.acquire();
        CompletableFuture<Lease> waits = second.acquireAsync();
        history.expire(one, ExpiryOrder.SERVER_FIRST).join();
        waits.get(10, TimeUnit.SECONDS).close();
        held.lost().toCompletableFuture().get(10, TimeUnit.SECONDS);
        ExclusionChecker.mutex().whileSessionsLive(history).assertNotBroken();
        TokenOrderChecker.check(history).assertNotBroken();
        HtmlReport.of(history).write(folder.resolve("history.html")); // the same as a page
    }

    @Test
    void leaseIsLost_whenItsSessionExpires() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Lease lease = mine.mutex("/orders/42").acquire();
            locks.expire(mine);
            assertFalse(lease.isValid());
        }
    }

    @Test
    void writeIsRefused_whenTheHolderDoesNotKnowOfItsLoss() throws Exception {
        OrderStore store = new OrderStore();
        try (SimulatedLocks locks = SimulatedLocks.startWithTimePassing(Duration.ofSeconds(1))) {
            LockClient mine = locks.client();
            OrderService slow = new OrderService(mine, store);
            OrderService quick = new OrderService(locks.client(), store);
            assertThrows(
                    StaleTokenException.class,
                    () -> slow.process(1, order -> {
                        locks.cutOff(mine);
                        locks.expire(mine); // the server has ended its session, and it cannot hear of that
                        quick.process(1, same -> "by the successor");
                        return "by the zombie";
                    }));
            assertEquals("by the successor", store.read(1));
        }
    }
}
