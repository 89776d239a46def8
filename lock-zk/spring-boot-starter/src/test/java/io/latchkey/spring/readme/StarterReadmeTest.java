// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.readme;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.spring.ServerOfTheTests;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The first application of the README, with the answers that it names. */
@Tag("slow")
@Timeout(60)
class StarterReadmeTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    @Test
    void firstApplicationAnswers_asTheReadmeSays() throws Exception {
        try (ConfigurableApplicationContext first = SpringApplication.run(
                FirstApplication.class,
                "--latchkey.connect-string=" + SERVER.connectString() + "/first",
                "--latchkey.session-timeout=4s",
                "--server.port=0")) {
            String at = "http://127.0.0.1:" + first.getEnvironment().getProperty("local.server.port") + "/reports/a";
            HttpResponse<String> answer = get(at);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).startsWith("report of a, token ");
            try (LockClient other = SERVER.client();
                    Lease held = other.mutex("/first/reports/key-a").acquire()) {
                assertThat(held.isValid()).isTrue();
                answer = get(at);
                assertThat(answer.statusCode()).isEqualTo(409);
                assertThat(answer.body()).startsWith("Others held the lock at /reports/key-a for 5000 ms");
            }
            SERVER.server().stop();
            try {
                assertThat(get(at).statusCode()).isEqualTo(503);
            } finally {
                SERVER.server().restart();
            }
        }
    }

    private static HttpResponse<String> get(String uri) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(uri)).build(), HttpResponse.BodyHandlers.ofString());
    }
}
