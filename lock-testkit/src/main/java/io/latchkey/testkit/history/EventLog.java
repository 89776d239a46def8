// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** The events and attempts of a {@link History}, and its clock. Thread-safe. */
final class EventLog {
    private final long origin = System.nanoTime();
    private final List<HistoryEvent> events = new ArrayList<>();
    private final List<Attempt> attempts = new ArrayList<>();

    /** {@return the moment of {@link System#nanoTime()} in which the history began} */
    long origin() {
        return origin;
    }

    /** {@return now, in nanoseconds since the history began} */
    long now() {
        return sinceItBegan(System.nanoTime());
    }

    /** {@return a moment of {@link System#nanoTime()}, in nanoseconds since the history began} */
    long sinceItBegan(long nanoTime) {
        return nanoTime - origin;
    }

    synchronized void add(HistoryEvent event) {
        events.add(event);
    }

    /**
     * Records that a client is about to ask.
     *
     * @param how the time that the client gives it, if any
     */
    Attempt attempt(String client, List<LockClaim> claims, ServerObservation observation, String how) {
        Attempt attempt = added(client, claims, observation);
        attempt.requested(how);
        return attempt;
    }

    /** An attempt of which nothing is recorded yet. */
    synchronized Attempt added(String client, List<LockClaim> claims, ServerObservation observation) {
        Attempt attempt =
                new Attempt(this, Objects.requireNonNull(client, "client"), claims, attempts.size() + 1, observation);
        attempts.add(attempt);
        return attempt;
    }

    /** {@return the events so far and the last look of each attempt, in order of time} */
    List<HistoryEvent> events() {
        List<HistoryEvent> all;
        List<Attempt> asked;
        synchronized (this) {
            all = new ArrayList<>(events);
            asked = new ArrayList<>(attempts);
        }
        asked.forEach(attempt -> attempt.lastLook().ifPresent(all::add));
        all.sort(Comparator.comparingLong(HistoryEvent::nanos));
        return List.copyOf(all);
    }
}
