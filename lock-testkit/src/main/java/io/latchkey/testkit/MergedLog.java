// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.ClientRecord.Line;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What passed between clients and their servers, and the history of the same clients if there is one, as one list in
 * order of time. All times have one origin: the beginning of the history, so that they are those of its own text and of
 * its checkers.
 */
final class MergedLog {
    private static final String SIGNS = ": -> request, <- answer or event, -- connection or fault, == history\n";

    private MergedLog() {}

    /**
     * One list for each history in which one of the clients is recorded; one list without a history if no client is.
     */
    static String of(List<FaultyClient> clients) {
        Set<ClientRecord> histories =
                clients.stream().flatMap(client -> client.records().stream()).collect(Collectors.toSet());
        return histories.isEmpty()
                ? list(clients, Optional.empty())
                : histories.stream()
                        .map(history -> list(clients, Optional.of(history)))
                        .collect(Collectors.joining("\n"));
    }

    private static String list(List<FaultyClient> clients, Optional<ClientRecord> history) {
        List<Line> lines = new ArrayList<>();
        for (FaultyClient client : clients) {
            for (WireRecord record : client.proxy().wire().timeline()) {
                lines.add(new Line(record.nanoTime(), client.name(), Wire.words(record)));
            }
        }
        long origin = history.map(ClientRecord::origin)
                .orElse(lines.stream().mapToLong(Line::nanoTime).min().orElse(0));
        history.stream()
                .flatMap(recorded -> recorded.lines().stream())
                .map(line -> new Line(line.nanoTime(), line.client(), "== " + line.text()))
                .forEach(lines::add);
        int width =
                lines.stream().mapToInt(line -> line.client().length()).max().orElse(1);
        String title = history.isPresent()
                ? "history and wires, in milliseconds since the history began"
                : "on the wire, in milliseconds since the first message";
        return lines.stream()
                .sorted(Comparator.comparingLong(line -> line.nanoTime() - origin))
                .map(line -> String.format(
                        Locale.ROOT,
                        "%10.3f ms  %-" + width + "s  %s",
                        (line.nanoTime() - origin) / 1e6,
                        line.client(),
                        line.text()))
                .collect(Collectors.joining("\n", title + SIGNS, "\n"));
    }
}
