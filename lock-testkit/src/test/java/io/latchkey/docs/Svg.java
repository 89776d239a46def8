// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import java.util.Locale;

/**
 * A picture of boxes, words and arrows. It has a ground of its own, so that it can be read on a dark page too, and
 * arrow heads that are plain paths, since not every viewer knows markers.
 */
final class Svg {
    static final String GROUND = "#ffffff";
    static final String INK = "#1f2328";
    static final String FAINT = "#59636e";
    static final String GREEN = "#c8efd2";
    static final String BLUE = "#0b5cad";

    private static final double HEAD = 7;

    private final StringBuilder svg = new StringBuilder();

    Svg(int width, int height, String title) {
        svg.append(String.format(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\" viewBox=\"0 0 %1$d %2$d\""
                        + " font-family=\"sans-serif\" font-size=\"13\">\n<title>%3$s</title>\n",
                width, height, escaped(title)));
        add("<rect width=\"%d\" height=\"%d\" fill=\"%s\"/>", width, height, GROUND);
    }

    /** A point. */
    record At(double x, double y) {}

    /** How a text stands at its point. */
    enum Anchor {
        START,
        MIDDLE
    }

    void box(double x, double y, double width, double height, String fill, String dashes) {
        add(
                "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"6\" fill=\"%s\" stroke=\"%s\""
                        + " stroke-width=\"1.3\"%s/>",
                n(x),
                n(y),
                n(width),
                n(height),
                fill,
                INK,
                dashes.isEmpty() ? "" : " stroke-dasharray=\"" + dashes + "\"");
    }

    void text(At at, Anchor anchor, String color, String more, String words) {
        add(
                "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" fill=\"%s\"%s>%s</text>",
                n(at.x()),
                n(at.y()),
                anchor.name().toLowerCase(Locale.ROOT),
                color,
                more.isEmpty() ? "" : " " + more,
                escaped(words));
    }

    /**
     * A curve from {@code from} to {@code to}, drawn towards {@code first} at its beginning and from {@code last} at
     * its end.
     */
    void arrow(At from, At first, At last, At to, String color) {
        double length = Math.hypot(to.x() - last.x(), to.y() - last.y());
        double dx = length == 0 ? 0 : (to.x() - last.x()) / length;
        double dy = length == 0 ? 1 : (to.y() - last.y()) / length;
        At neck = new At(to.x() - dx * HEAD, to.y() - dy * HEAD);
        add(
                "<path d=\"M%s C%s %s %s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\"/>",
                p(from), p(first), p(last), p(neck), color);
        add(
                "<path d=\"M%s L%s L%s Z\" fill=\"%s\"/>",
                p(to),
                p(new At(neck.x() - dy * HEAD / 2, neck.y() + dx * HEAD / 2)),
                p(new At(neck.x() + dy * HEAD / 2, neck.y() - dx * HEAD / 2)),
                color);
    }

    String done() {
        return svg + "</svg>\n";
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private static String p(At at) {
        return n(at.x()) + "," + n(at.y());
    }

    private static String n(double number) {
        String text = String.format(Locale.ROOT, "%.1f", number);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }

    private static String escaped(String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
