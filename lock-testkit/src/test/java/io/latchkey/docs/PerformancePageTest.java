// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The summary in docs/performance.md, which is written by hand, and docs/performance-tables.md, which the benchmark
 * writes.
 */
class PerformancePageTest {
    private static final Pattern RUN = Pattern.compile("- Run: full, .*?, (\\d{4}-\\d\\d-\\d\\d)T.*?, commit (\\w+),");

    @Test
    void summaryIsOfTheRunInTheTables() {
        String summary = Docs.read(Docs.root().resolve("docs/performance.md"));
        Matcher run = RUN.matcher(Docs.read(Docs.root().resolve("docs/performance-tables.md")));
        assertTrue(run.find(), "the tables name their run");
        String date = LocalDate.parse(run.group(1)).format(DateTimeFormatter.ofPattern("d MMMM uuuu", Locale.ENGLISH));
        String named = summary.replaceAll("\\s+", " ");
        assertTrue(named.contains("full run of " + date + ", commit " + run.group(2)), run.group());
    }
}
