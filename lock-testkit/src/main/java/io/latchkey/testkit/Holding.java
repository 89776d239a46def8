package io.latchkey.testkit;

import io.latchkey.testkit.HistoryEvent.What;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One grant in a history, on one of the paths that it is of, and how long its client relied on it, in nanoseconds since the history began.
 *
 * <p>How long is known within bounds. {@code surelyUntil}: the beginning of a release that came out as one of a held lease, or else the
 * last look that found the lease valid, or else the grant. {@code perhapsUntil}: the beginning of the release or the news of the loss,
 * whichever came first, or else the end of time.
 */
record Holding(
        String client,
        long attempt,
        Claim claim,
        long token,
        long session,
        long requested,
        long granted,
        long surelyUntil,
        long perhapsUntil,
        Ending ending) {
    static final long END_OF_TIME = Long.MAX_VALUE;

    /** How it ended, as far as its client knows. */
    enum Ending {
        RELEASED,
        LOST,
        OPEN
    }

    /** All grants of a history, by the time of the grant; that of a multi-lock once for each member. */
    static List<Holding> of(List<HistoryEvent> events) {
        Map<Long, List<HistoryEvent>> byAttempt = new TreeMap<>();
        for (HistoryEvent event : events) {
            if (event.attempt() != 0) {
                byAttempt
                        .computeIfAbsent(event.attempt(), number -> new ArrayList<>())
                        .add(event);
            }
        }
        List<Holding> holdings = new ArrayList<>();
        byAttempt.values().forEach(attempt -> addGrant(attempt, holdings));
        holdings.sort(Comparator.comparingLong(Holding::granted));
        return holdings;
    }

    private static void addGrant(List<HistoryEvent> attempt, List<Holding> holdings) {
        long requested = first(attempt, What.REQUESTED);
        long released = first(attempt, What.RELEASED);
        long releasing = first(attempt, What.RELEASING);
        long lost = first(attempt, What.LOST);
        long looked = first(attempt, What.VALID);
        for (HistoryEvent event : attempt) {
            if (event.what() == What.GRANTED) {
                long granted = event.nanos();
                boolean clean = released != END_OF_TIME && lost == END_OF_TIME;
                long perhapsUntil = Math.min(releasing, lost);
                long lastLook = looked == END_OF_TIME ? granted : Math.max(granted, looked);
                for (Claim claim : event.claims()) {
                    holdings.add(new Holding(
                            event.client(),
                            event.attempt(),
                            claim,
                            event.token(),
                            event.session(),
                            requested,
                            granted,
                            clean ? releasing : Math.min(lastLook, perhapsUntil),
                            perhapsUntil,
                            clean ? Ending.RELEASED : lost == END_OF_TIME ? Ending.OPEN : Ending.LOST));
                }
                return;
            }
        }
    }

    private static long first(List<HistoryEvent> attempt, What what) {
        return attempt.stream()
                .filter(event -> event.what() == what)
                .mapToLong(HistoryEvent::nanos)
                .findFirst()
                .orElse(END_OF_TIME);
    }

    /** The same hold, counted no further than this. */
    Holding until(long limit) {
        return new Holding(
                client,
                attempt,
                claim,
                token,
                session,
                requested,
                granted,
                Math.min(surelyUntil, limit),
                Math.min(perhapsUntil, limit),
                ending);
    }

    /** The same hold, of which nothing is sure. */
    Holding doubtful() {
        return new Holding(client, attempt, claim, token, session, requested, granted, granted, perhapsUntil, ending);
    }

    String path() {
        return claim.path();
    }

    boolean isExclusive() {
        return claim instanceof Claim.Exclusive;
    }

    boolean surelyLastsAt(long moment) {
        return granted <= moment && moment < surelyUntil;
    }

    boolean perhapsLastsAt(long moment) {
        return granted <= moment && moment < perhapsUntil;
    }
}
