// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import com.google.common.xml.XmlEscapers;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.report.Timeline.Evidence;
import io.latchkey.testkit.report.Timeline.Evidence.Spot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A history as one self-contained HTML file, without scripts and network access: the verdict in words with its
 * {@link Timeline}s, or one of the whole history, and the table of events. The events of a finding are marked. A failed
 * assertion of a {@link io.latchkey.testkit.check.Verdict} writes the file: into the folder that the system property
 * {@code latchkey.histories} names, or else {@code latchkey-histories} in the build's {@code target} or {@code build},
 * or else in the folder for temporary files. The last 200 files are kept.
 */
public final class HtmlReport {
    private static final int MOST_ROWS = 3000;

    private final String rule;
    private final String text;
    private final Evidence evidence;

    private HtmlReport(String rule, String text, Evidence evidence) {
        this.rule = rule;
        this.text = text;
        this.evidence = evidence;
    }

    /**
     * A text about a history, with its events.
     *
     * @param rule what the text is about, in a few words; the title
     * @param text what is to be said, its first line the headline
     * @param evidence the history, and where in it to look
     * @return the report, which is not written yet
     */
    public static HtmlReport of(String rule, String text, Evidence evidence) {
        return new HtmlReport(rule, text, evidence);
    }

    /**
     * A history with the timeline of all its attempts, without a verdict.
     *
     * @param history as it is now
     * @return the report, which is not written yet
     */
    public static HtmlReport of(History history) {
        List<HistoryEvent> events = history.events();
        return new HtmlReport("history", "history\n" + Timeline.of(events), new Evidence(events, List.of(), ""));
    }

    /**
     * Writes the page.
     *
     * @param file the file to write; an existing file is overwritten, its folder must exist
     * @throws IOException if it cannot be written
     */
    public void write(Path file) throws IOException {
        Files.writeString(file, page());
    }

    /**
     * Writes the page into the folder of reports, unless there is no history in it.
     *
     * @return the text, and below its first line where the page has been written
     */
    public String announced() {
        if (evidence.events().isEmpty()) {
            return text;
        }
        int line = text.indexOf('\n');
        return text.substring(0, line + 1) + ReportFolder.announce(rule, page()) + "\n" + text.substring(line + 1);
    }

    /** {@return the page, as {@link #write} writes it} */
    public String page() {
        StringBuilder page = new StringBuilder(HEAD);
        String headline = text.lines().findFirst().orElse(rule);
        page.append("<title>").append(escaped(rule)).append("</title></head>\n<body>\n");
        page.append("<h1>").append(escaped(headline)).append("</h1>\n");
        page.append("<pre>").append(escaped(text)).append("</pre>\n").append(table());
        return page.append("</body>\n</html>\n").toString();
    }

    private String table() {
        Set<Long> concerned = evidence.spots().stream()
                .flatMap(spot -> spot.attempts().stream())
                .collect(Collectors.toSet());
        List<HistoryEvent> shown = shownEvents(concerned);
        StringBuilder table = new StringBuilder("<h2>Events</h2>\n");
        if (shown.size() < evidence.events().size()) {
            table.append("<p>")
                    .append(shown.size())
                    .append(" of ")
                    .append(evidence.events().size())
                    .append(", around the first finding.</p>\n");
        }
        table.append("<table><thead><tr><th>ms</th><th>client</th><th>attempt</th><th>on</th><th>what</th>"
                + "<th>token</th><th>session</th><th>note</th></tr></thead>\n<tbody>\n");
        for (HistoryEvent event : shown) {
            table.append(concerned.contains(event.attempt()) ? "<tr class=\"hit\">" : "<tr>");
            cell(table, String.format(Locale.ROOT, "%.3f", event.nanos() / 1e6));
            cell(table, event.client());
            cell(table, event.attempt() == 0 ? "" : "#" + event.attempt());
            cell(table, event.claims().stream().map(LockClaim::toString).collect(Collectors.joining(" + ")));
            cell(table, event.type().name());
            cell(table, event.token() == 0 ? "" : Long.toString(event.token()));
            cell(table, event.session() == 0 ? "" : "0x" + Long.toHexString(event.session()));
            cell(table, event.note());
            table.append("</tr>\n");
        }
        return table.append("</tbody></table>\n").toString();
    }

    /**
     * All, or of a long history those around the first finding and those of the attempts that the findings are about.
     */
    private List<HistoryEvent> shownEvents(Set<Long> concerned) {
        List<HistoryEvent> all = evidence.events();
        if (all.size() <= MOST_ROWS) {
            return all;
        }
        long moment =
                evidence.spots().stream().mapToLong(Spot::from).findFirst().orElse(0);
        long before = all.stream().filter(event -> event.nanos() < moment).count();
        long first = Math.max(0, Math.min(before - MOST_ROWS / 2, all.size() - MOST_ROWS));
        Set<HistoryEvent> near = Set.copyOf(all.subList((int) first, (int) first + MOST_ROWS));
        return all.stream()
                .filter(event -> near.contains(event) || concerned.contains(event.attempt()))
                .toList();
    }

    private static void cell(StringBuilder table, String value) {
        table.append("<td>").append(escaped(value)).append("</td>");
    }

    /** Escapes the text for HTML and XML, and replaces control characters, which neither may contain. */
    private static String escaped(String text) {
        return XmlEscapers.xmlContentEscaper().escape(text);
    }

    private static final String HEAD =
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width"/>
            <style>
            body { font: 14px/1.4 system-ui, sans-serif; margin: 16px; color: #1c2430; background: #fff; }
            h1 { font-size: 20px; } h2 { font-size: 16px; margin-top: 24px; }
            pre { font-size: 12px; background: #f4f5f7; border-left: 4px solid #c62828; padding: 8px; }
            pre { overflow-x: auto; } td { white-space: pre-wrap; overflow-wrap: anywhere; }
            table { border-collapse: collapse; font-size: 12px; }
            td, th { border: 1px solid #cfd4dc; padding: 2px 6px; text-align: left; }
            tr.hit td { background: #fdecea; }
            </style>
            """;
}
