// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process that ends while it holds a lock, and the client that waits for that lock. Prints the figures in
 * docs/archive/loss-record.md.
 */
@Tag("once")
@Tag("long")
@Tag("soak")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@DisabledOnOs(OS.WINDOWS)
class RollingRestartTest {
    private static final Duration SESSION = Duration.ofSeconds(6);
    /** Longer than a busy machine takes from its begin, which this process reads, to the signal. */
    private static final Duration STEP = Duration.ofSeconds(2);

    private static final Duration WITHIN = Duration.ofSeconds(60);

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final Map<ProcessEnd, List<Round>> rounds = new EnumMap<>(ProcessEnd.class);
    private int paths;

    /** How the process ends. */
    enum ProcessEnd {
        SIGKILL("SIGKILL"),
        WITHOUT_HOOK("SIGTERM, try-with-resources, no shutdown hook"),
        CLOSE("SIGTERM, a hook calls `close()`"),
        CLOSE_WITH_GRACE("SIGTERM, a hook calls `close(grace)`");

        private final String shown;

        ProcessEnd(String shown) {
            this.shown = shown;
        }
    }

    /**
     * One process, in nanoseconds from the signal.
     *
     * @param ended the end of the process
     * @param finished whether the step under the lease ended while that was valid
     */
    private record Round(long granted, long ended, boolean finished) {}

    @AfterAll
    void close() {
        server.close();
        if (Soak.isLong()) {
            System.out.println("sessions of " + SESSION.toSeconds() + " s, a step of " + STEP.toMillis()
                    + " ms that begins with the signal\n"
                    + "| end of the process | rounds | signal to next grant | end of process to next grant | step |\n"
                    + "|---|---|---|---|---|");
            rounds.forEach((ending, of) -> System.out.println("| " + ending.shown + " | " + of.size() + " | "
                    + DurationSummary.of(of.stream().mapToLong(Round::granted)) + " | "
                    + DurationSummary.of(of.stream().mapToLong(round -> round.granted() - round.ended())) + " | "
                    + of.stream().filter(Round::finished).count() + " finished |"));
        }
    }

    @ParameterizedTest
    @EnumSource(ProcessEnd.class)
    @Timeout(600)
    void nextHolderWaitsForTheStep_andForASessionTimeoutWithoutAClose(ProcessEnd ending) throws Exception {
        Soak.rounds(ProcessEnd.values().length, () -> {
            Round round = play(ending);
            rounds.computeIfAbsent(ending, first -> new ArrayList<>()).add(round);
            assertEquals(ending == ProcessEnd.CLOSE_WITH_GRACE, round.finished());
            if (ending == ProcessEnd.CLOSE_WITH_GRACE) {
                assertTrue(round.granted() >= STEP.toNanos(), round::toString);
            }
            boolean closed = ending == ProcessEnd.CLOSE || ending == ProcessEnd.CLOSE_WITH_GRACE;
            // A server hears of a client at least every third of the timeout, and expires it late.
            assertEquals(
                    closed,
                    round.granted() - round.ended() < SESSION.dividedBy(2).toNanos(),
                    round::toString);
        });
    }

    private Round play(ProcessEnd ending) throws Exception {
        String path = "/restart/" + paths++;
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        server.connectString(),
                        path,
                        ending.name())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader output = process.inputReader();
                LockClient waiter = ZkLockClient.connect(server.connectString())) {
            assertEquals("holds", output.readLine());
            CompletableFuture<Long> granted = waiter.mutex(path).acquireAsync().thenApply(lease -> {
                long at = System.nanoTime();
                lease.close();
                return at;
            });
            Eventually.holds(
                    "a waiter",
                    WITHIN,
                    () -> granted.isDone() || waiter.mutex(path).queue().size() == 2);
            assertFalse(granted.isDone(), "the holder has lost its lease before the signal");
            CompletableFuture<Long> ended = process.onExit().thenApply(over -> System.nanoTime());
            long signal = System.nanoTime();
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            assertEquals("works", output.readLine());
            if (ending == ProcessEnd.SIGKILL) {
                process.toHandle().destroyForcibly();
            } else {
                process.toHandle().destroy();
            }
            boolean finished = Boolean.parseBoolean(output.readLine());
            return new Round(
                    granted.get(WITHIN.toSeconds(), TimeUnit.SECONDS) - signal,
                    ended.get(WITHIN.toSeconds(), TimeUnit.SECONDS) - signal,
                    finished);
        } finally {
            process.destroyForcibly();
        }
    }

    /** The process that holds: its step under the lease begins with a line of input and ends with the release. */
    static final class Holder {
        private Holder() {}

        public static void main(String... args) throws Exception {
            ZkLockClient client = ZkLockClient.builder()
                    .connectString(args[0])
                    .sessionTimeout(SESSION)
                    .build();
            ProcessEnd ending = ProcessEnd.valueOf(args[2]);
            if (ending == ProcessEnd.CLOSE) {
                Runtime.getRuntime().addShutdownHook(new Thread(client::close));
            } else if (ending == ProcessEnd.CLOSE_WITH_GRACE) {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> client.close(SESSION.multipliedBy(2))));
            }
            try (client) {
                Lease lease = client.mutex(args[1]).acquire();
                System.out.println("holds");
                assertNotNull(System.in.read() < 0 ? null : lease);
                System.out.println("works");
                TimeUnit.NANOSECONDS.sleep(STEP.toNanos());
                System.out.println(lease.isValid());
                lease.close();
            }
        }
    }
}
