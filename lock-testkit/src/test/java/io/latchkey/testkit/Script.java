package io.latchkey.testkit;

import io.latchkey.testkit.HistoryEvent.What;
import java.util.ArrayList;
import java.util.List;

/** Writes histories by hand: one event a line, times in milliseconds. */
final class Script {
    private final List<HistoryEvent> events = new ArrayList<>();

    private List<Claim> claims = List.of(Claim.exclusive("/m"));

    /** From here on attempts claim this; {@code /m} alone unless said. */
    Script claiming(Claim... some) {
        claims = List.of(some);
        return this;
    }

    private void add(double millis, String client, long attempt, What what, long token, long session, String note) {
        events.add(new HistoryEvent(
                (long) (millis * 1e6), client, attempt, attempt == 0 ? List.of() : claims, what, token, session, note));
    }

    Script requested(double millis, String client, long attempt) {
        add(millis, client, attempt, What.REQUESTED, 0, 0, "");
        return this;
    }

    Script granted(double millis, String client, long attempt, long token) {
        return granted(millis, client, attempt, token, 0);
    }

    Script granted(double millis, String client, long attempt, long token, long session) {
        add(millis, client, attempt, What.GRANTED, token, session, "");
        return this;
    }

    Script valid(double millis, String client, long attempt) {
        add(millis, client, attempt, What.VALID, 0, 0, "");
        return this;
    }

    Script released(double millis, String client, long attempt) {
        add(millis, client, attempt, What.RELEASING, 0, 0, "");
        add(millis + 1, client, attempt, What.RELEASED, 0, 0, "RELEASED");
        return this;
    }

    Script lost(double millis, String client, long attempt) {
        add(millis, client, attempt, What.LOST, 0, 0, "SESSION_EXPIRED");
        return this;
    }

    Script sessionEnds(double from, double to, String client, long session, ExpiryOrder how) {
        add(from, client, 0, What.SESSION_ENDING, 0, session, how.name());
        add(to, client, 0, What.SESSION_ENDED, 0, session, "");
        return this;
    }

    /** A whole hold: asked for, granted, released. */
    Script held(double requested, double granted, double released, String client, long attempt, long token) {
        return requested(requested, client, attempt)
                .granted(granted, client, attempt, token)
                .released(released, client, attempt);
    }

    List<HistoryEvent> events() {
        return List.copyOf(events);
    }
}
