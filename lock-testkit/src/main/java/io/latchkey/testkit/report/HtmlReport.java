// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

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
 * A history as one self-contained HTML file, without scripts and network access: a lane for each client with its waits,
 * holds and losses to scale, the ends of sessions, the verdict in words, and the table of events. The parts of a
 * finding are marked. A failed assertion of a {@link io.latchkey.testkit.check.Verdict} writes the file: into the
 * folder that the system property {@code latchkey.histories} names, or else {@code latchkey-histories} in the build's
 * {@code target} or {@code build}, or else in the folder for temporary files. The last 200 files are kept.
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
     * A text about a history, with a picture of it.
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
     * A history, without a verdict.
     *
     * @param history as it is now
     * @return the report, which is not written yet
     */
    public static HtmlReport of(History history) {
        return new HtmlReport("history", "", new Evidence(history.events(), List.of(), ""));
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
        return text.substring(0, line + 1) + ReportFolder.announce(ReportFolder.path(), rule, page()) + "\n"
                + text.substring(line + 1);
    }

    /** {@return the page, as {@link #write} writes it} */
    public String page() {
        Picture picture = new Picture(evidence);
        StringBuilder page = new StringBuilder(HEAD);
        String headline = text.lines().findFirst().orElse(rule);
        page.append("<title>").append(escaped(rule)).append("</title></head>\n<body>\n");
        page.append("<h1>").append(escaped(headline)).append("</h1>\n");
        page.append(LEGEND).append(picture.html());
        if (!text.isEmpty()) {
            page.append("<pre class=\"verdict\">").append(escaped(text)).append("</pre>\n");
        }
        page.append(table());
        return page.append("</body>\n</html>\n").toString();
    }

    private String table() {
        Set<Long> concerned = evidence.spots().stream()
                .flatMap(spot -> spot.attempts().stream())
                .collect(Collectors.toSet());
        List<HistoryEvent> shown = displayPath(concerned);
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
            cell(table, event.what().name());
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
    private List<HistoryEvent> displayPath(Set<Long> concerned) {
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

    /** Escapes the text for HTML and XML, and replaces characters that neither may contain. */
    static String escaped(String text) {
        StringBuilder safe = new StringBuilder();
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> safe.append("&amp;");
                case '<' -> safe.append("&lt;");
                case '>' -> safe.append("&gt;");
                case '"' -> safe.append("&quot;");
                case '\'' -> safe.append("&#39;");
                default -> safe.appendCodePoint(isShown(c) ? c : 0xFFFD);
            }
        });
        return safe.toString();
    }

    private static boolean isShown(int c) {
        boolean control = c < 0x20 && c != '\n' && c != '\t';
        return !control && !(c >= 0x7F && c < 0xA0) && !(c >= 0xD800 && c <= 0xDFFF) && (c & 0xFFFE) != 0xFFFE;
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
            pre, td { white-space: pre-wrap; overflow-wrap: anywhere; }
            .picture { border: 1px solid #cfd4dc; } .names { fill: #f4f5f7; }
            svg { display: block; font: 11px system-ui, sans-serif; }
            table { border-collapse: collapse; font-size: 12px; }
            td, th { border: 1px solid #cfd4dc; padding: 2px 6px; text-align: left; }
            tr.hit td { background: #fdecea; }
            .wait { fill: #cfd8e6; } .held { fill: #2e9e5b; } .perhaps { fill: #a9dbbf; } .gone { fill: #e8e8e8; }
            .hit { stroke: #c62828; stroke-width: 2.5; }
            .spot { fill: #c62828; fill-opacity: 0.14; } .lost { stroke: #c62828; stroke-width: 2; }
            .fault { stroke: #e07b00; stroke-width: 2; } .faulttext { fill: #a85a00; } .losttext { fill: #c62828; }
            .over { stroke: #5b1f8a; stroke-width: 2; } .look { stroke: #0b3d20; stroke-width: 1.5; }
            .overtext { fill: #5b1f8a; }
            .placed { fill: #33518a; } .grid { stroke: #e3e6eb; } .axis { fill: #5a6573; }
            .legend span { display: inline-block; margin-right: 18px; } .legend svg { display: inline; vertical-align: middle; }
            </style>
            """;

    private static final String LEGEND =
            """
            <p class="legend">
            <span><svg width="26" height="12"><rect class="wait" width="26" height="12"/></svg> waits</span>
            <span><svg width="26" height="12"><rect class="held" width="26" height="12"/></svg> held: relied on</span>
            <span><svg width="26" height="12"><rect class="perhaps" width="26" height="12"/></svg> perhaps relied on</span>
            <span><svg width="26" height="12"><rect class="gone" width="26" height="12"/></svg> being released</span>
            <span><svg width="12" height="12"><circle class="placed" cx="6" cy="6" r="3"/></svg> stood in the queue</span>
            <span><svg width="8" height="12"><line class="look" x1="4" x2="4" y1="0" y2="12"/></svg> last valid look</span>
            <span><svg width="14" height="12"><path class="lost" d="M2 1L12 11M12 1L2 11"/></svg> told of the loss</span>
            <span><svg width="8" height="12"><line class="fault" x1="4" x2="4" y1="0" y2="12"/></svg> fault or note</span>
            <span><svg width="8" height="12"><line class="over" x1="4" x2="4" y1="0" y2="12"/></svg> session has ended</span>
            <span><svg width="26" height="12"><rect class="spot" width="26" height="12"/></svg> finding</span>
            </p>
            """;
}
