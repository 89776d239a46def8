// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Figures on pages for users are those of the tables: docs/performance.md begins with some rows of
 * docs/archive/performance-tables.md, and README.md quotes these.
 */
class FiguresTest {
    private static final String AT_2_MS = "### One server, log in memory, 2 ms round trip";
    private static final String ON_LOOPBACK = "### One server, log in memory, loopback";

    private static final Pattern FIGURE = Pattern.compile("\\d+(?:,\\d{3})*(?:\\.\\d+)?");
    private static final Pattern SPEED = Pattern.compile("(?s)With a round trip of\\s+2 ms (.*?)\\. The columns on");

    /** A column of the tables, and how a reader is told of it. */
    private enum Metric {
        RATE(4, "/s"),
        MEDIAN(5, "ms"),
        REQUESTS(7, ""),
        SERVER_CPU(8, "µs");

        final int column;
        final String unit;

        Metric(int column, String unit) {
            this.column = column;
            this.unit = unit;
        }
    }

    /** A row of the page. */
    private record Row(String label, String section, String measured, Metric metric, String ours, String limit) {
        String text() {
            String limited = limit.isEmpty() ? "" : figure(limit, metric) + " " + metric.unit;
            return String.format(
                    "| %s | %s %s | %s %s | %s | %s, %s | %s, %s µs |",
                    label,
                    figure(ours, metric),
                    metric.unit,
                    figure("curator", metric),
                    metric.unit,
                    limited,
                    figure(ours, Metric.REQUESTS),
                    figure("curator", Metric.REQUESTS),
                    figure(ours, Metric.SERVER_CPU),
                    figure("curator", Metric.SERVER_CPU));
        }

        private String figure(String system, Metric of) {
            String tables = Docs.read(Docs.root().resolve("docs/archive/performance-tables.md"));
            String measurements = tables.substring(tables.indexOf("\n" + section + "\n"));
            String row = measurements
                    .lines()
                    .filter(line -> line.startsWith("| " + measured + " | " + system + " |"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no row of " + system + " for " + measured));
            double value = Double.parseDouble(Arrays.stream(row.split("\\|"))
                    .map(String::strip)
                    .toList()
                    .get(of.column + 1)
                    .replace(",", ""));
            return rounded(of == Metric.MEDIAN ? value / 1000 : value, of);
        }
    }

    private static final List<Row> ROWS = List.of(
            new Row("acquire a free mutex, median", AT_2_MS, "free mutex", Metric.MEDIAN, "latchkey", "raw"),
            new Row(
                    "acquire 3 free permits of a semaphore, median",
                    AT_2_MS,
                    "free semaphore, 3 permits",
                    Metric.MEDIAN,
                    "latchkey",
                    "raw"),
            new Row(
                    "acquire a free multi-lock of 5 paths, median",
                    AT_2_MS,
                    "free multi-lock of 5",
                    Metric.MEDIAN,
                    "latchkey",
                    "raw"),
            new Row(
                    "pass a mutex on among 32 sessions",
                    AT_2_MS,
                    "mutex, 32 sessions",
                    Metric.RATE,
                    "latchkey",
                    "bare"),
            new Row(
                    "pass a mutex on among 32 threads of one client",
                    AT_2_MS,
                    "mutex, 32 threads of 1 client",
                    Metric.RATE,
                    "latchkey",
                    ""),
            new Row(
                    "the same with `localTurns`",
                    AT_2_MS,
                    "mutex, 32 threads of 1 client",
                    Metric.RATE,
                    "latchkey turns",
                    ""),
            new Row(
                    "pass a mutex on among 32 sessions, no network delay",
                    ON_LOOPBACK,
                    "mutex, 32 sessions",
                    Metric.RATE,
                    "latchkey",
                    "bare"));

    @Test
    void performanceBeginsWithRowsOfTheTables() {
        Docs.assertDrawn(
                "docs/performance.md",
                "summary",
                Stream.concat(
                                Stream.of(
                                        "| case | Latchkey | Curator | limit | requests: Latchkey, Curator | server CPU: Latchkey, Curator |",
                                        "|---|---:|---:|---:|---:|---:|"),
                                ROWS.stream().map(Row::text))
                        .collect(Collectors.joining("\n", "", "\n")));
    }

    @Test
    void readmeQuotesThem() {
        String readme = Docs.read(Docs.root().resolve("README.md"));
        List<String> quoted = SPEED.matcher(readme)
                .results()
                .flatMap(speed -> figures(speed.group(1)))
                .toList();
        assertTrue(quoted.size() >= 4, "only " + quoted);
        Set<String> known = ROWS.stream().flatMap(row -> figures(row.text())).collect(Collectors.toSet());
        assertEquals(
                List.of(),
                quoted.stream()
                        .filter(figure -> !known.contains(figure) && !figure.equals("32"))
                        .toList(),
                "not in docs/performance.md");
    }

    private static Stream<String> figures(String text) {
        return FIGURE.matcher(text).results().map(MatchResult::group);
    }

    /** Two decimals below 1, one below 100, and none that is 0 of a number of requests. */
    private static String rounded(double value, Metric metric) {
        int decimals = value < 1 ? 2 : value < 100 ? 1 : 0;
        String text = String.format(Locale.ROOT, "%,." + decimals + "f", value);
        return metric == Metric.REQUESTS ? text.replaceFirst("\\.0$", "") : text;
    }
}
