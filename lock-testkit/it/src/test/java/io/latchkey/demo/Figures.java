// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The figures of the history of one lock.
 *
 * @param handOvers how often it was granted to another client than before
 * @param sessionsKilled how many sessions were ended
 * @param leasesLost how many leases were over before they were released
 */
record Figures(long handOvers, long sessionsKilled, long leasesLost) {
    static Figures of(List<HistoryEvent> events) {
        List<String> holders = those(events, EventType.GRANTED)
                .sorted(Comparator.comparingLong(HistoryEvent::token))
                .map(HistoryEvent::client)
                .toList();
        return new Figures(
                IntStream.range(1, holders.size())
                        .filter(i -> !holders.get(i).equals(holders.get(i - 1)))
                        .count(),
                those(events, EventType.SESSION_ENDED).count(),
                leasesLost(events));
    }

    private static Stream<HistoryEvent> those(List<HistoryEvent> events, EventType type) {
        return events.stream().filter(event -> event.type() == type);
    }

    /** Those that their clients found lost, and those that were released when their session was over. */
    private static long leasesLost(List<HistoryEvent> events) {
        Map<Long, Long> ends = new HashMap<>();
        those(events, EventType.SESSION_ENDED).forEach(event -> ends.put(event.session(), event.nanos()));
        Stream<HistoryEvent> releasedTooLate = those(events, EventType.RELEASING)
                .filter(event -> ends.getOrDefault(event.session(), Long.MAX_VALUE) < event.nanos());
        return Stream.concat(those(events, EventType.LOST), releasedTooLate)
                .mapToLong(HistoryEvent::attempt)
                .distinct()
                .count();
    }
}
