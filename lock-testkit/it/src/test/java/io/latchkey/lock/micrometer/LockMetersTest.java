// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.latchkey.docs.Docs;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockObserver.AcquireFailure;
import io.latchkey.lock.LockObserver.Kind;
import io.latchkey.lock.LockObserver.Request;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.SessionState;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.time.Eventually;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The meters of a client on the simulation; docs/observing.md has the examples, docs/observing/dashboard.json the
 * queries.
 */
@Timeout(60)
class LockMetersTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Path DASHBOARD = Docs.root().resolve("docs/observing/dashboard.json");
    private static final Pattern STATES = Pattern.compile("latchkey\\.(named\\.)?(connected|waiting|held)");
    private static final Set<String> ONE_LEASE =
            Set.of("latchkey.connected 1.0", "latchkey.held 1.0", "latchkey.named.held 1.0");

    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final MeterRegistry meters = new SimpleMeterRegistry();

    private double value(String name, String... tags) {
        return meters.find(name).tags(tags).meters().stream()
                .mapToDouble(meter -> meter.measure().iterator().next().getValue())
                .sum();
    }

    private void awaitValue(double expected, String name, String... tags) throws InterruptedException {
        Eventually.holds(name + " is " + expected, SOON, () -> value(name, tags) == expected);
    }

    @Test
    void holdTimerHasTheTimeHeld() throws Exception {
        LockClient client = locks.client(LockMeters.of(meters));
        Lease lease = client.mutex("/a").acquire();
        locks.advance(Duration.ofSeconds(3));
        lease.close();
        Timer holds = meters.timer("latchkey.hold", "lock", "mutex", "outcome", "released");
        Eventually.holds("three seconds", Duration.ofSeconds(10), () -> holds.totalTime(TimeUnit.SECONDS) == 3);
    }

    @Test
    void waitTimerHasTheTimeWaited() throws Exception {
        LockClient client = locks.client(LockMeters.of(meters));
        Lease held = locks.client().mutex("/a").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/a").acquireAsync();
        var tried = client.mutex("/a").tryAcquireAsync(Duration.ofSeconds(2));
        locks.advance(Duration.ofSeconds(5));
        held.close();
        waiting.get(20, TimeUnit.SECONDS).close();
        assertEquals(Optional.empty(), tried.get(20, TimeUnit.SECONDS));
        awaitValue(1, "latchkey.hold");
        assertEquals(5, waited("granted"));
        assertEquals(2, waited("timed_out"));
    }

    private double waited(String outcome) {
        return meters.timer("latchkey.wait", "lock", "mutex", "outcome", outcome)
                .totalTime(TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void outcomesOfRequestsWithoutALeaseAreApart(boolean localTurns) throws Exception {
        var builder = locks.builder().observer(LockMeters.of(meters));
        LockClient client = (localTurns ? builder.localTurns(2, Duration.ofMinutes(1)) : builder).build();
        Mutex mutex = client.mutex("/a");
        Lease held = locks.client().mutex("/a").acquire();
        assertEquals(Optional.empty(), mutex.tryAcquire());
        awaitValue(1, "latchkey.wait", "outcome", "busy");
        assertThrows(
                LockMismatchException.class, () -> client.semaphore("/a", 2).tryAcquire());
        awaitValue(1, "latchkey.wait", "outcome", "refused");
        awaitValue(1, "latchkey.refused", "reason", "different_kind");
        assertLate(LockException.Reason.HELD_BY_OTHERS, 1, "timed_out", locks, mutex);
        locks.refuseWrites(client, 1); // it is asked again, and waits behind the holder
        assertLate(LockException.Reason.HELD_BY_OTHERS, 2, "timed_out", locks, mutex);
        locks.refuseWrites(client, Integer.MAX_VALUE);
        assertLate(LockException.Reason.THROTTLED, 1, "throttled", locks, mutex);
        locks.refuseWrites(client, 0);
        locks.disconnect(client);
        assertLate(LockException.Reason.NO_ANSWER, 1, "no_answer", locks, mutex);
        CompletableFuture<Optional<Lease>> tried = mutex.tryAcquireAsync(Duration.ZERO);
        locks.advance(Duration.ofMinutes(1));
        assertThrows(ExecutionException.class, () -> tried.get(20, TimeUnit.SECONDS));
        awaitValue(2, "latchkey.wait", "outcome", "no_answer");
        locks.heal(client);
        held.close();
    }

    private void assertLate(LockException.Reason reason, int times, String outcome, SimulatedLocks locks, Mutex mutex)
            throws InterruptedException {
        CompletableFuture<Lease> late = mutex.acquireAsync(Duration.ofSeconds(1));
        locks.advance(Duration.ofSeconds(1));
        ExecutionException failed = assertThrows(ExecutionException.class, () -> late.get(20, TimeUnit.SECONDS));
        assertEquals(
                reason,
                assertInstanceOf(LockTimeoutException.class, failed.getCause()).reason(),
                failed::toString);
        awaitValue(times, "latchkey.wait", "outcome", outcome);
    }

    @Test
    void gaugesAndTimersFollowRequests() throws Exception {
        LockClient client = locks.client(LockMeters.of(meters));
        awaitValue(1, "latchkey.connected");
        Lease first = client.mutex("/a").acquire();
        CompletableFuture<Lease> second = client.mutex("/a").acquireAsync();
        CompletableFuture<Lease> third = client.mutex("/a").acquireAsync();
        assertEquals(Optional.empty(), client.mutex("/a").tryAcquire());
        awaitValue(1, "latchkey.wait", "outcome", "busy");
        awaitValue(2, "latchkey.waiting", "lock", "mutex");
        awaitValue(1, "latchkey.held", "lock", "mutex");
        third.cancel(false);
        awaitValue(1, "latchkey.wait", "outcome", "cancelled");
        first.close();
        second.get(20, TimeUnit.SECONDS);
        awaitValue(1, "latchkey.hold", "outcome", "released");
        awaitValue(2, "latchkey.wait", "outcome", "granted");
        awaitValue(0, "latchkey.waiting");
        awaitValue(1, "latchkey.held");
        locks.expire(client);
        awaitValue(1, "latchkey.lost");
        awaitValue(1, "latchkey.hold", "outcome", "lost");
        awaitValue(0, "latchkey.held");
        awaitValue(1, "latchkey.session", "state", "expired");
    }

    @Test
    void connectionIsNotShown_whileTheSessionIsOver() {
        LockMeters observer = LockMeters.of(meters);
        assertEquals(0, value("latchkey.connected"));
        observer.sessionChanged(SessionState.CONNECTED);
        assertEquals(1, value("latchkey.connected"));
        observer.sessionChanged(SessionState.DISCONNECTED);
        assertEquals(0, value("latchkey.connected"));
        observer.sessionChanged(SessionState.EXPIRED);
        assertEquals(0, value("latchkey.connected"));
        observer.sessionChanged(SessionState.CONNECTED);
        assertEquals(1, value("latchkey.connected"));
    }

    @Test
    void gaugesCountFromZero_afterMissedEvents() {
        LockMeters observer = LockMeters.of(meters);
        Request endMissed = new Request(1, "/a", Kind.MUTEX, 1, "");
        Request lasting = new Request(2, "/b", Kind.MUTEX, 1, "");
        for (Request each : List.of(endMissed, lasting)) {
            observer.requested(each);
            observer.granted(each, 1, Duration.ZERO);
        }
        observer.requested(new Request(3, "/a", Kind.MUTEX, 1, ""));
        assertEquals(2, value("latchkey.held"));
        assertEquals(1, value("latchkey.waiting"));
        observer.missed(7);
        assertEquals(7, value("latchkey.missed"));
        assertEquals(0, value("latchkey.held"));
        assertEquals(0, value("latchkey.waiting"));
        observer.requested(new Request(4, "/c", Kind.MUTEX, 1, ""));
        observer.granted(new Request(4, "/c", Kind.MUTEX, 1, ""), 1, Duration.ZERO);
        observer.released(lasting, 1, Duration.ZERO);
        assertEquals(1, value("latchkey.held"), "not below what is held");
    }

    @Test
    void gaugesAreRemoved_whenTheClientIsClosed() throws Exception {
        LockClient client = locks.client(LockMeters.of(meters, Tags.of("client", "one")));
        var unused = client.mutex("/a").acquire();
        awaitValue(1, "latchkey.held", "client", "one");
        client.close();
        Eventually.holds("no gauges", SOON, () -> Stream.of("latchkey.held", "latchkey.waiting", "latchkey.connected")
                .allMatch(name -> meters.find(name).meters().isEmpty()));
        awaitValue(1, "latchkey.lost", "client", "one");
    }

    @Test
    void gaugesOfAnotherClientStay_whenOneIsClosed() {
        LockMeters closed = LockMeters.of(meters, Tags.of("client", "one"));
        LockMeters open = LockMeters.of(meters, Tags.of("client", "two"));
        Request request = new Request(1, "/a", Kind.MUTEX, 1, "");
        for (LockMeters each : List.of(closed, open)) {
            each.sessionChanged(SessionState.CONNECTED);
            each.requested(request);
            each.granted(request, 1, Duration.ZERO);
        }
        closed.sessionChanged(SessionState.CLOSED);
        for (String name : List.of("latchkey.held", "latchkey.waiting", "latchkey.connected")) {
            assertEquals(
                    List.of("two"),
                    meters.find(name).gauges().stream()
                            .map(gauge -> gauge.getId().getTag("client"))
                            .distinct()
                            .toList());
        }
        assertEquals(1, value("latchkey.held", "client", "two"));
    }

    static Stream<MeterRegistry> registries() {
        return Stream.of(
                new SimpleMeterRegistry(),
                new CompositeMeterRegistry().add(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)));
    }

    private static void openClient(LockMeters observer, long requestId) {
        Request request = new Request(requestId, "/a", Kind.MUTEX, 1, "");
        observer.sessionChanged(SessionState.CONNECTED);
        observer.requested(request);
        observer.granted(request, 1, Duration.ZERO);
    }

    /** The gauges of states that are not zero, as the registries show them that export them. */
    private static Set<String> shown(MeterRegistry registry) {
        Stream<MeterRegistry> leaves = registry instanceof CompositeMeterRegistry composite
                ? composite.getRegistries().stream()
                : Stream.of(registry);
        return leaves.flatMap(leaf -> leaf.getMeters().stream())
                .filter(meter -> STATES.matcher(meter.getId().getName()).matches() && measured(meter) != 0)
                .map(gauge -> gauge.getId().getName() + " " + measured(gauge))
                .collect(Collectors.toSet());
    }

    /** As in a loop that tries again until a client is open. */
    @ParameterizedTest
    @MethodSource("registries")
    void gaugesAreThereAgain_whenTheObserverGetsAnotherClient(MeterRegistry registry) {
        LockMeters observer = LockMeters.of(registry, path -> "some");
        openClient(observer, 1);
        assertEquals(ONE_LEASE, shown(registry));
        observer.sessionChanged(SessionState.CLOSED);
        assertEquals(Set.of(), shown(registry));
        observer.sessionChanged(SessionState.CLOSED); // of a client that found no server
        assertTrue(registry.find("latchkey.connected").meters().isEmpty());
        openClient(observer, 2);
        assertEquals(ONE_LEASE, shown(registry));
    }

    @ParameterizedTest
    @MethodSource("registries")
    void gaugesAreThoseOfTheNewestObserver_whenAnEarlierClientWasNeverOpen(MeterRegistry registry) {
        LockMeters unused = LockMeters.of(registry, path -> "some");
        openClient(LockMeters.of(registry, path -> "some"), 1);
        assertEquals(ONE_LEASE, shown(registry));
    }

    @ParameterizedTest
    @MethodSource("registries")
    void gaugesAreThoseOfTheNewestObserver_whenTheEndOfTheFormerClientIsReportedLater(MeterRegistry registry) {
        LockMeters former = LockMeters.of(registry, path -> "some");
        openClient(former, 1);
        LockMeters next = LockMeters.of(registry, path -> "some");
        former.released(new Request(1, "/a", Kind.MUTEX, 1, ""), 1, Duration.ZERO);
        openClient(next, 1);
        former.sessionChanged(SessionState.CLOSED);
        assertEquals(ONE_LEASE, shown(registry));
        next.sessionChanged(SessionState.CLOSED);
        assertEquals(Set.of(), shown(registry));
        assertTrue(registry.find("latchkey.connected").meters().isEmpty());
    }

    /** As for a lease that is lost. */
    private static void callAll(LockMeters observer) {
        Request request = new Request(1, "/a", Kind.MUTEX, 1, "");
        observer.sessionChanged(SessionState.DISCONNECTED);
        observer.requested(request);
        observer.granted(request, 1, Duration.ofMillis(3));
        observer.suspect(request, 1);
        observer.lost(request, 1, LossCause.SESSION_EXPIRED, Duration.ofMillis(3));
        observer.missed(1);
    }

    /** Otherwise the first loss would be no increase. */
    @Test
    void everythingExistsAtZero_fromTheStart() {
        LockMeters observer = LockMeters.of(meters);
        List<Meter> before = meters.getMeters();
        assertEquals(
                List.of(),
                before.stream()
                        .filter(meter -> measured(meter) != 0)
                        .map(Meter::getId)
                        .toList());
        assertEquals(6, meters.find("latchkey.lost").counters().size(), "one for each cause");
        assertEquals(5 * 7, meters.find("latchkey.wait").timers().size(), "kinds and outcomes");
        assertEquals(
                List.of(),
                before.stream()
                        .map(Meter::getId)
                        .filter(id ->
                                id.getDescription() == null && !id.getName().endsWith(".histogram"))
                        .toList());
        callAll(observer);
        observer.notGranted(
                new Request(2, "/b", Kind.SEMAPHORE, 7, ""), AcquireFailure.REFUSED, Optional.empty(), Duration.ZERO);
        assertEquals(before.size(), meters.getMeters().size(), "nothing is new after events");
    }

    /** However many permits there are: the number of the page. */
    @Test
    void scrapeHasAConstantNumberOfSeries() throws Exception {
        PrometheusMeterRegistry exported = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        LockMeters observer = LockMeters.of(exported);
        for (int permits = 1; permits < 100; permits++) {
            observer.requested(new Request(permits, "/s", Kind.SEMAPHORE, permits, ""));
        }
        long series = exported.scrape()
                .lines()
                .filter(line -> line.startsWith("latchkey_"))
                .count();
        String page = Files.readString(Docs.root().resolve("docs/observing.md"));
        assertTrue(page.contains("In a scrape a client has " + series + " series."), () -> "series: " + series);
    }

    private static double measured(Meter meter) {
        double sum = 0;
        for (var each : meter.measure()) {
            sum += each.getValue();
        }
        return sum;
    }

    @Test
    void agesAreThoseOfTheOldest() {
        MockClock clock = new MockClock();
        MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
        LockMeters observer = LockMeters.of(registry);
        Request first = new Request(31, "/a", Kind.MUTEX, 1, "");
        Request second = new Request(33, "/a", Kind.MUTEX, 1, ""); // in a hash table it may come before the first
        observer.requested(first);
        clock.addSeconds(3);
        observer.requested(second);
        clock.addSeconds(4);
        assertEquals(7, age(registry, "latchkey.waiting.age"));
        observer.granted(first, 1, Duration.ofSeconds(7));
        assertEquals(4, age(registry, "latchkey.waiting.age"));
        clock.addSeconds(5);
        assertEquals(9, age(registry, "latchkey.waiting.age"));
        assertEquals(5, age(registry, "latchkey.held.age"));
        observer.released(first, 1, Duration.ofSeconds(5));
        assertEquals(0, age(registry, "latchkey.held.age"));
    }

    private static double age(MeterRegistry registry, String name) {
        return registry.get(name).tags("lock", "mutex").timeGauge().value(TimeUnit.SECONDS);
    }

    @Test
    void metersOfANameExistFromItsFirstRequest() {
        LockMeters observer = LockMeters.of(meters, path -> path.startsWith("/orders/") ? "orders" : null);
        observer.requested(new Request(1, "/other", Kind.MUTEX, 1, ""));
        assertEquals(List.of(), named());
        Request request = new Request(2, "/orders/1", Kind.MUTEX, 1, "");
        observer.requested(request);
        assertEquals(
                6,
                meters.find("latchkey.named.lost")
                        .tags("name", "orders")
                        .counters()
                        .size());
        assertEquals(
                7,
                meters.find("latchkey.named.wait")
                        .tags("name", "orders")
                        .timers()
                        .size());
        int all = named().size();
        observer.granted(request, 1, Duration.ZERO);
        assertEquals(1, value("latchkey.named.held", "name", "orders"));
        observer.lost(request, 1, LossCause.NODE_DELETED, Duration.ofSeconds(1));
        assertEquals(1, value("latchkey.named.lost", "name", "orders", "cause", "node_deleted"));
        assertEquals(1, value("latchkey.lost", "cause", "node_deleted"), "without a name as well");
        assertEquals(all, named().size());
        observer.sessionChanged(SessionState.CLOSED);
        assertTrue(meters.find("latchkey.named.held").meters().isEmpty());
    }

    private List<String> named() {
        return meters.getMeters().stream()
                .map(meter -> meter.getId().getName())
                .filter(name -> name.startsWith("latchkey.named."))
                .toList();
    }

    @Test
    void namesAreBounded() {
        LockMeters observer = LockMeters.of(meters, path -> path);
        for (int i = 0; i < 1000; i++) {
            observer.requested(new Request(i, "/" + i, Kind.MUTEX, 1, ""));
        }
        assertEquals(101, meters.find("latchkey.named.waiting").gauges().size());
        assertEquals(900, value("latchkey.named.waiting", "name", "(others)"));
        assertEquals(1, value("latchkey.named.waiting", "name", "/99"));
    }

    /** The function is the user's. */
    @Test
    void kindsAreCounted_whenTheFunctionForNamesThrows() {
        LockMeters observer = LockMeters.of(meters, path -> {
            throw new IllegalStateException("of the user");
        });
        Request request = new Request(1, "/a", Kind.MUTEX, 1, "");
        assertThrows(IllegalStateException.class, () -> observer.requested(request));
        assertThrows(
                IllegalStateException.class, () -> observer.lost(request, 1, LossCause.NODE_DELETED, Duration.ZERO));
        assertEquals(1, value("latchkey.waiting"));
        assertEquals(1, value("latchkey.lost"));
    }

    /** Otherwise the meters of two clients would be one. */
    @Test
    void allMetersHaveTheTagsOfTheirClient() {
        callAll(LockMeters.of(meters, Tags.of("client", "one")));
        assertEquals(1, value("latchkey.suspect"));
        assertTrue(meters.getMeters().size() >= 9, () -> "only " + meters.getMeters());
        assertEquals(
                List.of(),
                meters.getMeters().stream()
                        .map(Meter::getId)
                        .filter(id -> !"one".equals(id.getTag("client")))
                        .toList());
    }

    /**
     * Each name and label of each query is exported by a registry for Prometheus, and each exported meter is in a
     * query.
     */
    @Test
    void dashboardAndAlertsAskForExportedMeters() throws Exception {
        PrometheusMeterRegistry exported = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        callAll(LockMeters.of(exported));
        String scrape = exported.scrape();
        List<String> queries = new ArrayList<>(queries());
        Pattern.compile("latchkey_\\w+(?:\\{[^}]*})?")
                .matcher(Files.readString(Docs.root().resolve("docs/observing/alerts.yml")))
                .results()
                .forEach(of -> queries.add(of.group()));
        assertTrue(queries.size() >= 20, () -> "only " + queries);
        Pattern selector = Pattern.compile("(latchkey_\\w+)(?:\\{([^}]*)})?");
        Pattern grouped = Pattern.compile("by \\(([\\w, ]+)\\)");
        StringBuilder asked = new StringBuilder();
        for (String query : queries) {
            List<MatchResult> selectors = selector.matcher(query).results().toList();
            assertFalse(selectors.isEmpty(), query);
            for (MatchResult each : selectors) {
                String sample = scrape.lines()
                        .filter(line -> line.matches(each.group(1) + "[{ ].*"))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(each.group(1) + " is not exported:\n" + scrape));
                asked.append(each.group(1)).append('\n');
                Stream<String> matched = each.group(2) == null
                        ? Stream.empty()
                        : Stream.of(each.group(2).split(",")).map(label -> label.replaceAll("\\W*[=!~].*", ""));
                Stream<String> labels = grouped.matcher(query)
                        .results()
                        .flatMap(by -> Stream.of(by.group(1).split(", ")));
                Stream.concat(matched, labels)
                        .forEach(label -> assertTrue(sample.contains(label + "=\""), label + " in " + sample));
            }
        }
        scrape.lines()
                .filter(line -> line.startsWith("# TYPE"))
                .map(line -> line.replaceAll("# TYPE (\\S+) .*", "$1"))
                .filter(name -> !name.endsWith("_max"))
                .forEach(name -> assertTrue(asked.toString().contains(name), name + " is in no query"));
    }

    static List<String> queries() throws IOException {
        JsonObject dashboard =
                JsonParser.parseString(Files.readString(DASHBOARD)).getAsJsonObject();
        List<String> queries = new ArrayList<>();
        for (JsonElement panel : dashboard.getAsJsonArray("panels")) {
            for (JsonElement target : panel.getAsJsonObject().getAsJsonArray("targets")) {
                queries.add(target.getAsJsonObject().get("expr").getAsString());
            }
        }
        return queries;
    }

    /** As it is for users that do not want meters: the locks work, and Micrometer is not there. */
    @Test
    void locksWork_withoutMicrometer() throws Exception {
        List<URL> path = new ArrayList<>();
        String classPath = System.getProperty("java.class.path");
        for (String entry :
                Pattern.compile(File.pathSeparator).splitAsStream(classPath).toList()) {
            if (!Path.of(entry).getFileName().toString().startsWith("micrometer")) {
                path.add(Path.of(entry).toUri().toURL());
            }
        }
        try (URLClassLoader without =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            assertThrows(
                    ClassNotFoundException.class,
                    () -> without.loadClass("io.micrometer.core.instrument.MeterRegistry"));
            Runnable locking = without.loadClass(LockingProgram.class.getName())
                    .asSubclass(Runnable.class)
                    .getDeclaredConstructor()
                    .newInstance();
            locking.run();
            assertEquals(Set.of(without), Set.of(locking.getClass().getClassLoader()));
        }
    }

    /** Loaded where Micrometer is not. */
    public static final class LockingProgram implements Runnable {
        @Override
        public void run() {
            try (SimulatedLocks locks = SimulatedLocks.start()) {
                LockClient client = locks.client();
                client.mutex("/a").run(Lease::ensureValid);
                client.readWriteLock("/b").writeLock().acquire().close();
                client.semaphore("/c", 2).acquire().close();
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
        }
    }
}
