// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a client holds and waits for, and who waits for whom in a circle; see {@link LockClient#diagnose}. Its text is for
 * a person to read.
 *
 * @param holds what the client holds, longest first
 * @param waits what it waits for, longest first
 * @param cycles circles of clients of which each waits for the next, and the last for the first; this client is in them,
 *     and then comes first, or waits for somebody who is
 * @param gap why circles may be missing here, in words; empty if all were looked for
 */
public record Diagnosis(List<Own> holds, List<Own> waits, List<List<Link>> cycles, Optional<String> gap) {
    /**
     * Copies the lists.
     *
     * @param holds what the client holds
     * @param waits what it waits for
     * @param cycles circles of waiting clients
     * @param gap why circles may be missing
     */
    public Diagnosis {
        holds = List.copyOf(holds);
        waits = List.copyOf(waits);
        cycles = cycles.stream().map(List::copyOf).toList();
    }

    /**
     * A request of the client.
     *
     * @param request the request
     * @param since when it was granted, or asked for if it waits, by the clock of this machine
     * @param thread the name of the thread that asked for it; any if the client asked for several of its threads
     * @param waitsForItself whether that thread stands in a blocking call for it, and got what it has to wait for from
     *     another one and has not released it: a lease is not re-entrant
     */
    public record Own(LockObserver.Request request, Instant since, String thread, boolean waitsForItself) {
        @Override
        public String toString() {
            return request.lock() + " " + request.path() + " since " + since + ", asked for by thread " + thread
                    + (waitsForItself
                            ? ": thread " + thread + " waits for what it holds itself: acquiring is not re-entrant"
                            : "");
        }
    }

    /**
     * One client in a circle. Label, host and process are what it told of itself, as in {@link Contender}.
     *
     * @param label what it is called; empty if it has no label
     * @param host the name of its machine
     * @param processId its process on that machine
     * @param holds the path of which it holds what the one before it in the circle waits for; empty if it only waits
     *     there itself, before the other
     * @param waitsFor the path at which it waits
     * @param since when it began to wait, by the clock of the server
     */
    public record Link(
            String label, String host, long processId, Optional<String> holds, String waitsFor, Instant since) {
        @Override
        public String toString() {
            String who = (label.isEmpty() ? "a client" : label) + " (" + host + ", process " + processId + ")";
            return who + holds.map(path -> " holds " + path + " and").orElse("") + " waits for " + waitsFor + " since "
                    + since;
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        append(text, "holds", holds);
        append(text, "waits for", waits);
        for (List<Link> cycle : cycles) {
            append(text, "deadlock suspected: each waits for the next, and the last for the first", cycle);
        }
        gap.ifPresent(why ->
                text.append("not all deadlocks were looked for: ").append(why).append('\n'));
        return text.toString().stripTrailing();
    }

    private static void append(StringBuilder text, String title, List<?> lines) {
        text.append(title)
                .append(lines.isEmpty() ? " nothing" : ":\n")
                .append(lines.stream().map(line -> "  " + line).collect(Collectors.joining("\n")))
                .append('\n');
    }
}
