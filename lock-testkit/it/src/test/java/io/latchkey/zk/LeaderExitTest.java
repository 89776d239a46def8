// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A leader that ends its process from its own thread, while a shutdown hook closes the candidate. */
@Tag("once")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class LeaderExitTest {
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(4));
    /** To end a JVM and to hear of the grant. */
    private static final Duration MARGIN = Slowness.stretched(Duration.ofSeconds(2));

    private static final Duration WITHIN = Duration.ofSeconds(60);

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();

    @AfterAll
    void close() {
        server.close();
    }

    @ParameterizedTest
    @EnumSource(ExitingLeader.Place.class)
    void processEndsAndTheMutexIsFreeWithinASessionTimeout(ExitingLeader.Place place) throws Exception {
        String path = "/exit/" + place;
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ExitingLeader.class.getName(),
                        server.connectString(),
                        Long.toString(SESSION.toMillis()),
                        place.name(),
                        path)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (LockClient client = Connector.ofLatchkey().connect(server.connectString(), SESSION);
                BufferedReader out = process.inputReader()) {
            assertEquals(ExitingLeader.LEADS, out.readLine());
            CompletableFuture<Lease> next = client.mutex(path).acquireAsync();
            if (place != ExitingLeader.Place.REPORT) {
                Eventually.holds(
                        "the next waits",
                        WITHIN,
                        () -> client.mutex(path).queue().size() == 2);
            }
            long start = System.nanoTime();
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            try (Lease granted = next.get(WITHIN.toSeconds(), TimeUnit.SECONDS)) {
                long free = System.nanoTime() - start;
                assertTrue(process.waitFor(WITHIN.toSeconds(), TimeUnit.SECONDS), "the process stands");
                long ended = System.nanoTime() - start;
                System.out.printf(
                        "%s: free after %d ms, ended after %d ms%n", place, free / 1_000_000, ended / 1_000_000);
                long most = SESSION.plus(MARGIN).toNanos();
                assertTrue(free < most, () -> "free after " + free / 1_000_000 + " ms");
                assertTrue(ended < most, () -> "ended after " + ended / 1_000_000 + " ms");
                assertTrue(granted.isValid());
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
