// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import io.latchkey.testkit.history.LockClaim;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The loss of a lease, and the deletion of its node.
 *
 * @param cause the reported cause
 * @param early how long before the server deleted its node it had found its lease valid for the last time; empty if
 *     that was not seen
 * @param gap the time from the report of the loss to the next grant, in nanoseconds
 */
record LossRecord(String path, String cause, OptionalLong early, long gap) {
    /** @param gone how a note begins that tells that the holder's node on a path is gone */
    static List<LossRecord> of(History history, String gone) {
        List<HistoryEvent> events = history.events();
        List<LossRecord> all = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (HistoryEvent lost : events) {
            if (lost.type() != EventType.LOST || !seen.add(lost.attempt())) {
                continue;
            }
            String path = lost.claims().get(0).path();
            Optional<HistoryEvent> next = events.stream()
                    .filter(event -> event.type() == EventType.GRANTED
                            && event.attempt() != lost.attempt()
                            && event.claims().stream().map(LockClaim::path).anyMatch(path::equals))
                    .findFirst();
            long lastLook = events.stream()
                    .filter(event -> event.type() == EventType.VALID && event.attempt() == lost.attempt())
                    .mapToLong(HistoryEvent::nanos)
                    .findFirst()
                    .orElse(lost.nanos());
            OptionalLong left = events.stream()
                    .filter(event ->
                            event.type() == EventType.NOTE && event.note().equals(gone + path))
                    .mapToLong(event -> event.nanos() - lastLook)
                    .findFirst();
            next.ifPresent(granted -> all.add(new LossRecord(path, lost.note(), left, granted.nanos() - lost.nanos())));
        }
        return all;
    }
}
