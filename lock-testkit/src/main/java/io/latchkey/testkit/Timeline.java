package io.latchkey.testkit;

import java.util.List;
import java.util.Locale;

/**
 * A few holds as text, one line each: {@code |---} waits, {@code ###} relied on, {@code ...} perhaps relied on, then {@code |} released,
 * {@code x} lost, {@code >} open.
 */
final class Timeline {
    private static final int WIDTH = 72;

    private final List<Holding> holdings;
    private final long from;
    private final long to;

    Timeline(List<Holding> holdings) {
        this.holdings = List.copyOf(holdings);
        long start = holdings.stream().mapToLong(Holding::requested).min().orElse(0);
        long end = start + 1;
        for (Holding each : holdings) {
            end = Math.max(end, Math.max(each.granted(), each.surelyUntil()));
            if (each.perhapsUntil() != Holding.END_OF_TIME) {
                end = Math.max(end, each.perhapsUntil());
            }
        }
        from = start;
        to = end;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, "  %-24s %.3f ms to %.3f ms%n", "", from / 1e6, to / 1e6));
        for (Holding each : holdings) {
            String name = each.client() + " #" + each.attempt() + " token " + each.token();
            text.append(String.format(Locale.ROOT, "  %-24s %s%n", name, bar(each)));
        }
        return text.toString();
    }

    private String bar(Holding each) {
        StringBuilder bar = new StringBuilder();
        fill(bar, column(each.requested()), ' ');
        bar.append('|');
        fill(bar, column(each.granted()), '-');
        if (each.surelyUntil() > each.granted()) {
            bar.append('#');
        }
        fill(bar, column(each.surelyUntil()), '#');
        fill(bar, column(each.perhapsUntil()), '.');
        bar.append(
                switch (each.ending()) {
                    case RELEASED -> "| released";
                    case LOST -> "x lost";
                    case OPEN -> ">";
                });
        return bar.toString();
    }

    private static void fill(StringBuilder bar, int column, char with) {
        while (bar.length() < column) {
            bar.append(with);
        }
    }

    private int column(long time) {
        long within = Math.max(from, Math.min(time, to));
        return (int) ((double) (within - from) / (to - from) * WIDTH);
    }
}
