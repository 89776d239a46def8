// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.WireRecord.Answer;
import io.latchkey.testkit.proxy.WireRecord.Delivery;
import io.latchkey.testkit.proxy.WireRecord.Event;
import io.latchkey.testkit.proxy.WireRecord.Request;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The traffic between one client and its servers during some time, in the order in which the proxy read it. Immutable:
 * later traffic is not included. Its text is a timeline for the messages of assertions.
 *
 * @param records everything, pings included
 */
public record Wire(List<WireRecord> records) {
    /**
     * A moment on the wire of one proxy, from {@link FaultProxy#mark()}.
     *
     * @param position how many records there were before it
     */
    public record Mark(int position) {}

    private <R extends WireRecord> Stream<R> all(Class<R> type) {
        return records.stream().filter(type::isInstance).map(type::cast);
    }

    /**
     * {@return how many requests the client sent: everything but connects, pings and orderly ends of sessions}
     * Heartbeats count. So does a request that a fault kept from the server.
     */
    public int requests() {
        return count(RequestMatch.any());
    }

    /** {@return how many of the {@link #requests()} were heartbeats: transactions of nothing but checks} */
    public int heartbeats() {
        return count(RequestMatch.heartbeat());
    }

    /** {@return how many of the {@link #requests()} were something else than heartbeats} */
    public int requestsButHeartbeats() {
        return count(RequestMatch.any().butHeartbeats());
    }

    /**
     * {@return how many requests of this sort the client sent, those included that a fault kept from the server}
     *
     * @param match which requests are meant
     */
    public int count(RequestMatch match) {
        return requests(match).size();
    }

    /**
     * {@return the requests of this sort that the client sent, in order}
     *
     * @param match which requests are meant
     */
    public List<Request> requests(RequestMatch match) {
        return all(Request.class).filter(match::matches).toList();
    }

    /** {@return how many of the {@link #requests()} asked for what; a multi is one {@link WireRecord.Op#MULTI}} */
    public Map<WireRecord.Op, Long> requestsByOp() {
        return all(Request.class)
                .filter(RequestMatch.any()::matches)
                .collect(Collectors.groupingBy(Request::op, TreeMap::new, Collectors.counting()));
    }

    /** {@return how many watches fired} */
    public int watchEvents() {
        return events().size();
    }

    /** {@return the watches that fired, in order} */
    public List<Event> events() {
        return all(Event.class).toList();
    }

    /**
     * {@return how many times the client waited for the server} That is the length of the longest chain of requests,
     * heartbeats and upkeep left out, each of which was sent after the answer to the one before it had left for the
     * client. Requests sent back to back count as one.
     */
    public int roundTrips() {
        Map<Request, Long> delivered = all(Delivery.class).collect(Collectors.toMap(Delivery::to, Delivery::nanoTime));
        int trips = 0;
        Long known = null;
        Predicate<Request> counted = RequestMatch.any().butHeartbeats()::matches;
        for (Answer answer : all(Answer.class).filter(a -> counted.test(a.to())).toList()) {
            if (known == null || answer.to().nanoTime() - known >= 0) {
                trips++;
                // What was lost on the way is known by the loss, later.
                known = delivered.getOrDefault(answer.to(), answer.nanoTime());
            }
        }
        return trips;
    }

    /** {@return a timeline: one line a record, with milliseconds since the first; pings and deliveries are left out} */
    @Override
    public String toString() {
        List<WireRecord> shown = timeline();
        if (shown.isEmpty()) {
            return "nothing passed";
        }
        long start = shown.get(0).nanoTime();
        return shown.stream()
                .map(r -> String.format(Locale.ROOT, "%9.3f ms  %s", (r.nanoTime() - start) / 1e6, words(r)))
                .collect(Collectors.joining("\n", "\n", "\n"));
    }

    /** {@return what timelines show: all but pings and deliveries} */
    public List<WireRecord> timeline() {
        return records.stream()
                .filter(r -> !isPing(r) && !(r instanceof Delivery))
                .toList();
    }

    private static boolean isPing(WireRecord shown) {
        return (shown instanceof Request request && request.op() == WireRecord.Op.PING)
                || (shown instanceof Answer answer && answer.to().op() == WireRecord.Op.PING);
    }

    /**
     * {@return a record as timelines show it, without its time}
     *
     * @param shown the record
     */
    public static String words(WireRecord shown) {
        String arrow = shown instanceof Request ? "->" : shown instanceof WireRecord.Note ? "--" : "<-";
        return arrow + " #" + shown.connection() + " " + shown;
    }
}
