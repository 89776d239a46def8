// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import io.latchkey.testkit.history.Attempt;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One line of a timeline: attempts of one client that do not overlap. A client with simultaneous attempts has several
 * lines.
 *
 * @param client the name of the client
 * @param summaries the attempts in order of time
 */
record Track(String client, List<Attempt.Summary> summaries) {

    /**
     * Returns the lines for these attempts: clients in the order of their first attempts, each with as many lines as
     * needed.
     */
    static List<Track> of(List<Attempt.Summary> summaries) {
        Map<String, List<List<Attempt.Summary>>> byClient = new LinkedHashMap<>();
        for (Attempt.Summary summary : summaries.stream()
                .filter(Attempt.Summary::isAsked)
                .sorted(Comparator.comparingLong(Attempt.Summary::requested))
                .toList()) {
            List<List<Attempt.Summary>> lines = byClient.computeIfAbsent(summary.client(), name -> new ArrayList<>());
            lines.stream()
                    .filter(line -> end(line.get(line.size() - 1)) <= summary.requested())
                    .findFirst()
                    .orElseGet(() -> {
                        List<Attempt.Summary> line = new ArrayList<>();
                        lines.add(line);
                        return line;
                    })
                    .add(summary);
        }
        List<Track> tracks = new ArrayList<>();
        byClient.forEach((client, lines) -> lines.forEach(line -> tracks.add(new Track(client, line))));
        return tracks;
    }

    /** Until when an attempt takes its line. */
    private static long end(Attempt.Summary summary) {
        return summary.isGranted() ? Math.max(summary.granted(), summary.perhapsUntil()) : summary.gaveUp();
    }
}
