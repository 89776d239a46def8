// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.LiveObjects;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.zk.internal.threads.DaemonThreads;
import io.latchkey.zk.internal.validity.SystemClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls with a timeout of a day that end at once: no memory of them is kept for that day. Time does not advance. */
@Tag("slow")
@Timeout(60)
class LongTimesTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final int CALLS = 1_000;
    /** What other tests of this process may leave. */
    private static final int ROOM = CALLS / 4;

    @ParameterizedTest
    @EnumSource(Door.class)
    void callsThatEndEarly_leaveNothing(Door door) throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start(Duration.ofSeconds(6))) {
            LockClient mine = door.described(locks.builder()).build();
            LockClient other = door.described(locks.builder()).build();
            call(door, mine, other, ROOM);
            Map<String, Long> before = counted();
            call(door, mine, other, CALLS);
            assertNothingIsKept(before);
        }
    }

    /** The timers of those calls are simulated. On the machine's clock, too, none stays until its time. */
    @Test
    void timersThatAreCancelled_leaveNothing() {
        int timers = 100_000;
        String timer = "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask";
        try (SystemClock time = new SystemClock(DaemonThreads.factory("test-timer"), Duration.ofSeconds(6))) {
            long before = LiveObjects.count(timer::equals).getOrDefault(timer, 0L);
            for (int i = 0; i < timers; i++) {
                time.after(DAY, () -> {}).cancel();
            }
            long kept = LiveObjects.count(timer::equals).getOrDefault(timer, 0L) - before;
            assertTrue(kept < timers / 2, () -> kept + " timers are kept of " + timers);
        }
    }

    /** The second waiter watches the first, and looks again when that holds. */
    @Test
    void waitersThatLookAgain_leaveNothing() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start(Duration.ofSeconds(6))) {
            List<LockClient> clients = Stream.generate(locks::client).limit(3).toList();
            handOver(clients, ROOM);
            Map<String, Long> before = counted();
            handOver(clients, CALLS);
            assertNothingIsKept(before);
        }
    }

    private static void handOver(List<LockClient> clients, int times) throws Exception {
        int permits = 10;
        List<Semaphore> semaphores =
                clients.stream().map(client -> client.semaphore("/s", permits)).toList();
        for (int time = 0; time < times; time++) {
            Lease most = semaphores.get(0).permits(permits - 1).acquire();
            Lease one = semaphores.get(0).acquire();
            CompletableFuture<Lease> first = semaphores.get(1).acquireAsync();
            CompletableFuture<Lease> second = semaphores.get(2).acquireAsync();
            one.close();
            first.get(1, TimeUnit.SECONDS).close();
            second.get(1, TimeUnit.SECONDS).close();
            most.close();
        }
    }

    private static void assertNothingIsKept(Map<String, Long> before) {
        Map<String, Long> kept = new TreeMap<>();
        counted().forEach((name, count) -> kept.put(name, count - before.getOrDefault(name, 0L)));
        kept.values().removeIf(more -> more < ROOM);
        assertEquals(Map.of(), kept);
    }

    private static Map<String, Long> counted() {
        return LiveObjects.count(name -> name.startsWith("io.latchkey.zk.") || name.startsWith("io.latchkey.lock."));
    }

    /** Granted by future and by a view, asked for the queue, and withdrawn while another client holds. */
    private static void call(Door door, LockClient mine, LockClient other, int times) throws Exception {
        Optional<Lock> view = door.view(mine);
        for (int time = 0; time < times; time++) {
            try (Lease granted = door.asked(mine)
                    .tryAcquireAsync(DAY)
                    .get(1, TimeUnit.SECONDS)
                    .orElseThrow()) {
                assertTrue(granted.isValid());
            }
            assertEquals(List.of(), door.asked(mine).queueAsync().get(1, TimeUnit.SECONDS));
            if (view.isPresent()) {
                assertTrue(view.get().tryLock(1, TimeUnit.DAYS));
                view.get().unlock();
            }
        }
        try (Lease held = door.blocker(other).acquire()) {
            for (int time = 0; time < times; time++) {
                CompletableFuture<Optional<Lease>> waits = door.asked(mine).tryAcquireAsync(DAY);
                assertTrue(waits.cancel(false));
            }
            assertTrue(held.isValid());
        }
    }
}
