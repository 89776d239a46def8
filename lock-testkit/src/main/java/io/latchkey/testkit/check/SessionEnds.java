// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** When the sessions of a history's clients ended, and what that means for a hold. */
final class SessionEnds {
    private static final List<String> BY_FORCE = List.of(ExpiryOrder.SERVER_FIRST.name(), ExpiryOrder.BOTH.name());

    private final Map<String, List<HistoryEvent>> endings;
    private final Map<String, List<HistoryEvent>> ends;

    SessionEnds(List<HistoryEvent> events) {
        this.endings = byClient(events, EventType.SESSION_ENDING);
        this.ends = byClient(events, EventType.SESSION_ENDED);
    }

    private static Map<String, List<HistoryEvent>> byClient(List<HistoryEvent> events, EventType type) {
        return events.stream()
                .filter(event -> event.type() == type)
                .collect(Collectors.groupingBy(HistoryEvent::client));
    }

    /** Whether some session was ended otherwise than by time. */
    boolean hasDecrees() {
        return endings.values().stream().flatMap(List::stream).anyMatch(ending -> BY_FORCE.contains(ending.note()));
    }

    /** How the end of a session bears on a hold. */
    enum Bearing {
        /** It does not, or only after the time {@link #limitOf}. */
        GRANTED_ALIVE,
        /** The grant reached the client when the session that it is of had ended, or was about to. */
        ZOMBIE,
        /** The session of the grant is not known, and one of the client's ended while it was asking. */
        UNKNOWN
    }

    Bearing on(Attempt.Summary hold) {
        Bearing bearing = Bearing.GRANTED_ALIVE;
        for (HistoryEvent ending : endingsOf(hold)) {
            if (ending.nanos() > hold.granted()) {
                continue;
            }
            if (isKnown(hold, ending)) {
                return Bearing.ZOMBIE;
            } else if (endOf(ending) > hold.requested()) {
                bearing = Bearing.UNKNOWN;
            }
        }
        return bearing;
    }

    /** Until when the hold's session lived for certain. */
    long limitOf(Attempt.Summary hold) {
        return endingsOf(hold).stream()
                .mapToLong(HistoryEvent::nanos)
                .filter(nanos -> nanos > hold.granted())
                .findFirst()
                .orElse(HoldInterval.END_OF_TIME);
    }

    /** By when the session of a hold, if it is known, had ended for certain. */
    long goneBy(Attempt.Summary hold) {
        return endingsOf(hold).stream()
                .filter(ending -> isKnown(hold, ending))
                .mapToLong(this::endOf)
                .min()
                .orElse(HoldInterval.END_OF_TIME);
    }

    /** The ends that may be of the hold's session: of the same client, and not known to be of another session. */
    private List<HistoryEvent> endingsOf(Attempt.Summary hold) {
        return endings.getOrDefault(hold.client(), List.of()).stream()
                .filter(ending -> ending.session() == 0 || hold.session() == 0 || ending.session() == hold.session())
                .toList();
    }

    private static boolean isKnown(Attempt.Summary hold, HistoryEvent ending) {
        return hold.session() != 0 && ending.session() == hold.session();
    }

    /** When this end was certain; never, if that was not recorded. */
    private long endOf(HistoryEvent ending) {
        return ends.getOrDefault(ending.client(), List.of()).stream()
                .filter(event -> event.session() == ending.session() && event.nanos() >= ending.nanos())
                .mapToLong(HistoryEvent::nanos)
                .findFirst()
                .orElse(HoldInterval.END_OF_TIME);
    }
}
