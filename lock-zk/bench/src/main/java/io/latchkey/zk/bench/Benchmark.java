// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.common.collect.Iterables;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.logging.LogManager;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The entry point of the benchmark: measures all systems or the growth of costs, or writes the results into the
 * documentation.
 */
public final class Benchmark {
    private static final PrintStream OUT = System.out;
    private static final Duration LOOPBACK = Duration.ZERO;
    private static final Duration AWAY = Duration.ofMillis(2);
    private static final List<Integer> QUEUES = List.of(100, 1_000, 10_000);

    private final Extent extent;
    private final Path disk;
    private final Predicate<String> wanted;
    private final List<CaseFigures> figures = new ArrayList<>();
    private int paths;

    private Benchmark(Extent extent, Path disk, Predicate<String> wanted) {
        this.extent = extent;
        this.wanted = wanted;
        this.disk = disk;
    }

    /**
     * Started by the build of this module, with {@code -Dexec.skip=false}.
     *
     * @param args short, full, growth or docs; the folder of the results; that of the documentation; a regular
     *     expression for the names of cases; whether to add the results to the existing ones
     */
    public static void main(String[] args) throws Exception {
        Thread.currentThread().setUncaughtExceptionHandler((thread, failed) -> {
            failed.printStackTrace(OUT);
            System.exit(1); // threads of clients may still be there
        });
        Path folder = Files.createDirectories(Path.of(args[1]));
        Path json = folder.resolve("results.json");
        if (args[0].equals("docs")) {
            new Report(Results.read(json)).into(Path.of(args[2]));
            return;
        }
        if (args[0].equals("growth")) {
            Growth.measureAll(folder.resolve("data"), Pattern.compile(args[3]).asPredicate(), OUT);
            System.exit(0); // threads of clients may still be there
        }
        Extent extent = Extent.named(args[0]);
        LogManager.getLogManager().reset(); // Curator warns of threads that were interrupted as their turn was over
        Benchmark bench = new Benchmark(
                extent, folder.resolve("data"), Pattern.compile(args[3]).asPredicate());
        long from = System.nanoTime();
        Results.Run run = run(extent, args[3]);
        Results before = Boolean.parseBoolean(args[4]) && Files.exists(json)
                ? Results.read(json)
                : new Results(List.of(), List.of());
        try {
            bench.measureAll();
        } finally {
            // What was measured before an error stays: a whole run takes more than an hour.
            long seconds = (System.nanoTime() - from) / 1_000_000_000;
            write(before.with(new Results(List.of(run.lasting(seconds)), bench.figures)), folder, json);
            OUT.printf(Locale.ROOT, "%s, in %d s%n", json, seconds);
        }
        System.exit(0); // threads of waiters that were given up may still be there
    }

    private static void write(Results results, Path folder, Path json) throws IOException {
        results.write(json);
        Report report = new Report(results);
        Files.writeString(folder.resolve("results.md"), report.markdown());
        OUT.println(report.markdown());
    }

    private void measureAll() throws Exception {
        try (ServersAtADistance site = new ServersAtADistance(Product.ZOOKEEPER, Storage.TMPFS, disk)) {
            rehearse(site, wanted(extent.cases(LOOPBACK).stream()), extent.rehearsal());
            tell(site.idle(extent.idle()));
            for (Duration roundTrip : List.of(AWAY, LOOPBACK)) {
                String servers = site.connectString(roundTrip);
                for (Case each : wanted(extent.cases(roundTrip).stream())) {
                    inTurns(each, site, servers, roundTrip);
                }
            }
            rehearseQueues(site);
            for (Duration roundTrip : extent.distancesOfWaiters()) {
                for (int waiters : QUEUES) {
                    queues(site, roundTrip, waiters);
                }
            }
        }
        List<Case> again = wanted(extent.casesOfStorage().stream());
        for (Storage storage : again.isEmpty() ? List.<Storage>of() : List.of(Storage.DISK, Storage.ENSEMBLE)) {
            measure(Product.ZOOKEEPER, storage, again);
        }
        // Last, because the classes that their clients load would slow down the systems measured after them.
        for (Product other : Product.others()) {
            List<Case> cases = wanted(extent.casesOf(other).stream());
            if (other.isInstalled() && !cases.isEmpty()) {
                measure(other, Storage.TMPFS, cases);
            }
        }
    }

    private void measure(Product product, Storage storage, List<Case> cases) throws Exception {
        try (ServersAtADistance site = new ServersAtADistance(product, storage, disk)) {
            rehearse(site, cases, extent.rehearsal().dividedBy(4));
            tell(site.idle(extent.idle()));
            for (Duration roundTrip : extent.distancesOfStorage()) {
                String servers = site.connectString(roundTrip);
                for (Case each : cases) {
                    inTurns(each, site, servers, roundTrip);
                }
            }
        }
    }

    /**
     * Warms up all cases, half of them at a distance, so that the first measurement does not include the compilation of
     * servers, clients, the proxy and the benchmark.
     */
    private void rehearse(ServersAtADistance site, List<Case> cases, Duration time) throws Exception {
        for (Duration roundTrip : List.of(LOOPBACK, AWAY)) {
            rehearse(site, site.connectString(roundTrip), cases, time.dividedBy(2));
        }
    }

    private void rehearse(ServersAtADistance site, String servers, List<Case> cases, Duration time) throws Exception {
        long end = System.nanoTime() + time.toNanos();
        for (Case each : Iterables.cycle(cases)) {
            for (Contestant contestant : each.contestants()) {
                if (System.nanoTime() - end >= 0) {
                    return;
                }
                var unused = each.load()
                        .run(new Trial(
                                contestant,
                                servers,
                                site.probe(),
                                newPath(),
                                Duration.ZERO,
                                extent.measured(),
                                Duration.ZERO));
            }
        }
    }

    /** Measures one system in one turn, at an unused path. */
    @FunctionalInterface
    private interface Turn<T> {
        T of(Contestant contestant, String path) throws Exception;
    }

    /**
     * Measures all systems in several rounds, each round starting with another system, so that drift of the machine
     * affects all of them. Every second round has the reverse order, so that no system always follows the same one.
     */
    private <T> Map<Contestant, List<T>> inTurns(List<Contestant> contestants, int rounds, Turn<T> turn)
            throws Exception {
        Map<Contestant, List<T>> turns = new EnumMap<>(Contestant.class);
        for (int round = 0; round < rounds; round++) {
            List<Contestant> order = new ArrayList<>(contestants);
            Collections.rotate(order, round);
            if (round % 2 == 1) {
                Collections.reverse(order.subList(1, order.size()));
            }
            for (Contestant contestant : order) {
                turns.computeIfAbsent(contestant, ignored -> new ArrayList<>()).add(turn.of(contestant, newPath()));
            }
        }
        return turns;
    }

    private void inTurns(Case which, ServersAtADistance site, String servers, Duration roundTrip) throws Exception {
        Map<Contestant, List<LoadSample>> turns =
                inTurns(which.contestants(), extent.rounds(which), (contestant, path) -> which.load()
                        .run(new Trial(
                                contestant,
                                servers,
                                site.probe(),
                                path,
                                extent.warmUp(),
                                which.time(extent.measured()),
                                extent.onlooked())));
        turns.forEach((contestant, samples) -> {
            CaseFigures found = CaseFigures.of(
                    which.name(),
                    which.load().sessions(),
                    contestant,
                    millis(roundTrip),
                    site.storage(),
                    samples,
                    Map.of());
            tell(found);
            if (Long.valueOf(0).equals(found.operations())) {
                throw new IllegalStateException(contestant + " acquired nothing in \"" + which.name() + "\"");
            }
        });
    }

    private void queues(ServersAtADistance site, Duration roundTrip, int waiters) throws Exception {
        if (!wanted.test(Waiters.name(waiters))) {
            return;
        }
        Waiters queue = new Waiters(site, roundTrip, extent.drainsWithin());
        List<Contestant> contestants = waiters <= extent.curatorsWaiters()
                ? List.of(Contestant.LATCHKEY, Contestant.CURATOR)
                : List.of(Contestant.LATCHKEY);
        inTurns(
                        contestants,
                        extent.roundsOfWaiters(waiters),
                        (contestant, path) -> queue.measure(contestant, waiters, path))
                .forEach((contestant, turns) -> tell(CaseFigures.of(
                        Waiters.name(waiters),
                        Waiters.SESSIONS,
                        contestant,
                        millis(roundTrip),
                        site.storage(),
                        turns.stream().map(Waiters.Turn::drain).toList(),
                        Waiters.usual(turns))));
    }

    /** The short cases, which would otherwise run cold code where the long ones run compiled code. */
    private void rehearseQueues(ServersAtADistance site) throws Exception {
        if (QUEUES.stream().map(Waiters::name).noneMatch(wanted)) {
            return;
        }
        Waiters queue = new Waiters(site, LOOPBACK, extent.drainsWithin());
        for (int waiters : List.of(100, 1_000)) {
            for (Contestant contestant : List.of(Contestant.LATCHKEY, Contestant.CURATOR)) {
                var unused = queue.measure(contestant, waiters, newPath());
            }
        }
    }

    private static double millis(Duration time) {
        return time.toNanos() / 1e6;
    }

    private List<Case> wanted(Stream<Case> cases) {
        return cases.filter(each -> wanted.test(each.name())).toList();
    }

    private String newPath() {
        return "/bench/" + paths++;
    }

    private void tell(CaseFigures found) {
        figures.add(found);
        OUT.printf(
                Locale.ROOT,
                "%-50s %-14s %-8s %3.0f ms  %10s/s  p50 %10s us  p99 %10s us  %6s requests  %7s us server  %7s us client%n",
                found.name(),
                found.system().label(),
                found.storage().label(),
                found.rttMs(),
                Report.number(found.opsPerS()),
                Report.number(found.p50Us()),
                Report.number(found.p99Us()),
                Report.number(found.requestsPerOp()),
                Report.number(found.serverCpuUsPerOp()),
                Report.number(found.clientCpuUsPerOp()));
    }

    private static Results.Run run(Extent extent, String wanted) throws IOException {
        return new Results.Run(
                extent.name(),
                wanted,
                Instant.now().truncatedTo(ChronoUnit.MINUTES).toString(),
                null,
                commit(),
                machine(),
                Runtime.version().toString(),
                Product.others().stream().map(Product::found).toList());
    }

    private static String commit() throws IOException {
        try {
            Process git = new ProcessBuilder("git", "describe", "--always", "--dirty").start();
            return new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        } catch (IOException noGit) {
            return "unknown";
        }
    }

    private static String machine() throws IOException {
        Path cpus = Path.of("/proc/cpuinfo");
        String model = Files.isReadable(cpus)
                ? Files.readAllLines(cpus).stream()
                        .filter(line -> line.startsWith("model name"))
                        .map(line -> line.substring(line.indexOf(':') + 1).trim())
                        .findFirst()
                        .orElse("")
                : "";
        return "%d processors %s, %s %s, load average at the start %.1f"
                .formatted(
                        Runtime.getRuntime().availableProcessors(),
                        model,
                        System.getProperty("os.name"),
                        System.getProperty("os.version"),
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }
}
