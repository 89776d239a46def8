// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The locks in use as {@code top} shows them, with what has changed since the last look. */
final class TopView {
    private static final Comparator<Row> BY_PATH = Comparator.comparing(Row::path);
    private static final Comparator<Row> BY_AGE = Comparator.comparing(Row::held, Comparator.reverseOrder());

    private final String root;
    private final Duration interval;
    private List<Row> rows = List.of();
    private Map<String, Set<Long>> before = Map.of();
    private boolean isFirst = true;
    private boolean isComplete;

    /** The order of the rows. */
    enum Order {
        WAITERS,
        AGE,
        PATH
    }

    /**
     * A lock in use.
     *
     * @param mark {@code +} for a new one, {@code *} for a changed one, else a blank
     * @param held the age of the oldest holder's request; zero if there is none
     * @param waiting the age of the oldest waiter's request; zero if there is none
     * @param holder the first holder, as text
     */
    private record Row(String mark, Output.Lock lock, String path, Duration held, Duration waiting, String holder) {}

    /**
     * A look in JSON.
     *
     * @param time when it was
     */
    private record Look(String time, String root, List<Output.Lock> locks) {}

    TopView(String root, Duration interval) {
        this.root = root;
        this.interval = interval;
    }

    /** Takes the locks of another look. */
    void look(LockListing found, Instant now) {
        Map<String, Set<Long>> tokens = new HashMap<>();
        List<Row> seen = new ArrayList<>();
        for (LockSummary lock : found.locks()) {
            if (!lock.queue().isEmpty()) {
                String key = lock.layout() + lock.path();
                Set<Long> queue = lock.queue().stream().map(Contender::token).collect(Collectors.toSet());
                tokens.put(key, queue);
                seen.add(row(mark(key, queue), lock, now));
            }
        }
        rows = seen;
        before = tokens;
        isFirst = false;
        isComplete = found.isComplete();
    }

    private String mark(String key, Set<Long> queue) {
        Set<Long> last = before.get(key);
        if (last == null) {
            return isFirst ? " " : "+";
        }
        return last.equals(queue) ? " " : "*";
    }

    private static Row row(String mark, LockSummary lock, Instant now) {
        String holder = lock.queue().stream()
                .filter(request -> request.state() == Contender.State.HOLDING)
                .findFirst()
                .map(request -> Owners.text(request.owner()))
                .orElse("");
        Output.Lock shown = Output.Lock.of(lock, now);
        return new Row(
                mark,
                shown,
                lock.path(),
                oldest(lock, Contender.State.HOLDING, now),
                oldest(lock, Contender.State.WAITING, now),
                holder);
    }

    private static Duration oldest(LockSummary lock, Contender.State state, Instant now) {
        Duration oldest = Duration.ZERO;
        for (Contender request : lock.queue()) {
            @Nullable Duration age = Age.of(request.requestedAt(), now);
            if (request.state() == state && age != null && age.compareTo(oldest) > 0) {
                oldest = age;
            }
        }
        return oldest;
    }

    private List<Row> sorted(Order order) {
        Comparator<Row> by =
                switch (order) {
                    case WAITERS ->
                        Comparator.comparing((Row row) -> row.lock().waiters(), Comparator.reverseOrder())
                                .thenComparing(BY_AGE);
                    case AGE -> BY_AGE;
                    case PATH -> BY_PATH;
                };
        return rows.stream().sorted(by.thenComparing(BY_PATH)).toList();
    }

    private Table table(Order order) {
        Table table = new Table(" ", "PATH", "KIND", "HOLDERS", "WAITERS", "HELD", "WAITING", "HOLDER");
        sorted(order).forEach(row -> table.line(cells(row)));
        return table;
    }

    private static Object[] cells(Row row) {
        return new Object[] {
            row.mark(),
            row.path(),
            row.lock().kind(),
            row.lock().holders(),
            row.lock().waiters(),
            row.lock().holders() == 0 ? "" : Age.text(row.held()),
            row.lock().waiters() == 0 ? "" : Age.text(row.waiting()),
            row.holder()
        };
    }

    /**
     * Returns a line for each lock, each with the time, for a program without a terminal; one that says so if there is
     * none, but not if some may have been unreadable.
     */
    List<String> lines(Order order, Instant now) {
        if (rows.isEmpty()) {
            return isComplete ? List.of(now + "  no lock in use at or below " + Terminal.plain(root)) : List.of();
        }
        return table(order)
                .toString()
                .lines()
                .skip(1)
                .map(line -> now + "  " + line)
                .toList();
    }

    /** Returns the lines of the screen. */
    List<String> screen(Order order, Instant now, String trouble) {
        int waiters = rows.stream().mapToInt(row -> row.lock().waiters()).sum();
        int holders = rows.stream().mapToInt(row -> row.lock().holders()).sum();
        List<String> lines = new ArrayList<>();
        lines.add("latchkey top " + Terminal.plain(root) + "   " + now.truncatedTo(ChronoUnit.SECONDS) + "   every "
                + Span.text(interval) + "   " + rows.size() + " locks in use, " + holders + " holders, " + waiters
                + " waiters");
        lines.add("w waiters  a age  p path  q quit   sorted by " + order.name().toLowerCase(Locale.ROOT));
        lines.add(Terminal.plain(trouble));
        table(order).toString().lines().forEach(lines::add);
        return lines;
    }

    /** Returns the look as a JSON object in one line. */
    String json(Instant now) {
        return Output.line(new Look(
                now.truncatedTo(ChronoUnit.MILLIS).toString(),
                root,
                sorted(Order.PATH).stream().map(Row::lock).toList()));
    }
}
