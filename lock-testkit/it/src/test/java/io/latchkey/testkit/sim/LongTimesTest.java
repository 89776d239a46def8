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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls with a timeout of a day that end at once: no memory of them is kept for that day, nor of their paths. Time does
 * not advance.
 */
@Tag("slow")
@Timeout(120)
class LongTimesTest {
    private static final Duration DAY = Duration.ofDays(1);

    /** In a JVM of their own, so that the objects of no other client are counted. */
    @Test
    void callsThatEndEarly_leaveNothing() throws Exception {
        Process java = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Calls.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String said = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals("all counted", said.strip());
            assertEquals(0, java.waitFor());
        } finally {
            java.destroyForcibly();
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

    /** Prints which objects of the locks are left behind, if there is one for every other call. */
    static final class Calls {
        private static final int CALLS = 400;
        private static final int WARM_UP = CALLS / 4;
        /** A session keeps the queues of up to 10,000 paths (docs/limits.md). */
        private static final Pattern QUEUE =
                Pattern.compile("io\\.latchkey\\.zk\\.internal\\.(path\\..*|queue\\.(LockPath|PathData))");

        private Calls() {}

        /** A number of calls, each with a number of its own. */
        private interface RepeatedCall {
            void call(int first, int times) throws Exception;
        }

        public static void main(String[] none) throws Exception {
            for (EntryPoint entryPoint : EntryPoint.values()) {
                try (SimulatedLocks locks = SimulatedLocks.start(Duration.ofSeconds(6))) {
                    LockClient mine = entryPoint.described(locks.builder()).build();
                    LockClient other = entryPoint.described(locks.builder()).build();
                    count(entryPoint + " at one path", 0, (first, times) -> {
                        grant(entryPoint, mine, call -> "", first, times);
                        try (Lease held = entryPoint.blocker(other).acquire()) {
                            withdraw(entryPoint, mine, times);
                            assertTrue(held.isValid());
                        }
                    });
                    count(
                            entryPoint + " at paths of each call",
                            CALLS * (entryPoint == EntryPoint.MULTI_LOCK ? 3 : 1),
                            (first, times) -> grant(entryPoint, mine, call -> "-" + call, first, times));
                }
            }
            try (SimulatedLocks locks = SimulatedLocks.start(Duration.ofSeconds(6))) {
                List<LockClient> clients =
                        Stream.generate(locks::client).limit(3).toList();
                count("waiters that look again", 0, (first, times) -> handOver(clients, times));
            }
            System.out.println("all counted");
        }

        private static void count(String what, int paths, RepeatedCall calls) throws Exception {
            calls.call(0, WARM_UP);
            Map<String, Long> before = counted();
            calls.call(WARM_UP, CALLS);
            Map<String, Long> kept = new TreeMap<>(counted());
            before.forEach((name, number) -> kept.merge(name, -number, Long::sum));
            kept.entrySet()
                    .removeIf(of -> of.getValue() < CALLS / 2
                            || (of.getValue() <= paths
                                    && QUEUE.matcher(of.getKey()).matches()));
            if (!kept.isEmpty()) {
                System.out.println(what + ": " + kept);
            }
        }

        private static Map<String, Long> counted() {
            return LiveObjects.count(
                    name -> name.startsWith("io.latchkey.zk.") || name.startsWith("io.latchkey.lock."));
        }

        /** Granted by future and by a view, and asked for the queue. */
        private static void grant(
                EntryPoint entryPoint, LockClient mine, IntFunction<String> suffixes, int first, int times)
                throws Exception {
            for (int call = first; call < first + times; call++) {
                String suffix = suffixes.apply(call);
                try (Lease granted = entryPoint
                        .asked(mine, suffix)
                        .tryAcquireAsync(DAY)
                        .get(1, TimeUnit.SECONDS)
                        .orElseThrow()) {
                    assertTrue(granted.isValid());
                }
                assertEquals(
                        List.of(), entryPoint.asked(mine, suffix).queueAsync().get(1, TimeUnit.SECONDS));
                Optional<Lock> view = entryPoint.view(mine, suffix);
                if (view.isPresent()) {
                    assertTrue(view.get().tryLock(1, TimeUnit.DAYS));
                    view.get().unlock();
                }
            }
        }

        /** Withdrawn while another client holds, until no node of them is left. */
        private static void withdraw(EntryPoint entryPoint, LockClient mine, int times) throws Exception {
            int held = requests(entryPoint, mine);
            for (int call = 0; call < times; call++) {
                CompletableFuture<Optional<Lease>> waits =
                        entryPoint.asked(mine).tryAcquireAsync(DAY);
                assertTrue(waits.cancel(false));
            }
            // The answer to the second question is behind those to all creates.
            int ignored = requests(entryPoint, mine);
            while (requests(entryPoint, mine) > held) {
                // Deletions are on their way.
            }
        }

        private static int requests(EntryPoint entryPoint, LockClient client) throws Exception {
            return entryPoint
                    .asked(client)
                    .queueAsync()
                    .get(1, TimeUnit.SECONDS)
                    .size();
        }

        /** The second waiter watches the first, and looks again when that holds. */
        private static void handOver(List<LockClient> clients, int times) throws Exception {
            int permits = 10;
            List<Semaphore> semaphores = clients.stream()
                    .map(client -> client.semaphore("/s", permits))
                    .toList();
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
    }
}
