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
 * two looks is known by the end of its node alone, without its owner.
 */
final class WatchedLock {
    /** How long an end may be heard of after a look no longer shows the request. */
    static final Duration HEARD_WITHIN = Duration.ofSeconds(1);

    /** The ended requests that are kept for the page. */
    static final int MOST_ENDED = 20_000;

    private final Optional<ReleaseMarks> marks;
    private final Map<Long, Watched> present = new LinkedHashMap<>();
    private final List<Watched> leaving = new ArrayList<>();
    private final List<Watched> ended = new ArrayList<>();
    private final Set<Long> known = new HashSet<>();
    private boolean isFirst = true;
    private int dropped;

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
    static final class Watched {
        private final long token;
        private final Owner owner;
        private final long session;
        private final boolean isWhole;
        private final Instant asked;
        private @Nullable Instant granted;
        private @Nullable Instant ended;
        private @Nullable Change end;

        /**
         * @param isWhole whether its begin was seen
         */
        private Watched(long token, Owner owner, long session, boolean isWhole, Instant asked) {
            this.token = token;
            this.owner = owner;
            this.session = session;
            this.isWhole = isWhole;
            this.asked = asked;
        }

        long token() {
            return token;
        }

        Owner owner() {
            return owner;
        }

        long session() {
            return session;
        }

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

        /** Returns how long it has waited, as far as that is over. */
        Optional<Duration> waited() {
            Instant until = granted == null ? ended : granted;
            return Optional.ofNullable(until).map(end -> between(asked, end));
        }

        /** Returns how long it has held, as far as that is over. */
        Optional<Duration> held() {
            Instant from = granted;
            return from == null ? Optional.empty() : Optional.ofNullable(ended).map(until -> between(from, until));
        }
    }

    /** A change, with the request as it is since. */
    record Event(Instant at, Change change, Watched request) {}

    WatchedLock(Optional<ReleaseMarks> marks) {
        this.marks = marks;
    }

    private static Duration between(Instant from, Instant until) {
        return until.isBefore(from) ? Duration.ZERO : Duration.between(from, until);
    }

    /** Takes the queue of another look, and returns what has changed. */
    List<Event> look(List<Contender> queue, Instant now) {
        List<Event> events = new ArrayList<>();
        Set<Long> shown = new HashSet<>();
        for (Contender request : queue) {
            if (request.token() == 0) {
                continue;
            }
            shown.add(request.token());
            if (known.add(request.token())) {
                Instant asked = isFirst ? request.requestedAt() : now;
                Watched added = new Watched(
                        request.token(),
                        request.owner(),
                        request.session(),
                        !isFirst,
                        asked.isAfter(now) || asked.equals(Instant.EPOCH) ? now : asked);
                present.put(request.token(), added);
                events.add(new Event(now, Change.ASKED, added));
            }
            Watched each = present.get(request.token());
            if (each != null && each.granted == null && request.state() == Contender.State.HOLDING) {
                each.granted = isFirst ? each.asked : now;
                events.add(new Event(now, Change.GRANTED, each));
            }
        }
        isFirst = false;
        for (Iterator<Watched> all = present.values().iterator(); all.hasNext(); ) {
            Watched each = all.next();
            if (!shown.contains(each.token)) {
                all.remove();
                each.ended = now;
                leaving.add(each);
            }
        }
        settle(now, events);
        return events;
    }

    /** Says how those that are no longer shown have ended: at once if that was heard, or when it is heard no more. */
    private void settle(Instant now, List<Event> events) {
        for (Iterator<Watched> all = leaving.iterator(); all.hasNext(); ) {
            Watched each = all.next();
            Instant missed = each.ended == null ? now : each.ended;
            Optional<ReleaseMarks.End> heard = marks.flatMap(its -> its.take(each.token));
            if (heard.isPresent()) {
                boolean released = heard.get().released();
                Instant at =
                        heard.get().at().isAfter(missed) ? missed : heard.get().at();
                if (released && each.granted == null) {
                    // Granted and released between two looks.
                    each.granted = at;
                }
                all.remove();
                end(each, at, released, events);
            } else if (marks.isEmpty() || missed.plus(HEARD_WITHIN).isBefore(now)) {
                all.remove();
                end(each, missed, false, events);
            }
        }
        // Those that no look has shown, once a look that began after their end has not.
        marks.ifPresent(
                its -> its.takeBefore(now.minus(HEARD_WITHIN), present.keySet()).forEach(end -> {
                    if (known.add(end.token()) && end.created().isPresent()) {
                        Watched brief = new Watched(
                                end.token(),
                                new Owner("", "", 0),
                                0,
                                true,
                                end.created().get());
                        if (end.released()) {
                            brief.granted = brief.asked;
                        }
                        end(brief, end.at(), end.released(), events);
                    }
                }));
    }

    private void end(Watched each, Instant at, boolean released, List<Event> events) {
        each.ended = at;
        each.end = each.granted == null ? Change.LEFT : released ? Change.RELEASED : Change.GONE;
        ended.add(each);
        if (ended.size() > MOST_ENDED) {
            Watched oldest = ended.remove(0);
            known.remove(oldest.token);
            dropped++;
        }
        events.add(new Event(at, each.end, each));
    }

    /** Settles what is left, at the end of the watch. */
    List<Event> finish(Instant now) {
        List<Event> events = new ArrayList<>();
        settle(now.plus(HEARD_WITHIN).plusMillis(1), events);
        return events;
    }

    /** Returns all requests that are kept, in the order of their tokens. */
    List<Watched> requests() {
        List<Watched> all = new ArrayList<>(ended);
        all.addAll(leaving);
        all.addAll(present.values());
        all.sort(Comparator.comparingLong(Watched::token));
        return all;
    }

    int dropped() {
        return dropped;
    }

    boolean hasMarks() {
        return marks.isPresent();
    }
}
