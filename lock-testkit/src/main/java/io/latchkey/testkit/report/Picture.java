// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.What;
import io.latchkey.testkit.report.Timeline.Evidence;
import io.latchkey.testkit.report.Timeline.Evidence.Spot;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The lanes of an {@link HtmlReport}, as one SVG that takes the width of the page: names on the left, and beside them
 * the time. The stretch of time is such that the first finding can be seen: the whole history, or else the attempts
 * that the finding is about, or else its surroundings. Each lane has its captions in rows of their own below the bars;
 * a caption without room is left out, since each bar tells all of its attempt to a pointer that rests on it.
 */
final class Picture {
    private static final int WIDTH = 1160;
    private static final int LEFT = 160;
    private static final int RIGHT = WIDTH - 8;
    private static final int TOP = 34;
    private static final int BAR = 24;
    private static final int CAPTION = 13;
    private static final int MOST_CAPTION_ROWS = 4;
    private static final int LONGEST_CAPTION = 60;
    /** A character of the font takes less than that. */
    private static final double CHARACTER = 6.8;

    private static final int NARROWEST_SPOT = 24;
    private static final int SURROUNDINGS = 15;
    private static final int MOST_SUMMARIES = 4000;
    private static final int TICK = 90;

    private final Evidence evidence;
    private final List<Attempt.Summary> summaries;
    private final Set<Long> hit = new HashSet<>();
    private final Map<Long, List<HistoryEvent>> byAttempt;
    private final long from;
    private final long to;
    private final boolean whole;
    private final StringBuilder svg = new StringBuilder();

    /** A stretch of time that may be drawn. */
    private record Window(long from, long to) {
        long length() {
            return to - from;
        }

        /** Returns the time, or the bound that it lies beyond. */
        long within(long time) {
            return Math.max(from, Math.min(time, to));
        }
    }

    /**
     * A text below a bar.
     *
     * @param rank captions with a lower one are placed first
     */
    private record Caption(int rank, double x, String kind, String text) {
        double width() {
            return text.length() * CHARACTER;
        }
    }

    Picture(Evidence evidence) {
        this.evidence = evidence;
        evidence.spots().forEach(spot -> hit.addAll(spot.attempts()));
        byAttempt = evidence.events().stream().collect(Collectors.groupingBy(HistoryEvent::attempt));
        List<HistoryEvent> events = evidence.events();
        long start = events.stream().mapToLong(HistoryEvent::nanos).min().orElse(0);
        long end = Math.max(
                start + 1, events.stream().mapToLong(HistoryEvent::nanos).max().orElse(1));
        List<Attempt.Summary> all = Attempt.Summary.of(events).stream()
                .filter(Attempt.Summary::isAsked)
                .toList();
        Window window = new Window(start, end);
        for (Window next : narrower(window, all)) {
            if (showsTheFinding(window, all)) {
                break;
            }
            window = next;
        }
        summaries = within(window, all).stream().limit(MOST_SUMMARIES).toList();
        from = window.from();
        to = summaries.size() < MOST_SUMMARIES
                ? window.to()
                : Math.max(from + 1, summaries.get(summaries.size() - 1).requested());
        whole = from == start && to == end;
    }

    private List<Window> narrower(Window whole, List<Attempt.Summary> all) {
        if (evidence.spots().isEmpty()) {
            return List.of();
        }
        Spot first = evidence.spots().get(0);
        List<Attempt.Summary> concerned = all.stream()
                .filter(summary -> first.attempts().contains(summary.attempt()))
                .toList();
        long asked =
                concerned.stream().mapToLong(Attempt.Summary::requested).min().orElse(first.from());
        long known =
                concerned.stream().mapToLong(Attempt.Summary::lastKnown).max().orElse(whole.to());
        long margin = (known - asked) / 10;
        long spotEnd = Math.min(first.to(), whole.to());
        long surroundings = SURROUNDINGS * Math.max(1, spotEnd - first.from());
        return List.of(
                clipped(asked - margin, known + margin, whole),
                clipped(first.from() - surroundings, spotEnd + surroundings, whole));
    }

    private static Window clipped(long from, long to, Window whole) {
        long start = Math.max(whole.from(), Math.min(from, whole.to() - 1));
        return new Window(start, Math.max(start + 1, Math.min(to, whole.to())));
    }

    private boolean showsTheFinding(Window window, List<Attempt.Summary> all) {
        if (evidence.spots().isEmpty()) {
            return true;
        }
        Spot first = evidence.spots().get(0);
        double share = (double) (window.within(first.to()) - window.within(first.from())) / window.length();
        return within(window, all).size() <= MOST_SUMMARIES && share * (RIGHT - LEFT) >= NARROWEST_SPOT;
    }

    private static List<Attempt.Summary> within(Window window, List<Attempt.Summary> all) {
        return all.stream()
                .filter(summary -> summary.requested() <= window.to() && summary.lastKnown() >= window.from())
                .toList();
    }

    /** The lanes, as HTML that is XML as well. */
    String html() {
        List<Track> tracks = new ArrayList<>(Track.of(summaries));
        evidence.events().stream()
                .filter(event -> event.attempt() == 0)
                .map(HistoryEvent::client)
                .distinct()
                .filter(client ->
                        tracks.stream().noneMatch(track -> track.client().equals(client)))
                .forEach(client -> tracks.add(new Track(client, List.of())));
        int top = TOP;
        String former = "";
        for (Track track : tracks) {
            boolean more = track.client().equals(former);
            top = lane(track, more, top);
            former = track.client();
        }
        String lanes = svg.toString();
        svg.setLength(0);
        svg.append(String.format(
                Locale.ROOT, "<div class=\"picture\"><svg viewBox=\"0 0 %d %d\" width=\"100%%\">%n", WIDTH, top));
        svg.append(String.format(
                Locale.ROOT, "<rect class=\"names\" x=\"0\" y=\"0\" width=\"%d\" height=\"%d\"/>%n", LEFT - 4, top));
        axis(top);
        spots(top);
        svg.append(lanes);
        svg.append("</svg></div>\n");
        return svg + (whole ? "" : "<p>Cut to the time around the first finding.</p>\n");
    }

    private void axis(int bottom) {
        long step = step((double) (to - from) * TICK / (RIGHT - LEFT));
        for (long tick = -Math.floorDiv(-from, step) * step; tick <= to; tick += step) {
            double x = x(tick);
            line("grid", x, 16, bottom, "");
            String label = BigDecimal.valueOf(tick, 6).stripTrailingZeros().toPlainString() + " ms";
            text("axis", Math.min(x + 2, RIGHT - label.length() * CHARACTER), 12, label);
        }
    }

    private void spots(int bottom) {
        for (Spot spot : evidence.spots()) {
            if (spot.from() > to || spot.to() < from) {
                continue;
            }
            double x = Math.min(x(spot.from()), RIGHT - 3);
            svg.append(String.format(
                    Locale.ROOT,
                    "<g><rect class=\"spot\" x=\"%.1f\" y=\"16\" width=\"%.1f\" height=\"%d\"/></g>%n",
                    x,
                    Math.max(3, x(Math.min(spot.to(), to)) - x),
                    bottom - 16));
        }
    }

    /**
     * Draws the line of a client.
     *
     * @param more whether the line above is of the same client, and has its marks
     * @return where the next one begins
     */
    private int lane(Track track, boolean more, int top) {
        List<Caption> captions = new ArrayList<>();
        String name = track.client();
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"6\" y=\"%d\"><title>%s</title>%s</text>%n",
                top + 16,
                HtmlReport.escaped(name),
                HtmlReport.escaped(shortened(name, 22))));
        track.summaries().forEach(summary -> summary(summary, top, captions));
        if (!more) {
            marks(track.client(), top, captions);
        }
        return top + BAR + captions(captions, top + BAR) * CAPTION + 10;
    }

    private void summary(Attempt.Summary summary, int top, List<Caption> captions) {
        String title = summary.name() + "\n"
                + byAttempt.getOrDefault(summary.attempt(), List.of()).stream()
                        .map(event -> event.toString().strip())
                        .collect(Collectors.joining("\n"));
        svg.append("<g><title>").append(HtmlReport.escaped(title)).append("</title>\n");
        boolean concerned = hit.contains(summary.attempt());
        String mark = concerned ? " hit" : "";
        int rank = concerned ? 1 : 2;
        bar("wait", summary.requested(), summary.answered(), top + 5, 14);
        if (summary.isGranted()) {
            bar("perhaps" + mark, summary.granted(), summary.perhapsUntil(), top + 1, 22);
            bar("held" + mark, summary.granted(), summary.surelyUntil(), top + 1, 22);
            if (summary.releasing() != Attempt.Summary.NEVER) {
                bar("gone", summary.releasing(), Math.min(summary.released(), summary.lastKnown()), top + 5, 14);
            }
            caption(captions, rank, summary.granted(), "", "#" + summary.attempt() + " held");
        }
        if (isDrawn(summary.placed())) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<circle class=\"placed\" cx=\"%.1f\" cy=\"%d\" r=\"3\"/>%n",
                    x(summary.placed()),
                    top + 12));
        }
        if (isDrawn(summary.lastLook())) {
            line("look", x(summary.lastLook()), top + 1, top + 23, "");
        }
        if (isDrawn(summary.lost())) {
            double x = x(summary.lost());
            svg.append(String.format(
                    Locale.ROOT,
                    "<path class=\"lost\" d=\"M%.1f %dL%.1f %dM%.1f %dL%.1f %d\"/>%n",
                    x - 5,
                    top + 7,
                    x + 5,
                    top + 17,
                    x + 5,
                    top + 7,
                    x - 5,
                    top + 17));
            caption(captions, rank, summary.lost(), "losttext", "#" + summary.attempt() + " lost");
        } else if (summary.gaveUp() != Attempt.Summary.NEVER) {
            caption(captions, rank, summary.gaveUp(), "axis", "#" + summary.attempt() + " gave up");
        }
        svg.append("</g>\n");
    }

    private boolean isDrawn(long time) {
        return time >= from && time <= to;
    }

    private void marks(String client, int top, List<Caption> captions) {
        for (HistoryEvent event : evidence.events()) {
            if (event.attempt() != 0 || !event.client().equals(client) || !isDrawn(event.nanos())) {
                continue;
            }
            boolean over = event.what() == What.SESSION_ENDED;
            line(
                    over ? "over" : "fault",
                    x(event.nanos()),
                    top - 2,
                    top + BAR + 2,
                    event.toString().strip());
            String words = over
                    ? "session has ended"
                    : event.what() == What.SESSION_ENDING ? "session ends: " + event.note() : event.note();
            caption(captions, 0, event.nanos(), over ? "overtext" : "faulttext", words);
        }
    }

    private void caption(List<Caption> captions, int rank, long time, String kind, String text) {
        if (isDrawn(time)) {
            captions.add(new Caption(rank, x(time), kind, shortened(text, LONGEST_CAPTION)));
        }
    }

    /** Writes each caption into the first row that has room for it, and returns how many rows are taken. */
    private int captions(List<Caption> captions, int top) {
        List<Placed> taken = new ArrayList<>();
        captions.sort(Comparator.comparingInt(Caption::rank).thenComparingDouble(Caption::x));
        for (Caption caption : captions) {
            double start = Math.min(caption.x(), RIGHT - caption.width());
            double end = start + caption.width() + CHARACTER;
            IntStream.range(0, MOST_CAPTION_ROWS)
                    .filter(row -> taken.stream().noneMatch(other -> other.overlaps(row, start, end)))
                    .findFirst()
                    .ifPresent(row -> {
                        taken.add(new Placed(row, start, end));
                        text(caption.kind(), start, top + (row + 1) * CAPTION, caption.text());
                    });
        }
        return taken.stream().mapToInt(Placed::row).max().orElse(-1) + 1;
    }

    /** The place of a caption. */
    private record Placed(int row, double start, double end) {
        boolean overlaps(int otherRow, double otherStart, double otherEnd) {
            return row == otherRow && start < otherEnd && otherStart < end;
        }
    }

    private static String shortened(String text, int most) {
        String line = text.replace('\n', ' ');
        return line.length() > most ? line.substring(0, most - 1) + "\u2026" : line;
    }

    private void bar(String kind, long start, long end, int top, int height) {
        if (start == Attempt.Summary.NEVER || start > to || end < from || end < start) {
            return;
        }
        double x = Math.min(x(start), RIGHT - 1);
        svg.append(String.format(
                Locale.ROOT,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>%n",
                kind,
                x,
                top,
                Math.max(1, x(end) - x),
                height));
    }

    private void line(String kind, double x, int top, int bottom, String title) {
        svg.append(String.format(
                Locale.ROOT,
                "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"><title>%s</title></line>%n",
                kind,
                x,
                x,
                top,
                bottom,
                HtmlReport.escaped(title)));
    }

    private void text(String kind, double x, int y, String text) {
        svg.append(String.format(
                Locale.ROOT,
                "<text class=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>%n",
                kind,
                x,
                y,
                HtmlReport.escaped(text)));
    }

    /** The shortest time of one, two or five times a power of ten nanoseconds that is not below this one. */
    private static long step(double nanos) {
        long power = (long) Math.pow(10, Math.floor(Math.log10(Math.max(1, nanos))));
        return LongStream.of(1, 2, 5, 10)
                .map(factor -> factor * power)
                .filter(step -> step >= nanos)
                .findFirst()
                .orElse(10 * power);
    }

    private double x(long time) {
        return LEFT + (double) (new Window(from, to).within(time) - from) / (to - from) * (RIGHT - LEFT);
    }
}
