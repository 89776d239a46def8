package io.latchkey.demo;

import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.History;
import io.latchkey.testkit.HistoryEvent;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What the clerks came to know: of their orders, and of the lock. */
final class Books {
    private final History history = new History();
    private final Set<String> sold = ConcurrentHashMap.newKeySet();
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private final Set<String> unclear = ConcurrentHashMap.newKeySet();
    private final long start = System.nanoTime();
    private final Duration open;
    private volatile String lastGranted = "";

    /** Books of a shop that is open for that long from now on. */
    Books(Duration open) {
        this.open = open;
    }

    History history() {
        return history;
    }

    Duration sinceOpening() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** The time left; zero when the shop is closed. */
    Duration untilClosing() {
        Duration left = open.minus(sinceOpening());
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** This client was granted the lock. */
    void granted(String client) {
        lastGranted = client;
    }

    /** The client that was granted the lock last; empty if none was. */
    String lastGranted() {
        return lastGranted;
    }

    /** The write of this order was acknowledged. */
    void sold(String order) {
        sold.add(order);
    }

    /** The write of this order was refused, since the lease was lost. */
    void refused(String order) {
        refused.add(order);
    }

    /** The connection was lost before an answer came. */
    void unclear(String order) {
        unclear.add(order);
    }

    int soldOrders() {
        return sold.size();
    }

    int refusedOrders() {
        return refused.size();
    }

    Set<String> unclearOrders() {
        return Set.copyOf(unclear);
    }

    /** Whether these, the orders in ZooKeeper, are all that were acknowledged, none that was refused, and any of the unclear. */
    boolean agreeWith(Set<String> orders) {
        Set<String> others = new HashSet<>(orders);
        others.removeAll(sold);
        return orders.containsAll(sold) && unclear.containsAll(others);
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
                event.path(),
                event.what(),
                event.token(),
                session.orElse(0),
                event.note());
    }
}
