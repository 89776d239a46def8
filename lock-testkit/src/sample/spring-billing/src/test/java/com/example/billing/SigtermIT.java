// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.ConnectString;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.LatchkeyTest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packaged service is stopped by SIGTERM in the middle of {@link Statements}, while it leads ({@link Dunning}). Its
 * session would last for 60 seconds: a holder that is granted earlier was let in by a release or by the end of the
 * grace.
 */
@LatchkeyTest(sessionMillis = 20_000)
@Timeout(300)
class SigtermIT {
    private static final String LOCK = "/billing/jobs/task-statements";
    private static final String LEADER = "/billing/leaders/dunning";

    @TempDir
    private Path folder;

    @Test
    void jobEndsBetweenTwoSteps_andTheNextHolderIsGranted(LockClient next, @ConnectString String servers)
            throws Exception {
        try (JavaProcess service =
                service(servers, "--billing.statements.at-least=20s", "--billing.statements.print-time=300ms")) {
            service.awaitLine("statement of a11"); // the second one, as text
            CompletableFuture<Lease> job = waiting(next, LOCK);
            CompletableFuture<Lease> leader = waiting(next, LEADER);
            service.terminate();
            assertTrue(job.get(30, TimeUnit.SECONDS).isValid());
            assertTrue(leader.get(30, TimeUnit.SECONDS).isValid());
            assertTrue(service.log().contains("statements: stopped after"), service::log);
            assertEquals(128 + 15, service.ended());
            assertFalse(service.log().contains("Exception"), service::log);
            assertFalse(service.log().contains("ended with its client"), service::log);
        }
    }

    @Test
    void lockIsTakenFromTheJob_whenItOutlastsTheGrace(LockClient next, @ConnectString String servers)
            throws Exception {
        try (JavaProcess service = service(
                servers,
                "--latchkey.grace=1s",
                "--spring.lifecycle.timeout-per-shutdown-phase=3s",
                "--billing.statements.print-time=1h")) {
            service.awaitLine("statement of a1");
            CompletableFuture<Lease> job = waiting(next, LOCK);
            service.terminate();
            assertTrue(job.get(30, TimeUnit.SECONDS).isValid());
            assertEquals(128 + 15, service.ended());
            assertTrue(service.log().contains("ended with its client"), service::log);
        }
    }

    private JavaProcess service(String servers, String... settings) throws Exception {
        String[] all = new String[settings.length + 1];
        all[0] = "--latchkey.session-timeout=60s";
        System.arraycopy(settings, 0, all, 1, settings.length);
        return JavaProcess.service(folder.resolve("log"), servers, all);
    }

    /** A request in the queue behind the service. */
    private static CompletableFuture<Lease> waiting(LockClient client, String path) throws InterruptedException {
        CompletableFuture<Lease> request = client.mutex(path).acquireAsync();
        Eventually.holds(
                "a queue of two at " + path,
                Duration.ofSeconds(20),
                () -> client.mutex(path).queue().size() == 2);
        return request;
    }
}
