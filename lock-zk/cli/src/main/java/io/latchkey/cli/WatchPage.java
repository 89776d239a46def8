// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.cli.WatchedLock.Change;
import io.latchkey.cli.WatchedLock.WatchedRequest;
import io.latchkey.lock.Owner;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The page of a watch: one file without a script, and without anything from elsewhere. All texts of other users go
 * through {@link #text(String)}.
 */
final class WatchPage {
    private static final int MOST_LANES = 60;
    private static final int MOST_BARS = 3_000;
    private static final int MOST_ROWS = 20;
    private static final int HUNDRED = 100;
    /** A bar of less is not seen. */
    private static final BigDecimal LEAST_WIDTH = new BigDecimal("0.15");

    private static final String STYLE =
            """
            :root { color-scheme: light dark; --back: #ffffff; --text: #1c2430; --soft: #5b6675; --line: #d8dee6; \
            --wait: #b9c6d8; --hold: #2f6fd0; --gone: #c5362c; }
            @media (prefers-color-scheme: dark) { :root { --back: #14181f; --text: #e6eaf0; --soft: #9aa6b5; \
            --line: #313a46; --wait: #4a5a70; --hold: #6aa3ff; --gone: #ff7a6e; } }
            * { box-sizing: border-box; }
            body { margin: 0 auto; padding: 1.2rem; max-width: 72rem; background: var(--back); color: var(--text); \
            font: 15px/1.45 system-ui, sans-serif; }
            h1 { font-size: 1.35rem; overflow-wrap: anywhere; margin: 0 0 .3rem; }
            h2 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
            p { max-width: 46rem; color: var(--soft); margin: .3rem 0; }
            dl { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; }
            dl div { border: 1px solid var(--line); border-radius: .4rem; padding: .4rem .8rem; min-width: 6rem; }
            dt { color: var(--soft); font-size: .8rem; } dd { margin: 0; font-size: 1.25rem; }
            .scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
            th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); \
            vertical-align: top; } th { color: var(--soft); font-weight: 500; } td { overflow-wrap: break-word; min-width: 5rem; }
            .n { text-align: right; white-space: nowrap; }
            .lane { display: grid; grid-template-columns: 15rem 1fr; gap: .6rem; align-items: center; \
            border-bottom: 1px solid var(--line); padding: .15rem 0; }
            .lane .who { overflow-wrap: anywhere; font-size: .85rem; }
            .track { position: relative; height: 1.1rem; overflow: hidden; }
            .track i { position: absolute; top: .2rem; bottom: .2rem; border-radius: 2px; background: var(--wait); }
            .track i.h { background: var(--hold); } .track i.g { background: var(--hold); \
            border-right: 4px solid var(--gone); min-width: 5px; }
            .key i { display: inline-block; width: 1.4rem; height: .7rem; border-radius: 2px; background: var(--wait); }
            .key i.h { background: var(--hold); } .key i.g { background: var(--hold); border-right: 4px solid var(--gone); }
            .key span { margin-right: 1.2rem; white-space: nowrap; }
            .axis { display: flex; justify-content: space-between; color: var(--soft); font-size: .8rem; \
            margin-left: 15.6rem; }
            @media (max-width: 40rem) { body { padding: .7rem; } .lane { grid-template-columns: 1fr; gap: 0; } \
            .axis { margin-left: 0; } }
            """;

    /**
     * A line of the time line.
     *
     * @param alone the request that has the lane for itself; null if others may have it as well
     */
    private record Lane(String name, @Nullable WatchedRequest alone) {
        /** The runs of one job are different processes, and have one lane. */
        static Lane of(WatchedRequest request) {
            Owner owner = request.owner();
            String name = Owners.text(new Owner(owner.host(), owner.label(), 0));
            if (!name.isEmpty()) {
                return new Lane(name, null);
            } else if (request.isSeen()) {
                String token = request.token() == 0 ? "" : ", token " + request.token();
                return new Lane(request.who() + token, request);
            }
            return new Lane(request.who(), null);
        }
    }

    private final String path;
    private final Instant begin;
    private final Instant end;
    private final Duration interval;
    private final WatchedLock lock;
    private final List<WatchedRequest> requests;
    private final StringBuilder page = new StringBuilder();

    WatchPage(String path, Instant begin, Instant end, Duration interval, WatchedLock lock) {
        this.path = path;
        this.begin = begin;
        this.end = end.isAfter(begin) ? end : begin.plusMillis(1);
        this.interval = interval;
        this.lock = lock;
        this.requests = lock.requests();
    }

    String text() {
        page.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n")
                .append("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"
                        + " style-src 'unsafe-inline'\">\n")
                .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
                .append("<title>Lock ")
                .append(text(path))
                .append("</title>\n<style>\n")
                .append(STYLE)
                .append("</style></head><body>\n<h1>Lock <bdi>")
                .append(text(path))
                .append("</bdi></h1>\n<p>")
                .append(begin.truncatedTo(ChronoUnit.SECONDS))
                .append(" to ")
                .append(end.truncatedTo(ChronoUnit.SECONDS))
                .append(", watched for ")
                .append(Age.exact(Duration.between(begin, end)))
                .append("</p>\n");
        counts();
        timeLine();
        percentiles();
        longest();
        unmarked();
        how();
        return page.append("</body></html>\n").toString();
    }

    private void counts() {
        page.append("<dl>");
        count("requests", requests.size() + lock.dropped());
        count("granted", number(each -> each.granted() != null));
        count("released", number(each -> each.end() == Change.RELEASED));
        count("gone", number(each -> each.end() == Change.GONE));
        count("left", number(each -> each.end() == Change.LEFT));
        count("still there", number(each -> each.end() == null));
        page.append("</dl>\n");
    }

    private void count(String name, long number) {
        page.append("<div><dt>").append(name).append("</dt><dd>").append(number).append("</dd></div>");
    }

    private long number(Predicate<WatchedRequest> which) {
        return requests.stream().filter(which).count();
    }

    // ---- time line

    private void timeLine() {
        page.append(
                "<h2>Time line</h2>\n<p class=\"key\"><span><i></i> waits</span> <span><i class=\"h\"></i> holds</span>"
                        + " <span><i class=\"g\"></i> gone, without the mark of a release</span></p>\n");
        Map<Lane, List<WatchedRequest>> all = new LinkedHashMap<>();
        for (WatchedRequest each : requests) {
            all.computeIfAbsent(Lane.of(each), none -> new ArrayList<>()).add(each);
        }
        Set<Lane> kept = all.entrySet().stream()
                .sorted(Comparator.comparing(lane -> total(lane.getValue()), Comparator.reverseOrder()))
                .limit(MOST_LANES)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        int room = MOST_BARS / Math.max(1, kept.size());
        boolean isCut = false;
        for (Map.Entry<Lane, List<WatchedRequest>> lane : all.entrySet()) {
            if (!kept.contains(lane.getKey())) {
                continue;
            }
            page.append("<div class=\"lane\"><span class=\"who\"><bdi>")
                    .append(text(lane.getKey().name()))
                    .append("</bdi></span><div class=\"track\">");
            int bars = 0;
            for (WatchedRequest each : lane.getValue()) {
                if (bars >= room) {
                    isCut = true;
                    break;
                }
                bars += bars(each);
            }
            page.append("</div></div>\n");
        }
        page.append("<div class=\"axis\"><span>")
                .append(clock(begin))
                .append("</span><span>")
                .append(clock(begin.plus(Duration.between(begin, end).dividedBy(2))))
                .append("</span><span>")
                .append(clock(end))
                .append("</span></div>\n");
        if (kept.size() < all.size()) {
            page.append("<p>")
                    .append(all.size() - kept.size())
                    .append(" of ")
                    .append(all.size())
                    .append(" owners are left out, those that held for the shortest time.</p>\n");
        }
        if (isCut) {
            page.append("<p>Of each owner the time line has the first ")
                    .append(room)
                    .append(" spans only.</p>\n");
        }
    }

    private Duration total(List<WatchedRequest> lane) {
        return lane.stream()
                .filter(each -> each.granted() != null)
                .map(this::heldSoFar)
                .reduce(Duration.ZERO, Duration::plus);
    }

    private int bars(WatchedRequest each) {
        Instant granted = each.granted();
        Instant until = Optional.ofNullable(each.ended()).orElse(end);
        bar("", each.asked(), granted == null ? until : granted, "waits, " + named(each));
        if (granted == null) {
            return 1;
        }
        String how = each.end() == null ? "holds" : each.end() == Change.GONE ? "held, gone" : "held, released";
        bar(each.end() == Change.GONE ? "g" : "h", granted, until, how + ", " + named(each));
        return 2;
    }

    private static String named(WatchedRequest each) {
        long process = each.owner().processId();
        return "token " + each.token() + (process == 0 ? "" : ", process " + process);
    }

    private void bar(String kind, Instant from, Instant until, String title) {
        BigDecimal left = percent(from);
        BigDecimal width = percent(until).subtract(left).max(LEAST_WIDTH);
        if (kind.isEmpty() && !until.isAfter(from)) {
            return;
        }
        page.append("<i class=\"")
                .append(kind)
                .append("\" style=\"left:")
                .append(left)
                .append("%;width:")
                .append(width)
                .append("%\" title=\"")
                .append(title)
                .append(", ")
                .append(Age.exact(Duration.between(from, until.isBefore(from) ? from : until)))
                .append("\"></i>");
    }

    private BigDecimal percent(Instant at) {
        Instant inside = at.isBefore(begin) ? begin : at.isAfter(end) ? end : at;
        return BigDecimal.valueOf(Duration.between(begin, inside).toMillis() * HUNDRED)
                .divide(
                        BigDecimal.valueOf(
                                Math.max(1, Duration.between(begin, end).toMillis())),
                        2,
                        RoundingMode.HALF_UP);
    }

    // ---- tables

    private void percentiles() {
        page.append("<h2>How long they waited and held</h2>\n<div class=\"scroll\"><table><tr><th></th>"
                + "<th class=\"n\">number</th><th class=\"n\">50 %</th><th class=\"n\">90 %</th><th class=\"n\">99 %</th>"
                + "<th class=\"n\">longest</th></tr>\n");
        spread("waited until granted", each -> each.granted() == null ? Optional.empty() : each.waited());
        spread("held until the end", WatchedRequest::held);
        page.append("</table></div>\n<p>Only requests whose begin and end were seen count here.");
        long untimed = number(each -> each.isWhole() && each.end() != null && !each.isTimed());
        if (untimed > 0) {
            page.append(" Left out: ")
                    .append(untimed)
                    .append(
                            untimed == 1
                                    ? " hold whose time of grant is unknown."
                                    : " holds whose time of grant is unknown.");
        }
        page.append("</p>\n");
    }

    private void spread(String name, Function<WatchedRequest, Optional<Duration>> span) {
        List<Duration> sorted = requests.stream()
                .filter(each -> each.isWhole() && each.end() != null)
                .map(span)
                .flatMap(Optional::stream)
                .sorted()
                .toList();
        page.append("<tr><td>")
                .append(name)
                .append("</td><td class=\"n\">")
                .append(sorted.size())
                .append("</td>");
        for (int percent : new int[] {50, 90, 99, HUNDRED}) {
            page.append("<td class=\"n\">")
                    .append(sorted.isEmpty() ? "-" : Age.exact(percentile(sorted, percent)))
                    .append("</td>");
        }
        page.append("</tr>\n");
    }

    /** Returns the smallest value that so many percent do not exceed. */
    static Duration percentile(List<Duration> sorted, int percent) {
        int rank = (sorted.size() * percent + HUNDRED - 1) / HUNDRED;
        return sorted.get(Math.max(1, rank) - 1);
    }

    private void longest() {
        List<WatchedRequest> holders = new ArrayList<>(requests.stream()
                .filter(each -> each.granted() != null)
                .sorted(Comparator.comparing(this::heldSoFar, Collections.reverseOrder()))
                .limit(MOST_ROWS)
                .toList());
        page.append("<h2>Longest holds</h2>\n");
        table(holders, "no request held");
    }

    private void unmarked() {
        List<WatchedRequest> gone =
                requests.stream().filter(each -> each.end() == Change.GONE).toList();
        page.append(
                "<h2>Ends without the mark of a release</h2>\n<p>The session ended, the request was evicted, or its holder"
                        + " sets no mark: readers, permits, clients of Curator and kazoo. A client whose exclusive lease ends here has"
                        + " lost it, unless the watch was disconnected.</p>\n");
        table(gone.subList(Math.max(0, gone.size() - MOST_ROWS), gone.size()), "none");
    }

    private Duration heldSoFar(WatchedRequest each) {
        Instant granted = each.granted();
        if (granted == null || granted.isAfter(end) || each.end() != null) {
            return each.held().orElse(Duration.ZERO);
        }
        return Duration.between(granted, end);
    }

    private void table(List<WatchedRequest> rows, String none) {
        if (rows.isEmpty()) {
            page.append("<p>").append(none).append("</p>\n");
            return;
        }
        page.append("<div class=\"scroll\"><table><tr><th class=\"n\">held</th><th>end</th><th>owner</th><th>token</th>"
                + "<th>session</th></tr>\n");
        for (WatchedRequest each : rows) {
            String how = each.end() == null ? "still holds" : each.end() == Change.GONE ? "gone" : "released";
            page.append("<tr><td class=\"n\">%s</td><td>%s</td><td><bdi>%s</bdi></td><td>%s</td><td>%s</td></tr>\n"
                    .formatted(
                            each.isTimed() ? Age.exact(heldSoFar(each)) : "?",
                            how,
                            text(each.who()),
                            each.token(),
                            Owners.session(each.session())));
        }
        page.append("</table></div>\n");
    }

    private void how() {
        page.append("<h2>How this was seen</h2>\n<p>By a look at the queue every ")
                .append(Span.text(interval))
                .append(": one list of the path, and one read for each request. ")
                .append(
                        lock.hasMarks()
                                ? "A watch on the path told of each node that came and went, and of marks."
                                : "The servers told of no marks: each end of a holder is shown as gone.")
                .append(
                        lock.isInterrupted()
                                ? " The watch was interrupted: a release that it missed is shown as gone."
                                : "")
                .append(
                        "</p>\n<p>Times are this machine's. A request is asked when its node was seen to be created, and granted when"
                                + " the end of the request before it was seen; otherwise at the look that showed it, as exact as"
                                + " that interval. A request that came and went between two looks has no owner here. Turns of one client that share a node are one hold."
                                + " Hosts, processes and labels are claims of the clients. ");
        if (lock.dropped() > 0) {
            page.append("Of the ended requests the ").append(lock.dropped()).append(" oldest were left out. ");
        }
        page.append("Made by latchkey ").append(text(Main.Version.number())).append(".</p>\n");
    }

    private static String clock(Instant at) {
        return at.truncatedTo(ChronoUnit.SECONDS).toString().replaceAll(".*T|Z$", "");
    }

    /** Returns a text of others as text of the page: nothing in it is markup, or steers the direction of the text. */
    static String text(String foreign) {
        StringBuilder safe = new StringBuilder();
        Terminal.plain(foreign).codePoints().forEach(character -> {
            switch (character) {
                case '&' -> safe.append("&amp;");
                case '<' -> safe.append("&lt;");
                case '>' -> safe.append("&gt;");
                case '"' -> safe.append("&quot;");
                case '\'' -> safe.append("&#39;");
                default -> safe.appendCodePoint(character);
            }
        });
        return safe.toString();
    }
}
