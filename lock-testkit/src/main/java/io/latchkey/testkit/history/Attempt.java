// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.ClientProcess;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One attempt to acquire, as its client records it in a {@link History}, for locks that {@link History#recorded(String,
 * io.latchkey.lock.Acquirable, LockClaim...)} cannot wrap. Call each method at the moment that it names:
 * {@link #granted} after the lock was handed out, {@link #releasing} before the release is begun. Any thread may call
 * them.
 */
public final class Attempt {
    private static final long NEVER = -1;

    private final EventLog log;
    private final String client;
    private final List<LockClaim> claims;
    private final long number;
    private final ServerObservation observation;
    private final AtomicLong lastValid = new AtomicLong(NEVER);
    private volatile long token;
    private volatile long session;

    Attempt(EventLog log, String client, List<LockClaim> claims, long number, ServerObservation observation) {
        this.log = log;
        this.client = client;
        this.claims = claims;
        this.number = number;
        this.observation = observation;
    }

    private void record(EventType type, String note) {
        record(log.now(), type, note);
    }

    private void record(long nanos, EventType type, String note) {
        log.add(new HistoryEvent(nanos, client, number, claims, type, token, session, note));
    }

    /** @param how the time that the client gives it, if any */
    void requested(String how) {
        record(EventType.REQUESTED, how);
    }

    /**
     * The client knows that its request is in the queue at the server, for example because it has read it there. Later
     * requests are behind it. Attempts through a {@link FaultyClient} record this by themselves.
     */
    public void placed() {
        record(EventType.PLACED, "");
    }

    /**
     * The client has converted this exclusive hold into a shared one without a release in between: the former ends and
     * the latter begins at the time that was taken before the downgrade began.
     *
     * @param before from {@link #beforeLook()}, before the downgrade
     * @return the attempt that holds from then on
     */
    public Attempt downgraded(long before) {
        record(before, EventType.RELEASING, HistoryEvent.DOWNGRADE);
        record(before, EventType.RELEASED, HistoryEvent.DOWNGRADE);
        List<LockClaim> shared =
                claims.stream().map(claim -> LockClaim.shared(claim.path())).toList();
        Attempt reader = log.added(client, shared, observation);
        reader.token = token;
        reader.session = session;
        reader.record(before, EventType.REQUESTED, HistoryEvent.DOWNGRADE);
        reader.record(before, EventType.GRANTED, HistoryEvent.DOWNGRADE);
        return reader;
    }

    /**
     * The client has been granted the lock, and relies on it from now on.
     *
     * @param grantedToken the lease's {@link io.latchkey.lock.Lease#token}, or 0 if the lock has no tokens; then tokens
     *     cannot be checked
     */
    public void granted(long grantedToken) {
        token = grantedToken;
        session = observation.sessions().apply(grantedToken).orElse(0);
        long now = log.now();
        observation
                .places()
                .apply(grantedToken)
                .ifPresent(nanoTime -> record(Math.min(log.sinceItBegan(nanoTime), now), EventType.PLACED, ""));
        record(now, EventType.GRANTED, "");
    }

    void resizing() {
        record(EventType.RESIZING, "");
    }

    void resized() {
        record(EventType.RESIZED, "");
    }

    /**
     * The attempt has ended without a grant.
     *
     * @param why for the reader
     */
    public void gaveUp(String why) {
        record(EventType.GAVE_UP, why);
    }

    /**
     * {@return the present moment, for {@link #valid} and {@link #downgraded}} Take it before you look whether the
     * lease is valid.
     */
    public long beforeLook() {
        return log.now();
    }

    /**
     * The client looked whether its lease is valid, and it was: it has relied on it at least until the given moment.
     *
     * @param beforeLook from {@link #beforeLook()}, before the look
     */
    public void valid(long beforeLook) {
        lastValid.accumulateAndGet(beforeLook, Math::max);
    }

    /** The client is about to release: from now on it does not rely on the lease. */
    public void releasing() {
        record(EventType.RELEASING, "");
    }

    /**
     * The release has come out.
     *
     * @param outcome how; a release that finds the lease lost is recorded as a loss
     */
    public void released(ReleaseOutcome outcome) {
        switch (outcome) {
            case RELEASED, PENDING -> record(EventType.RELEASED, outcome.name());
            case LOST -> record(EventType.LOST, HistoryEvent.FOUND_BY_RELEASE);
            case ALREADY_RELEASED -> record(EventType.NOTE, "released again");
        }
    }

    /**
     * The client has been notified that the lease is lost.
     *
     * @param cause for the reader
     */
    public void lost(String cause) {
        record(EventType.LOST, cause);
    }

    /** All that a client in another process has told, afterwards. */
    void believed(ClientProcess.Belief belief) {
        token = belief.token();
        long granted = log.sinceItBegan(belief.granted());
        record(granted, EventType.REQUESTED, "");
        record(granted, EventType.GRANTED, "");
        valid(log.sinceItBegan(belief.lastValid()));
        record(log.sinceItBegan(belief.lost()), EventType.LOST, belief.cause().name());
    }

    Optional<HistoryEvent> lastLook() {
        long nanos = lastValid.get();
        return nanos == NEVER
                ? Optional.empty()
                : Optional.of(new HistoryEvent(nanos, client, number, claims, EventType.VALID, token, session, ""));
    }

    /**
     * How one attempt of a history went, its events put together. Times are nanoseconds since the history began;
     * {@link #NEVER} for what has not happened.
     *
     * @param how the note of the request: the time that the attempt has, or that it is a downgrade
     * @param placed the last moment at which its request was found standing at the server
     * @param outcome the note of the release
     * @param why the note of the loss or of giving up
     */
    public record Summary(
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
         * Summarizes the attempts of a log.
         *
         * @param events the events of the history
         * @return all attempts, in the order of their numbers
         */
        public static List<Summary> of(List<HistoryEvent> events) {
            Map<Long, List<HistoryEvent>> byAttempt = new TreeMap<>();
            for (HistoryEvent event : events) {
                if (event.attempt() != 0) {
                    byAttempt
                            .computeIfAbsent(event.attempt(), number -> new ArrayList<>())
                            .add(event);
                }
            }
            return byAttempt.values().stream().map(Summary::ofOne).toList();
        }

        private static Summary ofOne(List<HistoryEvent> attempt) {
            HistoryEvent some = attempt.get(0);
            Optional<HistoryEvent> granted = first(attempt, EventType.GRANTED);
            Optional<HistoryEvent> ended = first(attempt, EventType.LOST).or(() -> first(attempt, EventType.GAVE_UP));
            return new Summary(
                    some.client(),
                    some.attempt(),
                    granted.orElse(some).claims(),
                    granted.map(HistoryEvent::token).orElse(0L),
                    granted.map(HistoryEvent::session).orElse(0L),
                    first(attempt, EventType.REQUESTED).map(HistoryEvent::note).orElse(""),
                    time(first(attempt, EventType.REQUESTED)),
                    last(attempt, EventType.PLACED),
                    time(granted),
                    last(attempt, EventType.VALID),
                    time(first(attempt, EventType.RELEASING)),
                    time(first(attempt, EventType.RELEASED)),
                    first(attempt, EventType.RELEASED).map(HistoryEvent::note).orElse(""),
                    time(first(attempt, EventType.LOST)),
                    time(first(attempt, EventType.GAVE_UP)),
                    time(first(attempt, EventType.RESIZING)),
                    time(first(attempt, EventType.RESIZED)),
                    ended.map(HistoryEvent::note).orElse(""));
        }

        private static Optional<HistoryEvent> first(List<HistoryEvent> attempt, EventType type) {
            return attempt.stream().filter(event -> event.type() == type).findFirst();
        }

        private static long last(List<HistoryEvent> attempt, EventType type) {
            return attempt.stream()
                    .filter(event -> event.type() == type)
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
            return how.equals(HistoryEvent.DOWNGRADE);
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
            return isReleasedInOrder() && outcome.equals(HistoryEvent.DOWNGRADE);
        }

        /** {@return whether the attempt timed out} */
        public boolean ranOutOfTime() {
            return gaveUp != NEVER && why.equals(HistoryEvent.OUT_OF_TIME);
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
}
