// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import io.latchkey.docs.Svg.Anchor;
import io.latchkey.docs.Svg.At;
import io.latchkey.zk.acquire.Acquisition.Edge;
import io.latchkey.zk.acquire.State;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The state machine of one request as a graph. Arrows and their words come from the table; only where a state stands, and around which
 * corner an arrow goes, is said here. An arrow that nobody has laid is straight.
 */
final class AcquisitionPicture {
    private static final int WIDTH = 1120;
    private static final int HEIGHT = 620;
    private static final double TALL = 36;
    private static final double LINE = 14;

    private static final Map<State, Spot> SPOTS = spots();
    private static final Map<Way, Route> ROUTES = routes();

    private final List<Edge> edges;

    AcquisitionPicture(List<Edge> edges) {
        this.edges = edges;
    }

    private record Spot(double left, double top, double width) {
        At middle() {
            return new At(left + width / 2, top + TALL / 2);
        }
    }

    private record Way(State from, State to) {}

    /** A curve and where its words stand. */
    private record Route(At from, At first, At last, At to, At words) {}

    String svg() {
        Svg svg = new Svg(WIDTH, HEIGHT, "The states of one request, and the events that lead from one to another");
        Map<Way, List<String>> arrows = new LinkedHashMap<>();
        for (Edge edge : edges) {
            for (State to : State.values()) {
                if (edge.to().contains(to)) {
                    arrows.computeIfAbsent(new Way(edge.from(), to), way -> new ArrayList<>())
                            .add(edge.event().getSimpleName());
                }
            }
        }
        arrows.keySet().forEach(way -> {
            Route route = route(way);
            svg.arrow(route.from(), route.first(), route.last(), route.to(), Svg.FAINT);
        });
        arrows.forEach((way, events) -> {
            At words = route(way).words();
            for (int i = 0; i < events.size(); i++) {
                svg.label(new At(words.x(), words.y() + i * LINE), events.get(i));
            }
        });
        for (State state : State.values()) {
            Spot spot = SPOTS.get(state);
            svg.box(spot.left(), spot.top(), spot.width(), TALL, state == State.HELD ? Svg.GREEN : Svg.PALE, "");
            At middle = spot.middle();
            svg.text(new At(middle.x(), middle.y() + 5), Anchor.MIDDLE, Svg.INK, "font-weight=\"bold\"", state.name());
        }
        return svg.done();
    }

    private static Route route(Way way) {
        Route laid = ROUTES.get(way);
        if (laid != null) {
            return laid;
        }
        At from = SPOTS.get(way.from()).middle();
        At to = SPOTS.get(way.to()).middle();
        At middle = new At((from.x() + to.x()) / 2, (from.y() + to.y()) / 2);
        return new Route(from, middle, middle, to, middle);
    }

    private static Map<State, Spot> spots() {
        Map<State, Spot> spots = new EnumMap<>(State.class);
        spots.put(State.NEW, new Spot(20, 240, 90));
        spots.put(State.ENQUEUEING, new Spot(230, 240, 140));
        spots.put(State.QUEUED, new Spot(530, 240, 130));
        spots.put(State.CONFIRMING, new Spot(780, 240, 130));
        spots.put(State.HELD, new Spot(1000, 240, 100));
        spots.put(State.DRAINING, new Spot(130, 40, 120));
        spots.put(State.RECOVERING, new Spot(420, 40, 130));
        spots.put(State.ABANDONING, new Spot(265, 400, 140));
        spots.put(State.ENDED, new Spot(20, 560, 1080));
        return spots;
    }

    private static Map<Way, Route> routes() {
        Map<Way, Route> routes = new LinkedHashMap<>();
        double top = 240;
        double bottom = top + TALL;
        double end = SPOTS.get(State.ENDED).top();
        straight(routes, State.NEW, State.ENQUEUEING, new At(110, 258), new At(230, 258), new At(168, 262));
        straight(routes, State.NEW, State.ENDED, new At(65, bottom), new At(65, end), new At(65, 420));
        straight(routes, State.ENQUEUEING, State.QUEUED, new At(370, 258), new At(530, 258), new At(420, 262));
        curve(
                routes,
                State.ENQUEUEING,
                State.CONFIRMING,
                new At(350, top),
                new At(480, 130),
                new At(700, 130),
                new At(820, top),
                new At(640, 163));
        curve(
                routes,
                State.ENQUEUEING,
                State.DRAINING,
                new At(245, top),
                new At(235, 180),
                new At(175, 150),
                new At(175, 76),
                new At(190, 160));
        curve(
                routes,
                State.DRAINING,
                State.ENQUEUEING,
                new At(215, 76),
                new At(215, 130),
                new At(275, 170),
                new At(275, top),
                new At(263, 134));
        straight(routes, State.DRAINING, State.ENDED, new At(145, 76), new At(145, end), new At(145, 440));
        curve(
                routes,
                State.ENQUEUEING,
                State.RECOVERING,
                new At(300, top),
                new At(300, 140),
                new At(380, 66),
                new At(420, 66),
                new At(326, 130));
        curve(
                routes,
                State.RECOVERING,
                State.ENQUEUEING,
                new At(435, 76),
                new At(430, 150),
                new At(330, 180),
                new At(325, top),
                new At(398, 156));
        straight(routes, State.RECOVERING, State.DRAINING, new At(420, 50), new At(250, 50), new At(335, 54));
        curve(
                routes,
                State.RECOVERING,
                State.QUEUED,
                new At(530, 76),
                new At(540, 140),
                new At(560, 180),
                new At(565, top),
                new At(541, 120));
        straight(routes, State.RECOVERING, State.ENDED, new At(470, 76), new At(470, end), new At(470, 440));
        loop(routes, State.RECOVERING, 550, 58, 612);
        straight(routes, State.ENQUEUEING, State.ENDED, new At(245, bottom), new At(245, end), new At(236, 500));
        straight(routes, State.ENQUEUEING, State.ABANDONING, new At(340, bottom), new At(340, 400), new At(340, 372));
        curve(
                routes,
                State.ENQUEUEING,
                State.ENQUEUEING,
                new At(255, bottom),
                new At(250, 330),
                new At(310, 330),
                new At(305, bottom),
                new At(283, 328));
        straight(routes, State.ABANDONING, State.ENDED, new At(335, 436), new At(335, end), new At(335, 478));
        curve(
                routes,
                State.ABANDONING,
                State.ABANDONING,
                new At(405, 408),
                new At(445, 400),
                new At(445, 436),
                new At(405, 428),
                new At(430, 404));
        curve(
                routes,
                State.QUEUED,
                State.ENQUEUEING,
                new At(550, bottom),
                new At(530, 325),
                new At(390, 325),
                new At(364, bottom),
                new At(430, 302));
        straight(routes, State.QUEUED, State.CONFIRMING, new At(660, 258), new At(780, 258), new At(716, 248));
        straight(routes, State.QUEUED, State.ENDED, new At(595, bottom), new At(595, end), new At(595, 440));
        curve(
                routes,
                State.QUEUED,
                State.QUEUED,
                new At(615, bottom),
                new At(615, 330),
                new At(665, 330),
                new At(650, bottom),
                new At(648, 322));
        curve(
                routes,
                State.CONFIRMING,
                State.ENQUEUEING,
                new At(795, bottom),
                new At(740, 450),
                new At(400, 440),
                new At(350, bottom),
                new At(540, 392));
        straight(routes, State.CONFIRMING, State.HELD, new At(910, 258), new At(1000, 258), new At(953, 262));
        straight(routes, State.CONFIRMING, State.ENDED, new At(835, bottom), new At(835, end), new At(835, 440));
        curve(
                routes,
                State.CONFIRMING,
                State.CONFIRMING,
                new At(860, bottom),
                new At(860, 325),
                new At(905, 325),
                new At(895, bottom),
                new At(893, 322));
        curve(
                routes,
                State.HELD,
                State.HELD,
                new At(1035, top),
                new At(1025, 190),
                new At(1080, 190),
                new At(1070, top),
                new At(1052, 200));
        straight(routes, State.HELD, State.ENDED, new At(1050, bottom), new At(1050, end), new At(1050, 400));
        return routes;
    }

    private static void straight(Map<Way, Route> routes, State from, State to, At start, At end, At words) {
        routes.put(new Way(from, to), new Route(start, start, start, end, words));
    }

    private static void curve(
            Map<Way, Route> routes, State from, State to, At start, At first, At last, At end, At words) {
        routes.put(new Way(from, to), new Route(start, first, last, end, words));
    }

    /** From a state's right edge back to it. */
    private static void loop(Map<Way, Route> routes, State state, double right, double y, double words) {
        routes.put(
                new Way(state, state),
                new Route(
                        new At(right, y - 8),
                        new At(right + 45, y - 18),
                        new At(right + 45, y + 18),
                        new At(right, y + 8),
                        new At(words, y + 4)));
    }
}
