// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.report.Timeline.Evidence.Spot;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A few attempts as text, a line for each client: {@code |-- acquire --|} waits, {@code === held ===} relied on,
 * {@code ...} perhaps relied on, then {@code |} released, {@code x} lost, {@code /} gave up, {@code >} goes on. The end
 * of a session is marked below its client, the finding at the bottom. Events far from the finding are omitted. Lines
 * are at most 140 columns long.
 */
public final class Timeline {
    private static final int WIDTH = 96;
    private static final int LABEL = 20;
    private static final int MARKS = 6;
    private static final int LISTED = 12;
    /** Of a spot that would be smaller than one in so many parts of the timeline only the surroundings are drawn. */
    private static final int SMALLEST = 12;

    private static final int SURROUNDINGS = 4;

    private final List<HistoryEvent> events;
    private final List<Attempt.Summary> summaries;
    private final Spot spot;
    private final long from;
    private final long to;

    /**
     * Draws a part of a history.
     *
     * @param events the events of the history, in order of time
     * @param spot which attempts are drawn, and where in time
     */
    public Timeline(List<HistoryEvent> events, Spot spot) {
        this.events = events;
        this.spot = spot;
        this.summaries = Attempt.Summary.of(events.stream()
                .filter(event -> spot.attempts().contains(event.attempt()))
                .toList());
        long first = Math.min(
                spot.from(),
                summaries.stream().mapToLong(Attempt.Summary::requested).min().orElse(spot.from()));
        long end =
                summaries.stream().mapToLong(Attempt.Summary::lastKnown).max().orElse(first);
        long last = Math.max(first + 1, Math.max(end, spot.to() == Attempt.Summary.NEVER ? end : spot.to()));
        long length = Math.max(1, Math.min(spot.to(), last) - spot.from());
        boolean small = (last - first) / SMALLEST > length;
        from = small ? Math.max(first, spot.from() - SURROUNDINGS * length) : first;
        to = small ? Math.min(last, spot.from() + (SURROUNDINGS + 1) * length) : last;
    }

    /** All attempts of a history. */
    static Timeline of(List<HistoryEvent> events) {
        Set<Long> attempts = Attempt.Summary.of(events).stream()
                .filter(Attempt.Summary::isAsked)
                .map(Attempt.Summary::attempt)
                .collect(Collectors.toSet());
        long end = events.stream().mapToLong(HistoryEvent::nanos).max().orElse(0);
        return new Timeline(events, new Spot(attempts, 0, end));
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        line(text, "", String.format(Locale.ROOT, "%.3f ms to %.3f ms", from / 1e6, to / 1e6));
        String former = "";
        for (Track track : Track.of(summaries)) {
            line(text, track.client().equals(former) ? "" : track.client() + ":", bar(track));
            if (!track.client().equals(former)) {
                marks(text, track.client());
            }
            former = track.client();
        }
        if (spot.to() > spot.from() && (spot.from() > from || spot.to() < to)) {
            char[] bar = blank();
            fill(bar, column(spot.from()), Math.max(column(spot.to()), column(spot.from()) + 1), '^', "");
            line(text, "", new String(bar));
        }
        for (Attempt.Summary summary : summaries.stream().limit(LISTED).toList()) {
            text.append("  ").append(times(summary)).append('\n');
        }
        if (summaries.size() > LISTED) {
            text.append("  ... and ").append(summaries.size() - LISTED).append(" more\n");
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String label, String bar) {
        String shown = label.length() > LABEL ? label.substring(0, LABEL - 2) + "~:" : label;
        text.append(String.format(Locale.ROOT, "  %-" + LABEL + "s %s", shown, bar)
                        .stripTrailing())
                .append('\n');
    }

    private String bar(Track track) {
        char[] bar = blank();
        String after = "";
        for (Attempt.Summary summary : track.summaries()) {
            if (summary.requested() > to || Math.min(summary.perhapsUntil(), summary.gaveUp()) < from) {
                continue;
            }
            int asked = column(summary.requested());
            int answered = column(summary.answered());
            fill(bar, asked, answered, '-', " acquire ");
            put(bar, asked, summary.requested() < from ? '<' : '|');
            after = "";
            if (summary.isGranted()) {
                int surely = column(summary.surelyUntil());
                int perhaps = column(summary.perhapsUntil());
                fill(bar, answered, perhaps, '.', "");
                fill(bar, answered, Math.max(surely, answered + 1), '=', " held ");
                put(bar, answered, '|');
                after = end(bar, perhaps, summary);
            } else if (summary.gaveUp() <= to) {
                put(bar, answered, '/');
                after = " gave up";
            } else {
                put(bar, answered, '>');
                after = " waits";
            }
        }
        return new String(bar).stripTrailing() + after;
    }

    private String end(char[] bar, int column, Attempt.Summary summary) {
        if (summary.perhapsUntil() > to) {
            put(bar, column, '>');
            return summary.perhapsUntil() == Attempt.Summary.NEVER ? " goes on" : "";
        }
        boolean lost = summary.lost() != Attempt.Summary.NEVER;
        put(bar, column, lost ? 'x' : '|');
        return lost ? " lost" : summary.isReleasedInOrder() ? " released" : " releasing";
    }

    private void marks(StringBuilder text, String client) {
        List<HistoryEvent> ends = events.stream()
                .filter(event -> event.attempt() == 0 && event.client().equals(client))
                .filter(event -> event.nanos() >= from && event.nanos() <= to)
                .toList();
        for (HistoryEvent event : ends.stream().limit(MARKS).toList()) {
            int column = column(event.nanos());
            String what = String.format(Locale.ROOT, "%s at %.3f ms", words(event), event.nanos() / 1e6);
            boolean left = column + what.length() + 2 > WIDTH + 18 && column > what.length();
            String mark =
                    left ? " ".repeat(column - what.length() - 1) + what + " ^" : " ".repeat(column) + "^ " + what;
            line(text, "", mark.substring(0, Math.min(mark.length(), WIDTH + 20)));
        }
        if (ends.size() > MARKS) {
            line(text, "", "... and " + (ends.size() - MARKS) + " more");
        }
    }

    private static String words(HistoryEvent event) {
        return switch (event.type()) {
            case SESSION_ENDING -> "session ends, " + event.note();
            case SESSION_ENDED -> "session has ended";
            default -> event.note();
        };
    }

    private static String times(Attempt.Summary summary) {
        StringBuilder text = new StringBuilder(summary.name());
        text.append(" on ")
                .append(summary.claims().stream().map(LockClaim::toString).collect(Collectors.joining(" + ")))
                .append(':');
        time(text, "asked", summary.requested());
        time(text, "placed", summary.placed());
        time(text, "granted", summary.granted());
        time(text, "last looked", summary.lastLook());
        time(text, "releasing", summary.releasing());
        time(text, "released", summary.released());
        time(text, "lost", summary.lost());
        time(text, "gave up", summary.gaveUp());
        return text.append(" ms").toString();
    }

    private static void time(StringBuilder text, String what, long nanos) {
        if (nanos != Attempt.Summary.NEVER) {
            text.append(String.format(Locale.ROOT, " %s %.3f", what, nanos / 1e6));
        }
    }

    private static char[] blank() {
        char[] bar = new char[WIDTH + 1];
        Arrays.fill(bar, ' ');
        return bar;
    }

    private static void put(char[] bar, int column, char mark) {
        bar[column] = mark;
    }

    private static void fill(char[] bar, int start, int end, char with, String label) {
        for (int i = start; i < end; i++) {
            bar[i] = with;
        }
        int room = end - start - label.length();
        if (room >= 2) {
            label.getChars(0, label.length(), bar, start + room / 2 + 1);
        }
    }

    private int column(long time) {
        long within = Math.max(from, Math.min(time, to));
        return (int) ((double) (within - from) / (to - from) * WIDTH);
    }

    /**
     * The data behind a verdict, which {@link HtmlReport} shows.
     *
     * @param events the events of the history
     * @param spots where in it each finding is
     * @param context information for reproducing it, such as a seed and the command that replays it; empty if unknown
     */
    public record Evidence(List<HistoryEvent> events, List<Spot> spots, String context) {
        /** No history: there is nothing to draw. */
        public static final Evidence NONE = new Evidence(List.of(), List.of(), "");

        /**
         * Where a finding is.
         *
         * @param attempts the attempts that it is about
         * @param from when it begins, in nanoseconds since the history began
         * @param to when it ends
         */
        public record Spot(Set<Long> attempts, long from, long to) {}

        /**
         * {@return the same, with a text that tells the reader how to see it again}
         *
         * @param newContext such as a seed and the command that replays it
         */
        public Evidence in(String newContext) {
            return new Evidence(events, spots, newContext);
        }
    }
}
