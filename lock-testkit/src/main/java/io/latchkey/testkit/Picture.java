// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.Evidence.Spot;
import io.latchkey.testkit.HistoryEvent.What;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The lanes of an {@link HtmlReport}, as SVG: names on the left, which stay, and beside them the time to scale, which scrolls. The scale is
 * such that the first finding can be seen; a history that would be too long then is cut to the time around it.
 */
final class Picture {
    private static final int ROW = 34;
    private static final int TOP = 24;
    private static final int NARROWEST = 1100;
    private static final int WIDEST = 24_000;
    private static final int SPOT_WIDTH = 50;
    private static final int MOST_COURSES = 4000;
    private static final int TICK = 110;

    private final Evidence evidence;
    private final List<Course> courses;
    private final Set<Long> hit = new HashSet<>();
    private final Map<Long, List<HistoryEvent>> byAttempt;
    private final long from;
    private final long to;
    private final double scale;
    private final int width;
    private final StringBuilder svg = new StringBuilder();

    Picture(Evidence evidence) {
        this.evidence = evidence;
        evidence.spots().forEach(spot -> hit.addAll(spot.attempts()));
        byAttempt = evidence.events().stream().collect(Collectors.groupingBy(HistoryEvent::attempt));
        List<HistoryEvent> events = evidence.events();
        long start = events.stream().mapToLong(HistoryEvent::nanos).min().orElse(0);
        long end = Math.max(
                start + 1, events.stream().mapToLong(HistoryEvent::nanos).max().orElse(1));
        List<Course> all = Course.of(events).stream().filter(Course::isAsked).toList();
        double wanted = NARROWEST / (double) (end - start);
        long cutFrom = start;
        long cutTo = end;
        if (!evidence.spots().isEmpty()) {
            Spot first = evidence.spots().get(0);
            long length = Math.max(1, Math.min(first.to(), end) - first.from());
            wanted = Math.max(wanted, Math.min(SPOT_WIDTH / (double) length, WIDEST / 1e6));
            long half = (long) (WIDEST / 2 / wanted);
            long middle = first.from() + length / 2;
            if ((end - start) * wanted > WIDEST) {
                cutFrom = Math.max(start, middle - half);
                cutTo = Math.min(end, middle + half);
            }
        }
        long cutStart = cutFrom;
        long cutEnd = cutTo;
        List<Course> within = all.stream()
                .filter(course -> course.requested() <= cutEnd && course.lastKnown() >= cutStart)
                .limit(MOST_COURSES)
                .toList();
        from = cutFrom;
        to = within.size() < MOST_COURSES
                ? cutTo
                : Math.max(from + 1, within.get(within.size() - 1).requested());
        courses = within;
        scale = Math.max(wanted, NARROWEST / (double) (to - from));
        width = (int) Math.ceil((to - from) * scale) + 60;
    }

    /** The lanes, as HTML that is XML as well. */
    String html() {
        List<Track> tracks = new ArrayList<>(Track.of(courses));
        evidence.events().stream()
                .filter(event -> event.attempt() == 0)
                .map(HistoryEvent::client)
                .distinct()
                .filter(client ->
                        tracks.stream().noneMatch(track -> track.client().equals(client)))
                .forEach(client -> tracks.add(new Track(client, List.of())));
        int height = TOP + tracks.size() * ROW + 8;
        StringBuilder html = new StringBuilder(
                        "<div class=\"picture\">\n<div class=\"names\"><svg width=\"150\" height=\"")
                .append(height)
                .append("\">\n");
        for (int row = 0; row < tracks.size(); row++) {
            String name = tracks.get(row).client();
            html.append("<text x=\"6\" y=\"").append(TOP + row * ROW + 20).append("\">");
            html.append("<title>").append(HtmlReport.escaped(name)).append("</title>");
            html.append(HtmlReport.escaped(name.length() > 22 ? name.substring(0, 21) + "\u2026" : name));
            html.append("</text>\n");
        }
        html.append("</svg></div>\n<div class=\"lanes\"><svg width=\"")
                .append(width)
                .append("\" height=\"")
                .append(height)
                .append("\">\n");
        grid(height);
        spots(height);
        String former = "";
        for (int row = 0; row < tracks.size(); row++) {
            int top = TOP + row * ROW;
            Track track = tracks.get(row);
            track.courses().forEach(course -> course(course, top));
            if (!track.client().equals(former)) {
                marks(track.client(), top);
            }
            former = track.client();
        }
        String cut = from
                                > evidence.events().stream()
                                        .mapToLong(HistoryEvent::nanos)
                                        .min()
                                        .orElse(from)
                        || to
                                < evidence.events().stream()
                                        .mapToLong(HistoryEvent::nanos)
                                        .max()
                                        .orElse(to)
                ? "<p>Cut to the time around the first finding.</p>\n"
                : "";
        return html.append(svg).append("</svg></div>\n</div>\n").append(cut).toString();
    }

    private void grid(int height) {
        double step = Math.pow(10, Math.ceil(Math.log10(TICK / scale)));
        if (step * scale > TICK * 5) {
            step /= 5;
        }
        for (double time = Math.ceil(from / step) * step; time <= to; time += step) {
            double x = x((long) time);
            svg.append(String.format(
                    Locale.ROOT,
                    "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"16\" y2=\"%d\"/><text class=\"axis\" x=\"%.1f\" y=\"12\">%s ms</text>%n",
                    x,
                    x,
                    height,
                    x + 2,
                    Double.toString(Math.rint(time) / 1e6)));
        }
    }

    private void spots(int height) {
        boolean first = true;
        for (Spot spot : evidence.spots()) {
            if (spot.from() > to || spot.to() < from) {
                continue;
            }
            double x = x(spot.from());
            svg.append(String.format(
                    Locale.ROOT,
                    "<rect%s class=\"spot\" x=\"%.1f\" y=\"16\" width=\"%.1f\" height=\"%d\"/>%n",
                    first ? " id=\"finding\"" : "",
                    x,
                    Math.max(3, x(Math.min(spot.to(), to)) - x),
                    height - 16));
            first = false;
        }
    }

    private void course(Course course, int top) {
        String title = course.name() + "\n"
                + byAttempt.getOrDefault(course.attempt(), List.of()).stream()
                        .map(event -> event.toString().strip())
                        .collect(Collectors.joining("\n"));
        String shown = "<title>" + HtmlReport.escaped(title) + "</title>";
        svg.append("<g>").append(shown).append('\n');
        String mark = hit.contains(course.attempt()) ? " hit" : "";
        bar("wait", course.requested(), course.answered(), top + 8, 14);
        if (course.isGranted()) {
            bar("perhaps" + mark, course.granted(), course.perhapsUntil(), top + 4, 22);
            bar("held" + mark, course.granted(), course.surelyUntil(), top + 4, 22);
            if (course.releasing() != Course.NEVER) {
                bar("gone", course.releasing(), Math.min(course.released(), course.lastKnown()), top + 8, 14);
            }
            double room = x(course.perhapsUntil()) - x(course.granted());
            if (room > 46) {
                text("", x(course.granted()) + 4, top + 19, "held #" + course.attempt());
            }
        }
        if (course.placed() != Course.NEVER) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<circle class=\"placed\" cx=\"%.1f\" cy=\"%d\" r=\"3\"/>%n",
                    x(course.placed()),
                    top + 15));
        }
        if (course.lastLook() != Course.NEVER) {
            upright("look", course.lastLook(), top + 4, top + 26, "");
        }
        if (course.lost() != Course.NEVER) {
            double x = x(course.lost());
            svg.append(String.format(
                    Locale.ROOT,
                    "<path class=\"lost\" d=\"M%.1f %dL%.1f %dM%.1f %dL%.1f %d\"/>%n",
                    x - 5,
                    top + 10,
                    x + 5,
                    top + 20,
                    x + 5,
                    top + 10,
                    x - 5,
                    top + 20));
            text("", x + 8, top + 19, "lost");
        } else if (course.gaveUp() != Course.NEVER) {
            text("axis", x(course.gaveUp()) + 2, top + 19, "gave up");
        }
        svg.append("</g>\n");
    }

    private void marks(String client, int top) {
        for (HistoryEvent event : evidence.events()) {
            if (event.attempt() != 0 || !event.client().equals(client) || event.nanos() < from || event.nanos() > to) {
                continue;
            }
            boolean over = event.what() == What.SESSION_ENDED;
            upright(
                    over ? "over" : "fault",
                    event.nanos(),
                    top,
                    top + 30,
                    event.toString().strip());
            text(
                    "faulttext",
                    x(event.nanos()) + 3,
                    top + (over ? 33 : 4),
                    over
                            ? "session ended"
                            : event.what() == What.SESSION_ENDING ? "ends: " + event.note() : event.note());
        }
    }

    private void bar(String kind, long start, long end, int top, int height) {
        if (start == Course.NEVER || start > to || end < from || end < start) {
            return;
        }
        double x = x(start);
        svg.append(String.format(
                Locale.ROOT,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>%n",
                kind,
                x,
                top,
                Math.max(1, x(end) - x),
                height));
    }

    private void upright(String kind, long time, int top, int bottom, String title) {
        double x = x(time);
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

    private double x(long time) {
        return (Math.max(from, Math.min(time, to)) - from) * scale + 4;
    }
}
