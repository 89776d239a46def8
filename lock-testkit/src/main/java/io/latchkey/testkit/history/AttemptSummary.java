// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.testkit.history.HistoryEvent.What;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * How one attempt of a history went, its events put together. Times are nanoseconds since the history began;
 * {@link #NEVER} for what has not happened.
 *
 * @param how the note of the request: the time that the attempt has, or that it is a downgrade
 * @param placed the last moment at which its request was found standing at the server
 * @param outcome the note of the release
 * @param why the note of the loss or of giving up
 */
public record AttemptSummary(
        String client,
        long attempt,
        List<LockClaim> claims,
        long token,
        long session,
        String how,
        long requested,
        long placed,
        long granted,
        long lastLook,
        long releasing,
        long released,
        String outcome,
        long lost,
        long gaveUp,
        long resizing,
        long resized,
        String why) {
    /** The time of what has not happened. */
    public static final long NEVER = Long.MAX_VALUE;

    /**
     * Summarizes the attempts of a history.
     *
     * @param events the events of the history
     * @return all attempts, in the order of their numbers
     */
    public static List<AttemptSummary> of(List<HistoryEvent> events) {
        Map<Long, List<HistoryEvent>> byAttempt = new TreeMap<>();
        for (HistoryEvent event : events) {
            if (event.attempt() != 0) {
                byAttempt
                        .computeIfAbsent(event.attempt(), number -> new ArrayList<>())
                        .add(event);
            }
        }
        return byAttempt.values().stream().map(AttemptSummary::ofOne).toList();
    }

    private static AttemptSummary ofOne(List<HistoryEvent> attempt) {
        HistoryEvent some = attempt.get(0);
        Optional<HistoryEvent> granted = first(attempt, What.GRANTED);
        Optional<HistoryEvent> ended = first(attempt, What.LOST).or(() -> first(attempt, What.GAVE_UP));
        return new AttemptSummary(
                some.client(),
                some.attempt(),
                granted.orElse(some).claims(),
                granted.map(HistoryEvent::token).orElse(0L),
                granted.map(HistoryEvent::session).orElse(0L),
                first(attempt, What.REQUESTED).map(HistoryEvent::note).orElse(""),
                time(first(attempt, What.REQUESTED)),
                last(attempt, What.PLACED),
                time(granted),
                last(attempt, What.VALID),
                time(first(attempt, What.RELEASING)),
                time(first(attempt, What.RELEASED)),
                first(attempt, What.RELEASED).map(HistoryEvent::note).orElse(""),
                time(first(attempt, What.LOST)),
                time(first(attempt, What.GAVE_UP)),
                time(first(attempt, What.RESIZING)),
                time(first(attempt, What.RESIZED)),
                ended.map(HistoryEvent::note).orElse(""));
    }

    private static Optional<HistoryEvent> first(List<HistoryEvent> attempt, What what) {
        return attempt.stream().filter(event -> event.what() == what).findFirst();
    }

    private static long last(List<HistoryEvent> attempt, What what) {
        return attempt.stream()
                .filter(event -> event.what() == what)
                .mapToLong(HistoryEvent::nanos)
                .max()
                .orElse(NEVER);
    }

    private static long time(Optional<HistoryEvent> event) {
        return event.map(HistoryEvent::nanos).orElse(NEVER);
    }

    /** {@return whether the attempt was granted} */
    public boolean isGranted() {
        return granted != NEVER;
    }

    /** {@return whether the attempt requested a lock, as opposed to a change of capacity} */
    public boolean isAsked() {
        return requested != NEVER;
    }

    /** {@return whether the attempt continues the hold of another attempt} */
    public boolean isDowngrade() {
        return how.equals(Attempt.DOWNGRADE);
    }

    /** {@return whether the lease was held until its holder began to release it} */
    public boolean isReleasedInOrder() {
        return released != NEVER && lost == NEVER;
    }

    /** {@return when the wait ended, with or without a grant} */
    public long answered() {
        return Math.min(granted, gaveUp);
    }

    /** {@return whether the release was a downgrade, which another attempt continues} */
    public boolean goesOnInAnother() {
        return isReleasedInOrder() && outcome.equals(Attempt.DOWNGRADE);
    }

    /** {@return whether the attempt timed out} */
    public boolean ranOutOfTime() {
        return gaveUp != NEVER && why.equals(RecordedLock.OUT_OF_TIME);
    }

    /** {@return until when the client certainly relied on the lease; for granted attempts only} */
    public long surelyUntil() {
        long looked = lastLook == NEVER ? granted : Math.max(granted, lastLook);
        return isReleasedInOrder() ? releasing : Math.min(looked, perhapsUntil());
    }

    /** {@return until when the client may have relied on the lease} */
    public long perhapsUntil() {
        return Math.min(releasing, lost);
    }

    /** {@return the timeout of the attempt, if it has one} */
    public Optional<Duration> patience() {
        if (how.isEmpty() || isDowngrade()) {
            return Optional.empty();
        }
        try {
            return Optional.of(Duration.parse(how));
        } catch (DateTimeParseException somethingElse) {
            return Optional.empty();
        }
    }

    /** {@return the time of the last event of the attempt} */
    public long lastKnown() {
        long last = Math.min(requested, answered());
        for (long time : new long[] {requested, placed, granted, lastLook, releasing, released, lost, gaveUp}) {
            last = time == NEVER ? last : Math.max(last, time);
        }
        return last;
    }

    /** {@return the client and the number of the attempt, as reports name it} */
    public String name() {
        return client + " #" + attempt + (token == 0 ? "" : " token " + token);
    }
}
