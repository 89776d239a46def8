// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.annotation.DirtiesContext;

/** Charges, probes and meters of the service, made by the starter. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@Import(TestServer.class)
@DirtiesContext
@Timeout(60)
class BillingTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @LocalServerPort
    private int port;

    @Autowired
    private EmbeddedZooKeeper server;

    @Autowired
    private LockClient locks;

    @Autowired
    private Accounts accounts;

    @Autowired
    private JdbcClient db;

    @Test
    void accountIsChargedByHttp() throws Exception {
        HttpResponse<String> answer = send(HttpRequest.newBuilder(uri("/accounts/a1/charges?cents=150"))
                .POST(HttpRequest.BodyPublishers.noBody()));
        assertEquals(200, answer.statusCode());
        assertEquals("850", answer.body());
        assertTrue(answer(uri("/actuator/prometheus")).body().contains("latchkey_connected 1.0"));
    }

    @Test
    void callWaitsForTheKeyOfItsArgumentAlone() throws Exception {
        Mutex mutex = locks.mutex("/accounts/key-a2");
        CompletableFuture<Long> waiting;
        try (Lease unused = mutex.acquire()) {
            assertEquals(999, accounts.charge("a3", 1));
            waiting = CompletableFuture.supplyAsync(() -> accounts.charge("a2", 1));
            Eventually.holds("a call that waits", SOON, () -> mutex.queue().size() == 2);
        }
        assertEquals(999, waiting.get(20, TimeUnit.SECONDS));
    }

    @Test
    void answerTellsALockThatOthersHold() throws Exception {
        try (Lease unused = locks.mutex("/accounts/key-a6").acquire()) {
            HttpResponse<String> charged = send(charge("a6"));
            assertEquals(409, charged.statusCode());
            assertTrue(charged.body().startsWith("Others held the lock at /accounts/key-a6"), charged.body());
        }
    }

    @Test
    void callIsRefused_whenALaterHolderWasAtTheRow() {
        db.sql("UPDATE account SET token = ? WHERE id = 'a4'").param(Long.MAX_VALUE).update();
        assertThrows(IllegalStateException.class, () -> accounts.charge("a4", 1));
        assertEquals(1000, accounts.balance("a4"));
    }

    @Test
    void serviceIsAliveAndNotReady_whileNoServerIsInReach() throws Exception {
        assertEquals(200, answer(uri("/actuator/health/readiness")).statusCode());
        server.stop();
        Eventually.holds(
                "not ready", SOON, () -> status("/actuator/health/readiness") == 503);
        assertEquals(200, answer(uri("/actuator/health/liveness")).statusCode());
        HttpResponse<String> charged = send(charge("a5"));
        assertEquals(503, charged.statusCode());
        assertTrue(charged.body().contains("no server had answered"), charged.body());
        server.restart();
        Eventually.holds("ready", SOON, () -> status("/actuator/health/readiness") == 200);
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    private HttpRequest.Builder charge(String account) {
        return HttpRequest.newBuilder(uri("/accounts/" + account + "/charges?cents=1"))
                .POST(HttpRequest.BodyPublishers.noBody());
    }

    private int status(String path) {
        try {
            return answer(uri(path)).statusCode();
        } catch (IOException | InterruptedException failed) {
            throw new AssertionError(failed);
        }
    }

    private static HttpResponse<String> answer(URI uri) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
