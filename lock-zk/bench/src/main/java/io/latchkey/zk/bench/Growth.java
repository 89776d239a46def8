// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.zk.ZkLockClient;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The cost of one lock, path, hand-over and session beside more and more of them. Prints the tables in docs/archive/growth-record.md:
 * the cost of one, and the exponent by which that grows with their number.
 */
// The class is long because each table is measured in a way of its own.
final class Growth {
    /** The largest list of this measurement has 100,000 names of some 36 bytes. Read by ZooKeeper's client. */
    private static final int LONGEST_ANSWER = 1 << 24;

    /** Short, so that there are heartbeats to count. */
    private static final Duration BEATING = Duration.ofSeconds(20);

    /** Latchkey sends a heartbeat this many times in a session timeout. */
    private static final int BEATS = 6;

    private static final int OBSERVED_BEATS = 3;
    private static final int CALM_WITHIN_BEATS = 300;
    private static final Duration LIMIT = Duration.ofMinutes(8);
    private static final int IN_FLIGHT = 64;
    private static final int CONNECTING = 8;
    private static final long LOOK_AGAIN_MILLIS = 100;

    private final ServersAtADistance site;
    private final Map<String, TreeMap<Integer, Double>> rows = new LinkedHashMap<>();
    private int paths;

    private Growth(ServersAtADistance site) {
        this.site = site;
    }

    /** Measures the questions whose names match, each with servers of its own. */
    static void measureAll(Path disk, Predicate<String> wanted, PrintStream out) throws Exception {
        System.setProperty("jute.maxbuffer", Integer.toString(LONGEST_ANSWER));
        Map<String, Question> questions = new LinkedHashMap<>();
        questions.put(
                "held locks", new Question(List.of(100, 1_000, 10_000), Growth::heldLocks, new Load(1, 10_000, true)));
        questions.put("paths", new Question(List.of(100, 1_000, 10_000, 100_000), Growth::pathsUsed, null));
        questions.put(
                "waiters",
                new Question(
                        List.of(100, 1_000, 10_000, 100_000),
                        Growth::waiters,
                        new Load(Waiters.SESSIONS, 10_000, false)));
        questions.put(
                "sessions", new Question(List.of(100, 300, 1_000, 3_000), Growth::sessions, new Load(1_000, 1, true)));
        questions.put(
                "sessions that wait",
                new Question(List.of(100, 300, 1_000), Growth::waitingSessions, new Load(1_000, 1, false)));
        for (Map.Entry<String, Question> each : questions.entrySet()) {
            if (wanted.test(each.getKey())) {
                try (ServersAtADistance site = new ServersAtADistance(Product.ZOOKEEPER, Storage.TMPFS, disk)) {
                    Growth growth = new Growth(site);
                    var unused = site.idle(Duration.ofSeconds(1));
                    each.getValue().measure().of(growth, 1_000); // a rehearsal, for code that is not compiled yet
                    growth.rows.clear();
                    for (int count : each.getValue().counts()) {
                        each.getValue().measure().of(growth, count);
                    }
                    growth.print(each.getKey(), out);
                    Load most = each.getValue().most();
                    if (most != null) {
                        out.println(growth.afterTheClientsWereKilled(most));
                    }
                }
            }
        }
    }

    /** @param most what stands when the clients are killed in the end, if locks are held or waited for */
    private record Question(List<Integer> counts, Measure measure, @Nullable Load most) {}

    /** Sessions with so many requests each, all of one mutex, or each of a mutex of its own. */
    private record Load(int sessions, int requests, boolean ownPaths) {
        int all() {
            return sessions * requests;
        }

        int paths() {
            return ownPaths ? all() : 1;
        }

        String path(String base, int request) {
            return ownPaths ? base + "/" + request : base;
        }
    }

    @FunctionalInterface
    private interface Measure {
        void of(Growth growth, int count) throws Exception;
    }

    // ---- questions

    /** One client holds locks, each at a path of its own, and beats; then it releases them. */
    private void heldLocks(int locks) throws Exception {
        String base = newPath();
        try (LockClient client = connect(site.throughProxy(Duration.ZERO), BEATING)) {
            Cost acquiring = new Cost();
            List<Lease> held = inFlight(locks, i -> client.mutex(base + "/" + i).acquireAsync());
            awaitCalm();
            acquiring.tell("acquire, first contact, until watched", locks);
            acquiring.tellHeap("held lock", locks);
            Cost beating = new Cost();
            TimeUnit.MILLISECONDS.sleep(beat().multipliedBy(OBSERVED_BEATS).toMillis());
            beating.tell("heartbeat of the whole session", OBSERVED_BEATS, locks);
            if (!held.stream().allMatch(Lease::isValid)) {
                throw new IllegalStateException("leases were lost beside " + locks);
            }
            Cost releasing = new Cost();
            var unused = inFlight(locks, i -> held.get(i).releaseAsync().toCompletableFuture());
            awaitCalm();
            releasing.tell("release", locks);
        }
    }

    /** One client acquires and releases a lock at each path, and then again at each. */
    private void pathsUsed(int count) throws Exception {
        String base = newPath();
        try (LockClient client = connect(site.throughProxy(Duration.ZERO), MeasuredClient.SESSION)) {
            Cost first = new Cost();
            acquireAndRelease(client, base, count);
            first.tell("acquire and release, first contact", count);
            first.tellHeap("path that was used", count);
            Cost again = new Cost();
            acquireAndRelease(client, base, count);
            again.tell("acquire and release, known path", count);
        }
    }

    private static void acquireAndRelease(LockClient client, String base, int paths) throws Exception {
        var unused =
                inFlight(paths, i -> client.mutex(base + "/" + i).acquireAsync().thenCompose(Lease::releaseAsync));
    }

    /** Requests of ten sessions wait for one mutex. */
    private void waiters(int waiters) throws Exception {
        queue(waiters, Waiters.SESSIONS, "waiting request");
    }

    /** One request of each session waits for one mutex. */
    private void waitingSessions(int sessions) throws Exception {
        queue(sessions, sessions, "waiting session");
    }

    private void queue(int waiters, int sessions, String one) throws Exception {
        Waiters.Turn turn =
                new Waiters(site, Duration.ZERO, LIMIT, sessions).measure(Contestant.LATCHKEY, waiters, newPath());
        if (turn.figure(Waiters.MISSING) > 0 || turn.figure(Waiters.IN_ORDER) < 1) {
            throw new IllegalStateException("requests were not granted, or out of order: " + turn.more());
        }
        put("queue up: requests", waiters, turn.figure(Waiters.QUEUEING_REQUESTS));
        put("queue up: bytes", waiters, turn.figure(Waiters.QUEUEING_BYTES));
        put("hand-over: requests", waiters, turn.figure(Waiters.REQUESTS));
        put("hand-over: bytes", waiters, turn.figure(Waiters.BYTES));
        put("hand-over: server CPU, µs", waiters, turn.drain().serverCpuUsPerOperation());
        put(one + ": heap of the clients, bytes", waiters, turn.figure(Waiters.CLIENT_HEAP));
        put(one + ": heap of the server, bytes", waiters, turn.figure(Waiters.SERVER_HEAP));
    }

    /** Each session holds one lock at a path of its own, and beats. */
    private void sessions(int sessions) throws Exception {
        String base = newPath();
        String servers = site.throughProxy(Duration.ZERO);
        List<MeasuredClient> clients = new ArrayList<>();
        ExecutorService connecting = Executors.newFixedThreadPool(CONNECTING);
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        try {
            Cost opening = new Cost();
            List<Future<MeasuredClient>> opened = new ArrayList<>();
            for (int i = 0; i < sessions; i++) {
                String path = base + "/" + i;
                opened.add(connecting.submit(() -> {
                    MeasuredClient client = Contestant.LATCHKEY.connect(servers);
                    var unused = client.handle(MeasuredLock.MUTEX, path).acquire();
                    return client;
                }));
            }
            for (Future<MeasuredClient> each : opened) {
                clients.add(each.get());
            }
            opening.tell("connect and acquire", sessions);
            opening.tellHeap("session", sessions);
            put(
                    "session: threads of its client",
                    sessions,
                    (double) (ManagementFactory.getThreadMXBean().getThreadCount() - threads) / sessions);
            Duration observed = MeasuredClient.SESSION.dividedBy(BEATS).multipliedBy(OBSERVED_BEATS);
            Cost beating = new Cost();
            TimeUnit.MILLISECONDS.sleep(observed.toMillis());
            beating.tell("heartbeat of a session", sessions * OBSERVED_BEATS, sessions);
        } finally {
            connecting.shutdownNow();
            MeasuredClient.closeAll(clients);
        }
    }

    // ---- the end of clients that are killed

    /**
     * Ends the connections of clients that hold or wait, waits for the servers to end the sessions, and kills the
     * server, which then starts on its log: the end of a session is one transaction with the paths of all its nodes.
     * Another client holds a lock throughout.
     */
    private String afterTheClientsWereKilled(Load load) throws Exception {
        String base = newPath();
        List<MeasuredClient> clients = new ArrayList<>();
        List<LockClient> killed = new ArrayList<>();
        try (LockClient other = connect(site.connectString(Duration.ZERO), MeasuredClient.SESSION);
                RawClient looker = new RawClient(site.connectString(Duration.ZERO), MeasuredClient.SESSION)) {
            Lease held = other.mutex(newPath()).acquire();
            String proxied = site.throughProxy(Duration.ZERO);
            for (int i = 0; i < load.sessions(); i++) {
                killed.add(connect(proxied, BEATING));
                clients.add(new LatchkeyClient(killed.get(i)));
            }
            for (int request = 0; request < load.all(); request++) {
                var unused = killed.get(request % load.sessions())
                        .mutex(load.path(base, request))
                        .acquireAsync();
            }
            awaitNodes(looker, load, base, load.all());
            long cut = System.nanoTime();
            site.cut();
            // What a killed process does no more: connect again. No server answers, so closing takes a session timeout.
            FutureTask<Void> gone = new FutureTask<>(() -> MeasuredClient.closeAll(clients), null);
            new Thread(gone, "close of killed clients").start();
            awaitNodes(looker, load, base, 0);
            double ended = secondsSince(cut);
            gone.get();
            long restarted = System.nanoTime();
            site.restart();
            other.mutex(newPath()).acquire().close();
            double served = secondsSince(restarted);
            if (!held.isValid()) {
                throw new IllegalStateException(
                        "another client's lease is " + held.state() + " " + served + " s after the restart");
            }
            return String.format(
                    Locale.ROOT,
                    "%nThe clients of %,d requests were killed: their sessions of %d s had ended after %.1f s. The server, killed"
                            + " and started again, granted a lock to another client after %.1f s.",
                    load.all(),
                    BEATING.toSeconds(),
                    ended,
                    served);
        } finally {
            MeasuredClient.closeAll(clients);
        }
    }

    /** Waits until so many nodes of requests stand at the paths of the load. */
    private static void awaitNodes(RawClient looker, Load load, String base, int count) throws Exception {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        for (int found = -1; found != count; ) {
            found = 0;
            for (int i = 0; i < load.paths(); i++) {
                found += looker.children(load.path(base, i));
            }
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(found + " requests stand below " + base + " in place of " + count);
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
        }
    }

    private static double secondsSince(long nanoTime) {
        return (System.nanoTime() - nanoTime) / 1e9;
    }

    // ---- how

    private static LockClient connect(String servers, Duration session) throws InterruptedException {
        return ZkLockClient.builder()
                .connectString(servers)
                .sessionTimeout(session)
                .build();
    }

    private String newPath() {
        return "/growth/" + paths++;
    }

    private static Duration beat() {
        return BEATING.dividedBy(BEATS);
    }

    /** Carries out {@code count} steps, a limited number of them at the same time, and returns their results. */
    private static <T> List<T> inFlight(int count, IntFunction<CompletableFuture<T>> step)
            throws ExecutionException, InterruptedException {
        Semaphore free = new Semaphore(IN_FLIGHT);
        List<CompletableFuture<T>> results = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            free.acquire();
            results.add(step.apply(i).whenComplete((value, failed) -> free.release()));
        }
        List<T> all = new ArrayList<>();
        for (CompletableFuture<T> each : results) {
            all.add(each.get());
        }
        return all;
    }

    /**
     * Waits for two beats in a row with one request at most: Latchkey watches the nodes beyond its checks, so many in a
     * beat.
     */
    private void awaitCalm() throws InterruptedException {
        int calm = 0;
        for (int i = 0; calm < 2; i++) {
            ServersAtADistance.Traffic before = site.traffic();
            TimeUnit.MILLISECONDS.sleep(beat().toMillis());
            calm = site.traffic().since(before).requests() <= 1 ? calm + 1 : 0;
            if (i > CALM_WITHIN_BEATS) {
                throw new IllegalStateException("the client goes on sending");
            }
        }
    }

    private void print(String question, PrintStream out) {
        List<Integer> counts = List.copyOf(rows.values().iterator().next().keySet());
        out.printf(
                "%n| %s |%s exponent |%n|---|%s---:|%n", question, cells(counts, "%,d"), "---:|".repeat(counts.size()));
        rows.forEach((row, costs) ->
                out.printf("| %s |%s %s |%n", row, cells(List.copyOf(costs.values()), "%s"), shownExponent(costs)));
    }

    private static String cells(List<? extends Number> values, String format) {
        StringBuilder cells = new StringBuilder();
        for (Number value : values) {
            Object shown = value instanceof Double cost ? shown(cost) : value;
            cells.append(String.format(Locale.ROOT, " " + format + " |", shown));
        }
        return cells.toString();
    }

    /** Returns a cost as the page has it; one that is too little to be seen beside an idle server is "-". */
    private static String shown(double cost) {
        return cost > 0 ? Report.number(cost) : "-";
    }

    private static String shownExponent(Map<Integer, Double> costs) {
        boolean allSeen = costs.values().stream().allMatch(cost -> cost > 0);
        return allSeen ? String.format(Locale.ROOT, "%.2f", exponent(costs)) : "-";
    }

    /** Returns the slope of a straight line through the logarithms: 0 for a cost that is the same beside any number. */
    private static double exponent(Map<Integer, Double> costs) {
        double meanX = costs.keySet().stream().mapToDouble(Math::log).average().orElseThrow();
        double meanY = costs.values().stream().mapToDouble(Math::log).average().orElseThrow();
        double products = 0;
        double squares = 0;
        for (Map.Entry<Integer, Double> each : costs.entrySet()) {
            double x = Math.log(each.getKey()) - meanX;
            products += x * (Math.log(each.getValue()) - meanY);
            squares += x * x;
        }
        return products / squares;
    }

    private void put(String row, int count, double cost) {
        rows.computeIfAbsent(row, first -> new TreeMap<>()).put(count, cost);
    }

    /** What clients and servers spend from its creation on. */
    private final class Cost {
        private final long clientHeap = Waiters.liveBytes();
        private final long serverHeap = site.heapBytes();
        private final ServersAtADistance.Traffic before = site.traffic();
        private final ServerProbe.Reading reading = site.probe().read();

        Cost() throws Exception {}

        void tell(String what, int steps) {
            tell(what, steps, steps);
        }

        /** Tells the cost of one step, beside so many locks or sessions. */
        void tell(String what, int steps, int beside) {
            ServerProbe.Reading spent = site.probe().since(reading);
            ServersAtADistance.Traffic traffic = site.traffic().since(before);
            put(what + ": requests", beside, (double) traffic.requests() / steps);
            put(what + ": bytes", beside, (double) traffic.bytes() / steps);
            put(what + ": server CPU, µs", beside, spent.cpuNanos() / 1e3 / steps);
        }

        void tellHeap(String one, int count) throws Exception {
            put(one + ": heap of the client, bytes", count, (double) (Waiters.liveBytes() - clientHeap) / count);
            put(one + ": heap of the server, bytes", count, (double) (site.heapBytes() - serverHeap) / count);
        }
    }
}
