// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.Gson;
import io.latchkey.docs.Docs;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.time.Eventually;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/observing/alerts.yml and the queries of the dashboard, evaluated by Prometheus' own tool over what a scrape every
 * 15 seconds finds in an hour of three services on the simulation: one lost lease, one outage, one holder that hangs.
 */
@Tag("slow")
@Timeout(300)
class AlertsTest {
    private static final Duration STEP = Duration.ofSeconds(15);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Path ALERTS = Docs.root().resolve("docs/observing/alerts.yml");

    @TempDir
    Path folder;

    /** A service: a client, and the registry that Prometheus scrapes. */
    private static final class Service {
        private final MockClock clock = new MockClock();
        private final PrometheusMeterRegistry registry =
                new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, new PrometheusRegistry(), clock);
        private final LockMeters observer = LockMeters.of(registry);
        private final LockClient client;

        Service(SimulatedLocks locks) {
            client = locks.client(observer);
        }

        /** Takes a lock and releases it. Afterwards the meters have all that happened before. */
        void work() throws InterruptedException {
            Timer holds = registry.get("latchkey.hold")
                    .tags("lock", "mutex", "outcome", "released")
                    .timer();
            long before = holds.count();
            client.mutex("/work").acquire().close();
            Eventually.holds("the hold is counted", SOON, () -> holds.count() > before);
        }

        void awaitConnected(int expected) throws InterruptedException {
            Eventually.holds(
                    "connected is " + expected,
                    SOON,
                    () -> registry.get("latchkey.connected").gauge().value() == expected);
        }
    }

    /** What is firing, by the minute: each alert with its service. */
    private static final Map<Integer, List<String>> FIRING = new TreeMap<>();

    static {
        expect(11, 14, "LatchkeyLeaseLost one");
        expect(21, 22, "LatchkeyDisconnected one");
        expect(36, 49, "LatchkeyWaitingWithoutGrants three");
        expect(46, 49, "LatchkeyHeldTooLong two");
        expect(56, 59, "LatchkeyRequestsRefused one", "LatchkeyEventsMissed two");
    }

    private static void expect(int from, int to, String... alerts) {
        for (int minute = from; minute <= to; minute++) {
            FIRING.computeIfAbsent(minute, none -> new ArrayList<>()).addAll(List.of(alerts));
        }
    }

    /** Minutes in which something begins or ends: on the border either is right. */
    private static final List<Integer> BORDERS = List.of(10, 15, 20, 23, 35, 45, 50, 55, 60);

    private static final int END = 64;

    @Test
    void alertsFireWhenTheyShould_andAreSilentElse() throws Exception {
        assumeTrue(isInstalled(), "no promtool here: apt-get install prometheus");
        Map<String, List<String>> recorded = record();
        Path file = folder.resolve("test.json");
        List<Map<String, Object>> series = recorded.entrySet().stream()
                .map(each ->
                        Map.<String, Object>of("series", each.getKey(), "values", String.join(" ", each.getValue())))
                .toList();
        Map<String, Object> test = Map.of("interval", "15s", "input_series", series, "promql_expr_test", expressions());
        Files.writeString(
                file,
                new Gson()
                        .toJson(Map.of(
                                "rule_files", List.of(ALERTS.toAbsolutePath().toString()),
                                "evaluation_interval", "15s",
                                "tests", List.of(test))));
        Process promtool = new ProcessBuilder("promtool", "test", "rules", file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(promtool.waitFor(60, TimeUnit.SECONDS), said);
        assertEquals(0, promtool.exitValue(), said);
    }

    private static boolean isInstalled() throws InterruptedException {
        try {
            return new ProcessBuilder("promtool", "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException none) {
            return false;
        }
    }

    /** Firing alerts for each minute; and the dashboard, with what its first panel shows before and after the loss. */
    private static List<Map<String, Object>> expressions() throws IOException {
        List<Map<String, Object>> all = new ArrayList<>();
        for (int minute = 1; minute < END; minute++) {
            if (!BORDERS.contains(minute)) {
                List<Map<String, Object>> firing = new ArrayList<>();
                for (String each : FIRING.getOrDefault(minute, List.of())) {
                    String[] alert = each.split(" ", -1);
                    firing.add(sample("{alertname=\"" + alert[0] + "\", instance=\"" + alert[1] + "\"}", 1));
                }
                all.add(expression(
                        "count by (alertname, instance) (ALERTS{alertstate=\"firing\"})", minute + "m", firing));
            }
        }
        List<String> queries = LockMetersTest.queries().stream()
                .map(query -> query.replace("$__rate_interval", "1m"))
                .toList();
        for (String query : queries) {
            all.add(expression("count(" + query + ") > bool 0", "49m", List.of(sample("{}", 1))));
        }
        String losses = queries.get(0);
        assertTrue(losses.contains("latchkey_lost_total"), losses);
        all.add(expression("sum(" + losses + ")", "9m", List.of(sample("{}", 0))));
        all.add(expression("sum(" + losses + ") > bool 0.9", "10m30s", List.of(sample("{}", 1))));
        return all;
    }

    private static Map<String, Object> expression(String query, String time, List<Map<String, Object>> expected) {
        return Map.of("expr", query, "eval_time", time, "exp_samples", expected);
    }

    private static Map<String, Object> sample(String labels, int value) {
        return Map.of("labels", labels, "value", value);
    }

    /** Returns the values of each series, in the notation of promtool. */
    private static Map<String, List<String>> record() throws Exception {
        Map<String, List<String>> recorded = new LinkedHashMap<>();
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Service one = new Service(locks);
            Service two = new Service(locks);
            Service three = new Service(locks);
            Map<String, Service> services = Map.of("one", one, "two", two, "three", three);
            Lease hung = two.client.mutex("/elsewhere").acquire();
            hung.close();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            int scrapes = END * 4;
            for (int scrape = 0; scrape < scrapes; scrape++) {
                boolean away = scrape >= 20 * 4 && scrape < 23 * 4;
                switch (scrape) {
                    case 10 * 4 -> {
                        Lease lost = one.client.mutex("/lost").acquire();
                        locks.expire(one.client);
                        lost.lost().toCompletableFuture().get(20, TimeUnit.SECONDS);
                        one.awaitConnected(1);
                    }
                    case 20 * 4 -> {
                        locks.disconnect(one.client);
                        one.awaitConnected(0);
                    }
                    case 23 * 4 -> {
                        locks.heal(one.client);
                        one.awaitConnected(1);
                    }
                    case 30 * 4 -> {
                        hung = two.client.mutex("/hung").acquire();
                        awaitOne(two, "latchkey.held");
                        waiting.add(three.client.mutex("/hung").acquireAsync());
                        waiting.add(one.client.mutex("/hung").acquireAsync());
                        awaitOne(three, "latchkey.waiting");
                    }
                    case 50 * 4 -> {
                        hung.close();
                        for (CompletableFuture<Lease> each : waiting) {
                            each.get(20, TimeUnit.SECONDS).close();
                        }
                        two.work();
                        three.work();
                    }
                    case 55 * 4 -> {
                        assertThrows(
                                LockMismatchException.class,
                                () -> one.client.semaphore("/hung", 2).acquire());
                        two.observer.missed(3);
                    }
                    default -> {}
                }
                if (!away) {
                    one.work();
                }
                for (Map.Entry<String, Service> each : services.entrySet()) {
                    add(
                            recorded,
                            scrape,
                            each.getKey(),
                            each.getValue().registry.scrape());
                }
                locks.advance(STEP);
                services.values().forEach(each -> each.clock.add(STEP));
            }
        }
        return recorded;
    }

    private static void awaitOne(Service service, String gauge) throws InterruptedException {
        Eventually.holds(
                gauge + " is 1",
                SOON,
                () -> service.registry.get(gauge).tags("lock", "mutex").gauge().value() == 1);
    }

    private static final Pattern SAMPLE = Pattern.compile("(latchkey_\\w+)(?:\\{(.*)})? (\\S+)");

    private static void add(Map<String, List<String>> recorded, int scrape, String instance, String text) {
        text.lines().map(SAMPLE::matcher).filter(line -> line.matches()).forEach(line -> {
            String labels = line.group(2) == null ? "" : "," + line.group(2);
            List<String> values = recorded.computeIfAbsent(
                    line.group(1) + "{instance=\"" + instance + "\"" + labels + "}", none -> new ArrayList<>());
            while (values.size() < scrape) {
                values.add("_");
            }
            values.add(line.group(3));
        });
    }

    @Test
    void eachAlertHasALineOfTheRunbook() throws IOException {
        String page = Files.readString(Docs.root().resolve("docs/troubleshooting.md"));
        List<String> alerts = Pattern.compile("- alert: (\\w+)")
                .matcher(Files.readString(ALERTS))
                .results()
                .map(alert -> alert.group(1))
                .toList();
        assertEquals(6, alerts.size(), alerts::toString);
        alerts.forEach(alert -> assertTrue(page.contains("| `" + alert + "` | "), alert));
    }
}
