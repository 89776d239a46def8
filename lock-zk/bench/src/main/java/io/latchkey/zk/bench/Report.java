// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.common.collect.Maps;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The results as Markdown. */
final class Report {
    private static final String BEGIN = "<!-- generated: begin -->";
    private static final String END = "<!-- generated: end -->";

    private static final String NOTHING = "-";
    private static final int ENOUGH = 100;
    private static final Set<String> LIMITED = Set.of(Case.MUTEX_8, Case.MUTEX_32, Case.FREE_MULTI_5);

    private final Results results;

    Report(Results results) {
        this.results = results;
    }

    /** A combination of servers and distance. */
    private record Environment(Storage storage, double rttMs) {
        String title() {
            String servers =
                    switch (storage) {
                        case TMPFS -> "One server, log in memory";
                        case DISK -> "One server, log on disk";
                        case ENSEMBLE -> "Three servers, logs in memory";
                    };
            return servers + ", " + distance(rttMs);
        }

        static String distance(double rttMs) {
            return rttMs == 0 ? "loopback" : number(rttMs) + " ms round trip";
        }
    }

    String markdown() {
        List<String> lines = new ArrayList<>();
        for (Results.Run run : results.runs()) {
            lines.add("- Run: %s, cases `%s`, %s%s, commit %s, JDK %s, %s."
                    .formatted(
                            run.mode(),
                            run.wanted(),
                            run.date(),
                            run.seconds() == null ? "" : ", " + run.seconds() + " s",
                            run.commit(),
                            run.java(),
                            run.machine()));
        }
        results.runs().stream()
                .flatMap(run -> run.others().stream())
                .distinct()
                .forEach(other -> lines.add("- " + other + "."));
        lines.add("");
        lines.add("### Targets");
        lines.add("");
        lines.add("| what | target | found | |");
        lines.add("|---|---|---:|---|");
        Target.all()
                .forEach(target -> lines.add("| %s | %s | %s | %s |"
                        .formatted(target.what(), target.bound(), target.found(results), target.verdict(results))));
        limits(lines);
        Set<Environment> wheres = results.cases().stream()
                .map(each -> new Environment(each.storage(), each.rttMs()))
                .collect(Collectors.toCollection(() -> new TreeSet<>(Comparator.comparing(Environment::storage)
                        .thenComparing(Environment::rttMs, Comparator.reverseOrder()))));
        for (Environment where : wheres) {
            lines.add("");
            lines.add("### " + where.title());
            table(where, lines);
        }
        return String.join("\n", lines) + "\n";
    }

    /** The comparison with {@code raw} and {@code bare}, which send the minimum of requests. */
    private void limits(List<String> lines) {
        lines.add("");
        lines.add("### Beside the limit: operations/s");
        lines.add("");
        lines.add("| case | limit | ours to the limit | the limit's to Curator's |");
        lines.add("|---|---|---:|---:|");
        for (CaseFigures limit : results.cases()) {
            if (limit.storage() != Storage.TMPFS
                    || !LIMITED.contains(limit.name())
                    || limit.system() != limitOf(limit.name())) {
                continue;
            }
            lines.add("| %s, %s | %s | %s | %s |"
                    .formatted(
                            limit.name(),
                            Environment.distance(limit.rttMs()),
                            limit.system().label(),
                            ratio(rate(limit, Contestant.LATCHKEY), limit.opsPerS()),
                            ratio(limit.opsPerS(), rate(limit, Contestant.CURATOR))));
        }
    }

    private static Contestant limitOf(String name) {
        return name.equals(Case.FREE_MULTI_5) ? Contestant.RAW : Contestant.BARE;
    }

    private @Nullable Double rate(CaseFigures where, Contestant who) {
        return results.find(where.name(), who, where.rttMs(), where.storage())
                .map(CaseFigures::opsPerS)
                .orElse(null);
    }

    private static String ratio(@Nullable Double of, @Nullable Double to) {
        return of == null || to == null ? NOTHING : String.format(Locale.ROOT, "%.2f", of / to);
    }

    private void table(Environment where, List<String> lines) {
        List<CaseFigures> here = results.cases().stream()
                .filter(each -> each.storage() == where.storage() && each.rttMs() == where.rttMs())
                .collect(Collectors.groupingBy(CaseFigures::name, LinkedHashMap::new, Collectors.toList()))
                .values()
                .stream()
                .flatMap(List::stream)
                .toList();
        List<CaseFigures> timed = here.stream()
                .filter(each -> each.p50Us() != null && each.p50Us() > 0)
                .toList();
        if (!timed.isEmpty()) {
            lines.add("");
            lines.add(
                    "| case | system | sessions | ops | ops/s | p50 µs | p99 µs | requests/op | server CPU µs/op | of its turns | client CPU µs/op | client alloc B/op |");
            lines.add("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        }
        for (CaseFigures each : timed) {
            lines.add("| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |"
                    .formatted(
                            each.name(),
                            each.system().label(),
                            each.sessions(),
                            each.operations() == null ? NOTHING : String.format(Locale.ROOT, "%,d", each.operations()),
                            number(each.opsPerS()),
                            percentile(each, each.p50Us()),
                            percentile(each, each.p99Us()),
                            number(each.requestsPerOp()),
                            number(each.serverCpuUsPerOp()),
                            spread(each),
                            number(each.clientCpuUsPerOp()),
                            number(each.more(CaseFigures.CLIENT_ALLOC))));
        }
        onlooked(here, lines);
        List<CaseFigures> special =
                here.stream().filter(each -> !special(each).isEmpty()).toList();
        if (!special.isEmpty()) {
            lines.add("");
            for (CaseFigures each : special) {
                lines.add("- %s, %s: %s"
                        .formatted(
                                each.name(),
                                each.system().label(),
                                special(each).entrySet().stream()
                                        .map(more -> more.getKey().replace('_', ' ') + " " + number(more.getValue()))
                                        .collect(Collectors.joining(", "))));
            }
        }
    }

    /** What another client sees while one client's threads contend. */
    private static void onlooked(List<CaseFigures> here, List<String> lines) {
        List<CaseFigures> onlooked = here.stream()
                .filter(each -> each.more(CaseFigures.ONLOOKER_WAITS).isPresent())
                .toList();
        if (onlooked.isEmpty()) {
            return;
        }
        lines.add("");
        lines.add(
                "| case | system | ops/s | requests per 1,000 ops | ops/s beside an onlooker | onlooker's waits | their p50 µs | their p99 µs |");
        lines.add("|---|---|---:|---:|---:|---:|---:|---:|");
        for (CaseFigures each : onlooked) {
            lines.add("| %s | %s | %s | %s | %s | %s | %s | %s |"
                    .formatted(
                            each.name(),
                            each.system().label(),
                            number(each.opsPerS()),
                            number(each.more(CaseFigures.REQUESTS_PER_1000)),
                            number(each.more(CaseFigures.ONLOOKED_RATE)),
                            number(each.more(CaseFigures.ONLOOKER_WAITS)),
                            number(each.more(CaseFigures.ONLOOKER_P50)),
                            number(each.more(CaseFigures.ONLOOKER_P99))));
        }
    }

    /** Empty for few operations, whose 99th percentile means little. */
    private static String percentile(CaseFigures of, @Nullable Double found) {
        return of.operations() != null && of.operations() < ENOUGH ? NOTHING : number(found);
    }

    /** The figures that only this case has. */
    private static Map<String, Double> special(CaseFigures each) {
        return each.more() == null
                ? Map.of()
                : Maps.filterKeys(each.more(), figure -> !CaseFigures.COMMON.contains(figure));
    }

    private static String spread(CaseFigures each) {
        OptionalDouble lowest = each.more(CaseFigures.LOWEST_CPU);
        return lowest.isEmpty() ? NOTHING : number(lowest) + " to " + number(each.more(CaseFigures.HIGHEST_CPU));
    }

    private static String number(OptionalDouble value) {
        return value.isEmpty() ? NOTHING : number(value.getAsDouble());
    }

    /** Formats with three significant digits. */
    static String number(@Nullable Double value) {
        if (value == null) {
            return NOTHING;
        }
        int decimals = value == Math.rint(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2;
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }

    /** Writes the tables into the documentation. */
    void into(Path docs) throws IOException {
        Path page = docs.resolve("archive/performance-tables.md");
        String text = Files.readString(page);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalStateException(page + " has no marker for the results: " + BEGIN);
        }
        Files.writeString(
                page, text.substring(0, begin + BEGIN.length()) + "\n\n" + markdown() + "\n" + text.substring(end));
    }
}
