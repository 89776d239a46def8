// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.HistoryEvent.What;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Writes histories by hand: one event a line, times in milliseconds. */
public final class Script {
    private final List<HistoryEvent> events = new ArrayList<>();

    private List<LockClaim> claims = List.of(LockClaim.exclusive("/m"));

    /** From here on attempts claim this; {@code /m} alone unless said. */
    public Script claiming(LockClaim... some) {
        claims = List.of(some);
        return this;
    }

    private void add(double millis, String client, long attempt, What what, long token, long session, String note) {
        events.add(new HistoryEvent(
                (long) (millis * 1e6), client, attempt, attempt == 0 ? List.of() : claims, what, token, session, note));
    }

    public Script requested(double millis, String client, long attempt) {
        add(millis, client, attempt, What.REQUESTED, 0, 0, "");
        return this;
    }

    /** With a time of its own, as {@link java.time.Duration} writes it. */
    public Script requested(double millis, String client, long attempt, String time) {
        add(millis, client, attempt, What.REQUESTED, 0, 0, time);
        return this;
    }

    public Script placed(double millis, String client, long attempt) {
        add(millis, client, attempt, What.PLACED, 0, 0, "");
        return this;
    }

    public Script gaveUp(double millis, String client, long attempt) {
        add(millis, client, attempt, What.GAVE_UP, 0, 0, RecordedLock.OUT_OF_TIME);
        return this;
    }

    public Script resized(double from, double to, String client, long attempt) {
        add(from, client, attempt, What.RESIZING, 0, 0, "");
        add(to, client, attempt, What.RESIZED, 0, 0, "");
        return this;
    }

    /** An attempt that asks and knows a moment later that it stands in the queue. */
    public Script queued(double millis, String client, long attempt) {
        return requested(millis, client, attempt).placed(millis + 0.5, client, attempt);
    }

    public Script granted(double millis, String client, long attempt, long token) {
        return granted(millis, client, attempt, token, 0);
    }

    public Script granted(double millis, String client, long attempt, long token, long session) {
        add(millis, client, attempt, What.GRANTED, token, session, "");
        return this;
    }

    public Script valid(double millis, String client, long attempt) {
        add(millis, client, attempt, What.VALID, 0, 0, "");
        return this;
    }

    public Script released(double millis, String client, long attempt) {
        add(millis, client, attempt, What.RELEASING, 0, 0, "");
        add(millis + 1, client, attempt, What.RELEASED, 0, 0, "RELEASED");
        return this;
    }

    /** A release of which the client does not know whether it has come out. */
    public Script releasing(double millis, String client, long attempt) {
        add(millis, client, attempt, What.RELEASING, 0, 0, "");
        return this;
    }

    /** A write hold that goes on as a read hold. */
    public Script downgraded(double millis, String client, long writer, long reader, String path) {
        claims = List.of(LockClaim.exclusive(path));
        add(millis, client, writer, What.RELEASING, 0, 0, Attempt.DOWNGRADE);
        add(millis, client, writer, What.RELEASED, 0, 0, Attempt.DOWNGRADE);
        claims = List.of(LockClaim.shared(path));
        add(millis, client, reader, What.REQUESTED, 0, 0, Attempt.DOWNGRADE);
        add(millis, client, reader, What.GRANTED, 0, 0, Attempt.DOWNGRADE);
        return this;
    }

    public Script note(double millis, String client, String text) {
        add(millis, client, 0, What.NOTE, 0, 0, text);
        return this;
    }

    public Script lost(double millis, String client, long attempt) {
        add(millis, client, attempt, What.LOST, 0, 0, "SESSION_EXPIRED");
        return this;
    }

    public Script sessionEnds(double from, double to, String client, long session, ExpiryOrder how) {
        add(from, client, 0, What.SESSION_ENDING, 0, session, how.name());
        add(to, client, 0, What.SESSION_ENDED, 0, session, "");
        return this;
    }

    /** A whole hold: asked for, granted, released. */
    public Script held(double requested, double granted, double released, String client, long attempt, long token) {
        return requested(requested, client, attempt)
                .granted(granted, client, attempt, token)
                .released(released, client, attempt);
    }

    public List<HistoryEvent> events() {
        return events.stream()
                .sorted(Comparator.comparingLong(HistoryEvent::nanos))
                .toList();
    }

    /** The lease of an attempt, recorded from its grant on. */
    public static Lease granted(Attempt attempt, Lease lease) {
        return RecordedLease.granted(attempt, lease);
    }
}
