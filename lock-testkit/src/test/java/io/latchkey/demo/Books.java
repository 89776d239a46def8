// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The clients' record of their entries in ZooKeeper, and of the lock. */
final class Books {
    private static final String LOCK = "the lock";

    private final History history = new History();
    private final Map<String, Duration> confirmed = new ConcurrentHashMap<>();
    private final Set<String> unclear = ConcurrentHashMap.newKeySet();
    private final AtomicInteger refusals = new AtomicInteger();
    private final long start = System.nanoTime();
    private final Duration open;
    private volatile String lastGranted = "";

    /** Books that are open for that long from now on. */
    Books(Duration open) {
        this.open = open;
    }

    History history() {
        return history;
    }

    Duration sinceOpening() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** The time left; zero from closing time on. */
    Duration untilClosing() {
        Duration left = open.minus(sinceOpening());
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** This client is about to ask for the lock. */
    Attempt attempt(String client) {
        return history.attempt(client, LOCK);
    }

    /** This client was granted the lock. */
    void granted(String client) {
        lastGranted = client;
    }

    /** The client that was granted the lock last; empty if none was. */
    String lastGranted() {
        return lastGranted;
    }

    /** The entry was acknowledged. */
    void confirmed(String entry) {
        confirmed.put(entry, sinceOpening());
    }

    /** The connection was lost before an answer came. */
    void unclear(String entry) {
        unclear.add(entry);
    }

    /** A write was refused, since the lease was lost. */
    void refused() {
        refusals.incrementAndGet();
    }

    int confirmations() {
        return confirmed.size();
    }

    /** How many entries were acknowledged in the second half of the time. */
    long lateConfirmations() {
        Duration half = open.dividedBy(2);
        return confirmed.values().stream()
                .filter(when -> when.compareTo(half) > 0)
                .count();
    }

    int refusals() {
        return refusals.get();
    }

    /** How many entries were unclear, and what became of them, given those that are in ZooKeeper. */
    String lostAnswers(Set<String> entries) {
        long written = unclear.stream().filter(entries::contains).count();
        return unclear.size() + ", of which " + written + " had been written";
    }

    /**
     * Whether these, the entries in ZooKeeper, are all that were acknowledged, none that was refused, and any of the
     * unclear.
     */
    boolean agreeWith(Set<String> entries) {
        Set<String> others = new HashSet<>(entries);
        others.removeAll(confirmed.keySet());
        return entries.containsAll(confirmed.keySet()) && unclear.containsAll(others);
    }

    /** The history, with the session of every grant, as the clients' proxies have seen it. */
    List<HistoryEvent> events(List<FaultyClient> clients) {
        Map<String, FaultyClient> byName =
                clients.stream().collect(Collectors.toMap(FaultyClient::name, Function.identity()));
        return history.events().stream()
                .map(event -> withSession(event, byName))
                .toList();
    }

    private static HistoryEvent withSession(HistoryEvent event, Map<String, FaultyClient> clients) {
        FaultyClient client = clients.get(event.client());
        if (event.token() == 0 || client == null) {
            return event;
        }
        OptionalLong session = client.proxy().sessionThatCreated(event.token());
        return new HistoryEvent(
                event.nanos(),
                event.client(),
                event.attempt(),
                event.claims(),
                event.what(),
                event.token(),
                session.orElse(0),
                event.note());
    }
}
