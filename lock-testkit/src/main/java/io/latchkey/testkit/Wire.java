package io.latchkey.testkit;

import io.latchkey.testkit.WireRecord.Answer;
import io.latchkey.testkit.WireRecord.Event;
import io.latchkey.testkit.WireRecord.Request;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What passed between one client and its servers in a stretch of time, in the order in which the proxy read it. A value: what passes
 * later is not in it. Its text is a timeline for the messages of assertions.
 *
 * @param records everything, pings included
 */
public record Wire(List<WireRecord> records) {

    /** A moment on the wire of one proxy, from {@link FaultProxy#mark()}. */
    public record Mark(int position) {}

    /** Takes the records as they are now. */
    public Wire {
        records = List.copyOf(records);
    }

    private <R extends WireRecord> Stream<R> all(Class<R> type) {
        return records.stream().filter(type::isInstance).map(type::cast);
    }

    /**
     * How many requests the client sent: everything but connects, pings and orderly ends of sessions. Heartbeats count. So does a
     * request that a fault kept from the server.
     */
    public int requests() {
        return count(RequestMatch.any());
    }

    /** How many of the {@link #requests()} were heartbeats: transactions of nothing but checks. */
    public int heartbeats() {
        return count(RequestMatch.heartbeat());
    }

    /** How many of the {@link #requests()} were something else than heartbeats. */
    public int requestsButHeartbeats() {
        return count(RequestMatch.any().butHeartbeats());
    }

    /** How many requests of this sort the client sent. */
    public int count(RequestMatch match) {
        return requests(match).size();
    }

    /** The requests of this sort, in order. */
    public List<Request> requests(RequestMatch match) {
        return all(Request.class).filter(match::matches).toList();
    }

    /** The {@link #requests()} by what they ask for. A multi is one {@link WireOp#MULTI}. */
    public Map<WireOp, Long> requestsByOp() {
        return all(Request.class)
                .filter(RequestMatch.any()::matches)
                .collect(Collectors.groupingBy(Request::op, TreeMap::new, Collectors.counting()));
    }

    /** The answers to requests of this sort, in order. */
    public List<Answer> answers(RequestMatch match) {
        return all(Answer.class).filter(answer -> match.matches(answer.to())).toList();
    }

    /** How many watches fired. */
    public int watchEvents() {
        return events().size();
    }

    /** The watches that fired, in order. */
    public List<Event> events() {
        return all(Event.class).toList();
    }

    /**
     * How many times the client waited for the server: the length of the longest chain of requests, heartbeats and upkeep left out,
     * each of which was sent after the answer to the one before it had come. Requests sent back to back count as one.
     */
    public int roundTrips() {
        int trips = 0;
        Long answered = null;
        Predicate<Request> counted = RequestMatch.any().butHeartbeats()::matches;
        for (Answer answer : all(Answer.class).filter(a -> counted.test(a.to())).toList()) {
            if (answered == null || answer.to().nanoTime() - answered >= 0) {
                trips++;
                answered = answer.nanoTime();
            }
        }
        return trips;
    }

    /** One line a record, with milliseconds since the first; pings and their answers are left out. */
    @Override
    public String toString() {
        List<WireRecord> shown = records.stream().filter(r -> !isPing(r)).toList();
        if (shown.isEmpty()) {
            return "nothing passed";
        }
        long start = shown.get(0).nanoTime();
        return shown.stream().map(r -> line(r, start)).collect(Collectors.joining("\n", "\n", "\n"));
    }

    private static boolean isPing(WireRecord shown) {
        return (shown instanceof Request request && request.op() == WireOp.PING)
                || (shown instanceof Answer answer && answer.to().op() == WireOp.PING);
    }

    private static String line(WireRecord shown, long start) {
        String arrow = shown instanceof Request ? "->" : shown instanceof WireRecord.Note ? "--" : "<-";
        double millis = (shown.nanoTime() - start) / 1e6;
        return String.format("%9.3f ms  #%d %s %s", millis, shown.connection(), arrow, shown);
    }
}
