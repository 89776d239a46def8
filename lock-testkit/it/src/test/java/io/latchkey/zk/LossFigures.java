// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Figures of lost leases by fault, for docs/archive/loss-record.md. */
final class LossFigures {
    private final String title;
    private final Map<String, List<LossRecord>> byFault = new LinkedHashMap<>();

    LossFigures(String title) {
        this.title = title;
    }

    synchronized void add(String fault, List<LossRecord> lossRecords) {
        byFault.computeIfAbsent(fault, f -> new ArrayList<>()).addAll(lossRecords);
    }

    /** As a table of Markdown, where the test goes on for long. */
    synchronized void print() {
        if (Soak.isLong()) {
            System.out.println(this);
        }
    }

    @Override
    public synchronized String toString() {
        return title + "\n| fault | lost | given up before the node went | told before the next was granted | told |\n"
                + "|---|---|---|---|---|\n"
                + byFault.entrySet().stream()
                        .map(entry -> row(entry.getKey(), entry.getValue()))
                        .collect(Collectors.joining("\n"));
    }

    private static String row(String fault, List<LossRecord> lossRecords) {
        Map<String, Long> causes = lossRecords.stream()
                .collect(Collectors.groupingBy(LossRecord::cause, TreeMap::new, Collectors.counting()));
        DurationSummary early =
                DurationSummary.of(lossRecords.stream().flatMapToLong(lossRecord -> lossRecord.early().stream()));
        DurationSummary gap = DurationSummary.of(lossRecords.stream().mapToLong(LossRecord::gap));
        return "| " + fault + " | " + lossRecords.size() + " | " + early + " | " + gap + " | " + causes + " |";
    }
}
