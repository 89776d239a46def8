// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.Owner;
import io.latchkey.lock.admin.Contender;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The history of one lock as successive looks show it: which requests came, held and went. What comes and goes between
 * two looks is known by the events of its node alone, without its owner.
 */
final class WatchedLock {
    /** How long an end may be heard of after a look no longer shows the request. */
    static final Duration HEARD_WITHIN = Duration.ofSeconds(1);

    /** The ended requests that are kept for the page. */
    static final int MOST_ENDED = 20_000;

    private Optional<ReleaseMarks> marks;
    private final Map<Long, WatchedRequest> present = new LinkedHashMap<>();
    private final List<WatchedRequest> leaving = new ArrayList<>();
    private final List<WatchedRequest> ended = new ArrayList<>();
    private final Set<Long> known = new HashSet<>();
    private boolean isFirst = true;
    private Instant lastBegin = Instant.EPOCH;
    private int dropped;
    private boolean isInterrupted;

    /** What became of a request. */
    enum Change {
        ASKED,
        GRANTED,
        /** It held, and its node has the mark of a release. */
        RELEASED,
        /** It held, and its node was deleted without a mark, or the mark was not seen. */
        GONE,
        /** It ended while it waited. */
        LEFT
    }

    /** A request that is watched. */
    static final class WatchedRequest {
        private final long token;
        private final Owner owner;
        private final long session;
        private final boolean isSeen;
        private final boolean isWhole;
        private final Instant asked;
        private boolean isTimed = true;
        private @Nullable Instant granted;
        private @Nullable Instant ended;
        private @Nullable Change end;

        /** A request that a look has shown. */
        private WatchedRequest(long token, Contender request, boolean isWhole, Instant asked) {
            this.token = token;
            this.owner = request.owner();
            this.session = request.session();
            this.isSeen = true;
            this.isWhole = isWhole;
            this.asked = asked;
        }

        /** A request that came and went between two looks. */
        private WatchedRequest(long token, Instant asked) {
            this.token = token;
            this.owner = new Owner("", "", 0);
            this.session = 0;
            this.isSeen = false;
            this.isWhole = true;
            this.asked = asked;
        }

        /** Returns the token; 0 if it cannot be read. */
        long token() {
            return Math.max(0, token);
        }

        Owner owner() {
            return owner;
        }

        long session() {
            return session;
        }

        /** Whether a look has shown it. */
        boolean isSeen() {
            return isSeen;
        }

        /** Returns host, process and label, or why they are missing. */
        String who() {
            String text = Owners.text(owner);
            return text.isEmpty() ? isSeen ? Owners.UNREADABLE : "between two looks" : text;
        }

        /** Whether the time of its grant is known, if it was granted. */
        boolean isTimed() {
            return isTimed;
        }

        /** Whether its begin was seen. */
        boolean isWhole() {
            return isWhole;
        }

        Instant asked() {
            return asked;
        }

        @Nullable
        Instant granted() {
            return granted;
        }

        @Nullable
        Instant ended() {
            return ended;
        }

        @Nullable
        Change end() {
            return end;
        }

        /** Returns how long it has waited, as far as that is over and known. */
        Optional<Duration> waited() {
            Instant until = granted == null ? ended : granted;
            return Optional.ofNullable(until).filter(end -> isTimed).map(end -> between(asked, end));
        }

        /** Returns how long it has held, as far as that is over and known. */
        Optional<Duration> held() {
            Instant from = granted;
            return from == null || !isTimed
                    ? Optional.empty()
                    : Optional.ofNullable(ended).map(until -> between(from, until));
        }
    }

    /** A change, with the request as it is since. */
    record Event(Instant at, Change change, WatchedRequest request) {}

    WatchedLock(Optional<ReleaseMarks> marks) {
        this.marks = marks;
    }

    /** Goes on with other marks, after those before were interrupted. */
    void use(Optional<ReleaseMarks> others) {
        marks = others;
        isInterrupted = true;
    }

    private static Duration between(Instant from, Instant until) {
        return until.isBefore(from) ? Duration.ZERO : Duration.between(from, until);
    }

    /**
     * Takes the queue of another look, and returns what has changed.
     *
     * @param begin when the look began
     * @param now when it had ended
     */
    List<Event> look(List<Contender> queue, Instant begin, Instant now) throws InterruptedException {
        List<Event> events = new ArrayList<>();
        Map<Long, Contender> shown = byToken(queue);
        for (Iterator<WatchedRequest> all = present.values().iterator(); all.hasNext(); ) {
            WatchedRequest each = all.next();
            if (!shown.containsKey(each.token)) {
                all.remove();
                each.ended = now;
                leaving.add(each);
            }
        }
        settle(now, shown.keySet(), events);
        shown.forEach((token, request) -> show(token, request, now, events));
        isFirst = false;
        lastBegin = begin;
        return inOrder(events);
    }

    /** A request that may not be read has no token in the queue. It has one that is left over in the list of nodes. */
    private Map<Long, Contender> byToken(List<Contender> queue) throws InterruptedException {
        Map<Long, Contender> requests = new LinkedHashMap<>();
        List<Contender> unreadable = new ArrayList<>();
        for (Contender request : queue) {
            if (request.token() == 0) {
                unreadable.add(request);
            } else {
                requests.put(request.token(), request);
            }
        }
        if (!unreadable.isEmpty() && marks.isPresent()) {
            List<Long> others = marks.get().present().stream()
                    .filter(token -> !requests.containsKey(token))
                    .toList();
            for (int n = 0; n < others.size() && others.size() == unreadable.size(); n++) {
                requests.put(others.get(n), unreadable.get(n));
            }
        }
        return requests;
    }

    private void show(long token, Contender request, Instant now, List<Event> events) {
        Instant last = lastBegin;
        if (known.add(token)) {
            Instant asked = isFirst
                    ? request.requestedAt()
                    : marks.flatMap(its -> its.created(token)).orElse(now);
            WatchedRequest added = new WatchedRequest(
                    token, request, !isFirst, asked.isAfter(now) || asked.equals(Instant.EPOCH) ? now : asked);
            present.put(token, added);
            events.add(new Event(isFirst ? now : added.asked, Change.ASKED, added));
            last = added.asked;
        }
        WatchedRequest each = present.get(token);
        if (each != null && each.granted == null && request.state() == Contender.State.HOLDING) {
            boolean alone = request.access() == Contender.Access.EXCLUSIVE;
            Instant earliest = last;
            each.granted = isFirst
                    ? each.asked
                    : marks.flatMap(its -> its.granted(token, alone))
                            .filter(at -> !at.isBefore(earliest) && !at.isAfter(now))
                            .orElse(now);
            events.add(new Event(isFirst ? now : each.granted, Change.GRANTED, each));
        }
    }

    private static List<Event> inOrder(List<Event> events) {
        events.sort(Comparator.comparing(Event::at)
                .thenComparing(event -> event.request().token)
                .thenComparing(Event::change));
        return events;
    }

    /** Says how those that are no longer shown have ended: at once if that was heard, or when it is heard no more. */
    private void settle(Instant now, Set<Long> shown, List<Event> events) {
        for (Iterator<WatchedRequest> all = leaving.iterator(); all.hasNext(); ) {
            WatchedRequest each = all.next();
            Instant missed = each.ended == null ? now : each.ended;
            Optional<ReleaseMarks.End> heard = marks.flatMap(its -> its.take(each.token));
            if (heard.isPresent()) {
                all.remove();
                end(each, heard.get(), missed, events);
            } else if (marks.isEmpty() || missed.plus(HEARD_WITHIN).isBefore(now)) {
                all.remove();
                end(each, missed, false, events);
            }
        }
        // Those that no look has shown, once a look that began after their end has not.
        marks.ifPresent(its -> its.takeBefore(now.minus(HEARD_WITHIN), shown).forEach(end -> {
            if (known.add(end.token()) && end.created().isPresent()) {
                WatchedRequest brief =
                        new WatchedRequest(end.token(), end.created().get());
                events.add(new Event(brief.asked, Change.ASKED, brief));
                end(brief, end, end.at(), events);
            }
        }));
    }

    private void end(WatchedRequest each, ReleaseMarks.End heard, Instant latest, List<Event> events) {
        Instant at = heard.at().isAfter(latest) ? latest : heard.at();
        if (heard.released() && each.granted == null) {
            // Granted and released between two looks.
            Optional<Instant> granted = heard.granted().filter(time -> !time.isBefore(each.asked) && !time.isAfter(at));
            each.isTimed = granted.isPresent();
            each.granted = granted.orElse(at);
            events.add(new Event(each.granted, Change.GRANTED, each));
        }
        end(each, at, heard.released(), events);
    }

    private void end(WatchedRequest each, Instant seen, boolean released, List<Event> events) {
        Instant at = seen;
        Instant granted = each.granted;
        if (granted != null && granted.isAfter(seen)) {
            // A look saw the grant, at a time that is less exact.
            at = granted;
            each.isTimed = false;
        }
        each.ended = at;
        each.end = granted == null ? Change.LEFT : released ? Change.RELEASED : Change.GONE;
        ended.add(each);
        if (ended.size() > MOST_ENDED) {
            WatchedRequest oldest = ended.remove(0);
            known.remove(oldest.token);
            dropped++;
        }
        events.add(new Event(at, each.end, each));
    }

    /** Settles what is left, at the end of the watch. */
    List<Event> finish(Instant now) {
        List<Event> events = new ArrayList<>();
        settle(now.plus(HEARD_WITHIN).plusMillis(1), present.keySet(), events);
        return inOrder(events);
    }

    /** Returns all requests that are kept, in the order in which they were made. */
    List<WatchedRequest> requests() {
        List<WatchedRequest> all = new ArrayList<>(ended);
        all.addAll(leaving);
        all.addAll(present.values());
        all.sort(Comparator.comparing(WatchedRequest::asked).thenComparing(each -> each.token));
        return all;
    }

    int dropped() {
        return dropped;
    }

    boolean hasMarks() {
        return marks.isPresent();
    }

    boolean isInterrupted() {
        return isInterrupted;
    }
}
