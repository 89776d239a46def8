// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.admin;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.Owner;
import io.latchkey.lock.SessionStatus;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A report of the requests of one client, and of suspected deadlocks with other clients; see
 * {@link LockClient#diagnose}. Its {@link #toString} is for people.
 *
 * @param holds the granted requests of the client, longest first
 * @param waits its waiting requests, longest first
 * @param cycles the suspected deadlocks: lists of clients of which each waits for the next, and the last for the first.
 *     This client is the first of a list, or waits for a client in the list.
 * @param incompleteBecause why the search for cycles is incomplete, as text for people; empty if it is complete
 * @param session the client's session when the diagnosis began
 */
public record Diagnosis(
        List<OwnRequest> holds,
        List<OwnRequest> waits,
        List<List<CycleMember>> cycles,
        Optional<String> incompleteBecause,
        SessionStatus session) {
    /**
     * Constructs a diagnosis with copies of the lists.
     *
     * @param holds the granted requests of the client
     * @param waits its waiting requests
     * @param cycles the suspected deadlocks
     * @param incompleteBecause why the search is incomplete
     * @param session the client's session
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
     * @param since the time of the grant, or of the call if it waits, by the clock of this machine
     * @param thread the name of the thread that made the request; one of them if the request serves several threads
     * @param waitsForItself whether that thread is blocked on this request while it holds a lease that the request has
     *     to wait for, acquired by a blocking call: acquiring is not re-entrant
     */
    public record OwnRequest(LockObserver.Request request, Instant since, String thread, boolean waitsForItself) {
        @Override
        public String toString() {
            return request.lock() + " " + request.path() + " since " + since + ", asked for by thread " + thread
                    + (waitsForItself
                            ? ": thread " + thread
                                    + " waits for a lock that it holds itself: acquiring is not re-entrant"
                            : "");
        }
    }

    /**
     * A client in a cycle.
     *
     * @param client the client, by its own account
     * @param holds the path at which it holds a lock that the previous client in the cycle waits for; empty if it is
     *     only a waiter ahead of that client
     * @param waitsFor the path at which it waits
     * @param since the time at which it began to wait, by the clock of the server
     */
    public record CycleMember(Owner client, Optional<String> holds, String waitsFor, Instant since) {
        @Override
        public String toString() {
            return client + holds.map(path -> " holds " + path + " and").orElse("") + " waits for " + waitsFor
                    + " since " + since;
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("session: ").append(session).append('\n');
        append(text, "holds", holds);
        append(text, "waits for", waits);
        for (List<CycleMember> cycle : cycles) {
            append(text, "deadlock suspected: each waits for the next, and the last for the first", cycle);
        }
        incompleteBecause.ifPresent(reason -> text.append("the search for deadlocks is incomplete: ")
                .append(reason)
                .append('\n'));
        return text.toString().stripTrailing();
    }

    private static void append(StringBuilder text, String title, List<?> lines) {
        text.append(title)
                .append(lines.isEmpty() ? " nothing" : ":\n")
                .append(lines.stream().map(line -> "  " + line).collect(Collectors.joining("\n")))
                .append('\n');
    }
}
