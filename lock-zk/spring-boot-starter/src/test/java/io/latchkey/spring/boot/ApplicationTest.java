// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.spring.CurrentLease;
import io.latchkey.spring.Locked;
import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A whole application on a server, in threads that are virtual where there are such. */
@Tag("slow")
@Timeout(120)
class ApplicationTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final Duration SOON = Duration.ofSeconds(20);
    private static ConfigurableApplicationContext application;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Turns.class, Web.class})
    static class Application {}

    @Component
    static class Turns {
        private final CurrentLease lease;
        private final List<Long> tokens = new ArrayList<>(); // guarded by the lock alone

        Turns(CurrentLease lease) {
            this.lease = lease;
        }

        @Locked("/turns")
        public List<Long> tokens() {
            return List.copyOf(tokens);
        }

        @Locked("/turns")
        public String next() {
            tokens.add(lease.token());
            return Thread.currentThread() + " " + tokens.size();
        }
    }

    @RestController
    static class Web {
        private final Turns turns;

        Web(Turns turns) {
            this.turns = turns;
        }

        @GetMapping("/next")
        String next() {
            return turns.next();
        }
    }

    @BeforeAll
    static void start() {
        application = SpringApplication.run(
                Application.class,
                "--latchkey.connect-string=" + SERVER.connectString(),
                "--latchkey.session-timeout=30s", // longer than the servers are away
                "--server.port=0",
                "--spring.threads.virtual.enabled=true",
                "--spring.application.name=turns",
                "--management.endpoints.web.exposure.include=*",
                "--management.endpoint.locks.access=unrestricted");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(path)).build());
    }

    private static URI uri(String path) {
        return URI.create("http://127.0.0.1:" + application.getEnvironment().getProperty("local.server.port") + path);
    }

    private static HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> post(String json) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri("/actuator/locks"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build());
    }

    @Test
    void requestsTakeTurns() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
        HttpClient browser = HttpClient.newHttpClient();
        for (int i = 0; i < 20; i++) {
            all.add(browser.sendAsync(
                    HttpRequest.newBuilder(uri("/next")).build(), HttpResponse.BodyHandlers.ofString()));
        }
        int last = 0;
        for (CompletableFuture<HttpResponse<String>> each : all) {
            HttpResponse<String> answer = each.get(30, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body().startsWith("VirtualThread"))
                    .isEqualTo(Runtime.version().feature() >= 21);
            last = Math.max(
                    last, Integer.parseInt(answer.body().substring(answer.body().lastIndexOf(' ') + 1)));
        }
        assertThat(last).isGreaterThanOrEqualTo(20);
        List<Long> tokens = application.getBean(Turns.class).tokens();
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void endpointShowsLocks_asksAndEvicts() throws Exception {
        LockClient client = application.getBean(LockClient.class);
        Lease held = client.mutex("/shown/a").labelled("invoice 7").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/shown/a").acquireAsync();
        Lease other = client.mutex("/shown/b").acquire();
        Eventually.holds(
                "a queue of two", SOON, () -> client.mutex("/shown/a").queue().size() == 2);

        HttpResponse<String> answer = get("/actuator/locks?root=/shown");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body())
                .contains("\"state\":\"CONNECTED\"")
                .contains("\"path\":\"/shown/a\"", "\"kind\":\"MUTEX\"", "\"holders\":1", "\"waiters\":1")
                .contains("invoice 7")
                .contains("\"omittedLocks\":0");
        assertThat(get("/actuator/locks?root=/shown&limit=1").body()).contains("\"omittedLocks\":1");
        assertThat(get("/actuator/locks?root=shown").statusCode()).isEqualTo(400);

        String request = "{\"action\":\"%s\",\"path\":\"%s\",\"token\":%d}";
        assertThat(post(request.formatted("request-release", "/shown/b", other.token()))
                        .body())
                .contains("NOT_LISTENING");
        assertThat(post(request.formatted("evict", "/shown/b", other.token())).body())
                .contains("EVICTED");
        Eventually.holds("a lost lease", SOON, () -> !other.isValid());
        assertThat(post(request.formatted("evict", "/shown/b", other.token())).body())
                .contains("GONE");
        assertThat(post(request.formatted("drop", "/shown/a", 1)).statusCode()).isEqualTo(400);
        held.close();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void readinessFollowsTheServers_andLivenessDoesNot() throws Exception {
        assertThat(get("/actuator/health/readiness").statusCode()).isEqualTo(200);
        SERVER.server().stop();
        try {
            Eventually.holds("not ready", SOON, () -> status("/actuator/health/readiness") == 503);
            assertThat(status("/actuator/health/liveness")).isEqualTo(200);
            assertThat(get("/actuator/locks").body()).contains("\"problem\":\"The client has no connection");
        } finally {
            SERVER.server().restart();
        }
        Eventually.holds("ready", SOON, () -> status("/actuator/health/readiness") == 200);
    }

    private static int status(String path) {
        try {
            return get(path).statusCode();
        } catch (IOException | InterruptedException failed) {
            throw new AssertionError(failed);
        }
    }

    @Test
    void metersAreThere() throws Exception {
        get("/next");
        Matcher connected = Pattern.compile("\"value\":1")
                .matcher(get("/actuator/metrics/latchkey.connected").body());
        Eventually.holds(
                "a meter", SOON, () -> connected.find() || status("/actuator/metrics/latchkey.connected") == 200);
        assertThat(get("/actuator/metrics/latchkey.acquire").body()).contains("How long calls waited for a lock");
        assertThat(get("/actuator/metrics/latchkey.body").body()).contains("How long methods ran under a lock");
    }

    @Test
    void clientClosesAfterTheWebServer_andBeforeExecutors() {
        assertThat(LatchkeyLifecycle.PHASE).isLessThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE);
        assertThat(LatchkeyLifecycle.PHASE).isGreaterThan(new ThreadPoolTaskExecutor().getPhase());
    }

    /** The endpoint is read-only unless allowed. */
    @Test
    void endpointIsReadOnly_byDefault() throws Exception {
        try (ConfigurableApplicationContext other = SpringApplication.run(
                Application.class,
                "--latchkey.connect-string=" + SERVER.connectString(),
                "--latchkey.locked.enabled=true",
                "--server.port=0",
                "--management.endpoints.web.exposure.include=locks")) {
            URI uri = URI.create(
                    "http://127.0.0.1:" + other.getEnvironment().getProperty("local.server.port") + "/actuator/locks");
            assertThat(send(HttpRequest.newBuilder(uri).build()).statusCode()).isEqualTo(200);
            assertThat(send(HttpRequest.newBuilder(uri)
                                    .header("Content-Type", "application/json")
                                    .POST(HttpRequest.BodyPublishers.ofString(
                                            "{\"action\":\"evict\",\"path\":\"/a\",\"token\":1}"))
                                    .build())
                            .statusCode())
                    .isEqualTo(405);
        }
    }
}
