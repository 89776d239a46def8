// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import io.latchkey.testkit.history.AttemptSummary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One line of a picture: attempts of one client that do not overlap. A client with simultaneous attempts has several
 * lines.
 *
 * @param client the name of the client
 * @param summaries the attempts in order of time
 */
record Track(String client, List<AttemptSummary> summaries) {

    /**
     * Returns the lines for these attempts: clients in the order of their first attempts, each with as many lines as
     * needed.
     */
    static List<Track> of(List<AttemptSummary> summaries) {
        Map<String, List<List<AttemptSummary>>> byClient = new LinkedHashMap<>();
        for (AttemptSummary summary : summaries.stream()
                .filter(AttemptSummary::isAsked)
                .sorted(Comparator.comparingLong(AttemptSummary::requested))
                .toList()) {
            List<List<AttemptSummary>> lines = byClient.computeIfAbsent(summary.client(), name -> new ArrayList<>());
            lines.stream()
                    .filter(line -> end(line.get(line.size() - 1)) <= summary.requested())
                    .findFirst()
                    .orElseGet(() -> {
                        List<AttemptSummary> line = new ArrayList<>();
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
    private static long end(AttemptSummary summary) {
        return summary.isGranted() ? Math.max(summary.granted(), summary.perhapsUntil()) : summary.gaveUp();
    }
}
