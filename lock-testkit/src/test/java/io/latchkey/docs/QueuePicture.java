// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import io.latchkey.docs.QueueScene.Request;
import io.latchkey.docs.QueueScene.Shown;
import io.latchkey.docs.Svg.Anchor;
import io.latchkey.docs.Svg.At;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The queues of some paths, one below the other: boxes for requests, first come on the left, arrows for what is
 * watched.
 */
final class QueuePicture {
    private static final int COLUMN = 150;
    private static final int BOX = 128;
    private static final int TALL = 62;
    private static final int ROW = 168;
    private static final int LEFT = 24;

    private final List<Shown> paths;
    private final List<String> owners = new ArrayList<>();

    QueuePicture(List<Shown> paths) {
        this.paths = paths;
        for (Shown path : paths) {
            path.requests().stream()
                    .map(Request::owner)
                    .filter(owner -> !owners.contains(owner))
                    .forEach(owners::add);
        }
        // In the order in which they asked, which their names tell: not every path has all.
        owners.sort(Comparator.comparingInt(owner -> Integer.parseInt(owner.substring(owner.lastIndexOf('-') + 1))));
    }

    String svg(String title) {
        int width = Math.max(LEFT + owners.size() * COLUMN, 560) + 8;
        Svg svg = new Svg(width, paths.size() * ROW + 40, title);
        for (int i = 0; i < paths.size(); i++) {
            draw(svg, paths.get(i), i * ROW);
        }
        double legend = paths.size() * ROW + 8;
        svg.box(LEFT, legend, 16, 14, Svg.GREEN, "");
        svg.text(new At(LEFT + 22, legend + 11), Anchor.START, Svg.INK, "font-size=\"12\"", "holds");
        svg.box(LEFT + 80, legend, 16, 14, Svg.GROUND, "4 3");
        svg.text(new At(LEFT + 102, legend + 11), Anchor.START, Svg.INK, "font-size=\"12\"", "waits");
        At from = new At(LEFT + 196, legend + 7);
        svg.arrow(from, from, from, new At(LEFT + 156, legend + 7), Svg.BLUE);
        svg.text(
                new At(LEFT + 204, legend + 11),
                Anchor.START,
                Svg.INK,
                "font-size=\"12\"",
                "watches; first come is on the left");
        return svg.done();
    }

    private void draw(Svg svg, Shown path, double top) {
        svg.text(new At(LEFT, top + 24), Anchor.START, Svg.INK, "font-weight=\"bold\"", path.path());
        svg.text(
                new At(LEFT + path.path().length() * 8.5 + 16, top + 24),
                Anchor.START,
                Svg.FAINT,
                "font-family=\"monospace\" font-size=\"12\"",
                path.data());
        double boxTop = top + 86;
        for (Request request : path.requests()) {
            double left = LEFT + owners.indexOf(request.owner()) * (double) COLUMN;
            svg.box(left, boxTop, BOX, TALL, request.holds() ? Svg.GREEN : Svg.GROUND, request.holds() ? "" : "4 3");
            double middle = left + BOX / 2.0;
            svg.text(new At(middle, boxTop + 22), Anchor.MIDDLE, Svg.INK, "font-weight=\"bold\"", request.owner());
            svg.text(new At(middle, boxTop + 38), Anchor.MIDDLE, Svg.INK, "font-size=\"12\"", kind(request));
            svg.text(
                    new At(middle, boxTop + 54),
                    Anchor.MIDDLE,
                    Svg.FAINT,
                    "font-family=\"monospace\" font-size=\"11\"",
                    "…" + request.name().substring(request.name().lastIndexOf('-')));
            if (request.watchesThePath()) {
                At below = new At(middle, boxTop + TALL + 14);
                svg.text(below, Anchor.MIDDLE, Svg.BLUE, "font-size=\"11\"", "watches the path");
            }
            for (String watched : request.watches()) {
                watch(svg, path, request, watched, boxTop);
            }
        }
    }

    private void watch(Svg svg, Shown path, Request request, String watched, double boxTop) {
        Request other = path.requests().stream()
                .filter(each -> each.name().equals(watched))
                .findFirst()
                .orElseThrow();
        int steps = owners.indexOf(request.owner()) - owners.indexOf(other.owner());
        double from = LEFT + owners.indexOf(request.owner()) * (double) COLUMN + BOX / 2.0 - 12;
        double to = LEFT + owners.indexOf(other.owner()) * (double) COLUMN + BOX / 2.0 + 8 + 6 * steps;
        double height = boxTop - 18 - 18 * steps;
        svg.arrow(new At(from, boxTop), new At(from, height), new At(to, height), new At(to, boxTop), Svg.BLUE);
    }

    private static String kind(Request request) {
        String tag = request.name().substring(0, request.name().indexOf('-'));
        return tag.equals("lease") ? "lease, permits: " + request.permits() : tag;
    }
}
