// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import io.latchkey.testkit.history.HistoryEvent;
import java.util.List;
import java.util.Set;

/**
 * The data behind a verdict, from which {@link HtmlReport} draws its picture.
 *
 * @param events the events of the history
 * @param spots where in it each finding is
 * @param context information for reproducing it, such as a seed and the command that replays it; empty if unknown
 */
public record Evidence(List<HistoryEvent> events, List<Spot> spots, String context) {
    /** No history: there is nothing to draw. */
    public static final Evidence NONE = new Evidence(List.of(), List.of(), "");

    /**
     * Takes the lists as they are now.
     *
     * @param events the events of the history
     * @param spots where in it each finding is
     * @param context what the reader needs to see it again, such as a seed and the command that replays it
     */
    public Evidence {
        events = List.copyOf(events);
        spots = List.copyOf(spots);
    }

    /**
     * Where a finding is.
     *
     * @param attempts the attempts that it is about
     * @param from when it begins, in nanoseconds since the history began
     * @param to when it ends
     */
    public record Spot(Set<Long> attempts, long from, long to) {
        /**
         * Takes the attempts as they are now.
         *
         * @param attempts the attempts that it is about
         * @param from when it begins, in nanoseconds since the history began
         * @param to when it ends
         */
        public Spot {
            attempts = Set.copyOf(attempts);
        }
    }

    /**
     * {@return the same, with a text that tells the reader how to see it again}
     *
     * @param newContext such as a seed and the command that replays it
     */
    public Evidence in(String newContext) {
        return new Evidence(events, spots, newContext);
    }
}
