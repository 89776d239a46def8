// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A lower bound on the expiry of a session, derived from responses (docs/protocol.md, "Validity period").
 *
 * <p>The leader expires a session one timeout after it was last <em>touched</em>. A committed write proves that the
 * session lived when the leader received it, not that the leader touched it. Behind a follower, touches reach the
 * leader only with the follower's responses to its pings, every half tick. There are three proofs of a touch:
 *
 * <ul>
 *   <li>A request touches the session at its server between its sending and its response. The next proof is a committed
 *       write on the same connection, sent at least the <em>margin</em> after that response: the leader heard of the
 *       touch in between. So the session counts as touched when the request was sent.
 *   <li>A committed write without such a request counts from the client's latest ping that the leader knew of. That
 *       ping was sent at most a third of the timeout, the margin, and its own way to the server before the write. It
 *       was sent earlier if the process stood still. The time on the way is taken from the slowest request of the last
 *       timeout, the one for the connection included. If there was no connection at that time, the time of connecting
 *       counts, in which the leader itself takes part. If the connection's age is unknown, as on a handle just
 *       borrowed, the write proves nothing. The connection may be younger than the ping, and its response may have
 *       taken as long as ZooKeeper's client waits, up to the whole timeout.
 *   <li>The leader starts the time of a session that it creates, and starts it again when the client connects again to
 *       any server. So the time before the request for it counts. The margin is subtracted, so that a client that is
 *       cut off at once gives up that much before the server, as in the other cases.
 * </ul>
 */
public final class SessionExpiryBound {
    /** The allowance for clock drift: one part in a hundred. */
    private static final int DRIFT = 100;

    private final Duration margin;
    /** The minimum distance between remembered requests. */
    private final Duration apart;
    /** The session timeout. */
    private final Duration span;
    /** The minimum life of a session after a touch. */
    private final Duration life;
    /** The time from the latest ping that the leader knows of to a write, if nothing takes time on its way. */
    private final Duration pinged;
    /** A time before the request for the session or for its latest connection was sent; empty if unknown. */
    private final Optional<ClockReading> asked;
    /** A time before the current connection was made; empty if unknown. */
    private final Optional<ClockReading> before;
    /** The time from which requests did not have to wait for the current connection. */
    private final ClockReading since;
    /** The time from which the client has certainly sent pings on the current connection; null if unknown so far. */
    private @Nullable ClockReading there;
    /** Requests answered on the current connection, oldest first, thinned out. */
    private final Deque<Exchange> answered = new ArrayDeque<>();

    private final SlidingMaximum slowest;

    private record Exchange(ClockReading sent, ClockReading answered) {}

    /**
     * @param sessionTimeout the session timeout that the server granted
     * @param margin how long a touch may take from the client's server to the leader
     * @param asked a time before the request for the session or for its latest connection was sent; empty if unknown
     * @param before a time before the current connection was made; empty if unknown
     * @param since the time at which the client learned of the current connection
     */
    public SessionExpiryBound(
            Duration sessionTimeout,
            Duration margin,
            Optional<ClockReading> asked,
            Optional<ClockReading> before,
            ClockReading since) {
        long nanos = sessionTimeout.toNanos();
        this.margin = margin;
        this.apart = Duration.ofNanos(margin.toNanos() / 8);
        this.span = sessionTimeout;
        this.slowest = new SlidingMaximum(apart);
        this.life = Duration.ofNanos(nanos - nanos / DRIFT);
        this.pinged = Duration.ofNanos(nanos / 3).plus(margin);
        this.asked = asked;
        this.before = before;
        this.since = since;
        // The request for the connection was answered, too, and the pings behind it may take as long.
        asked.ifPresent(moment -> slowest.add(
                since.since(before.filter(lost -> lost.isAfter(moment)).orElse(moment)), since));
    }

    /** Notes that the current connection exists at {@code now}. */
    public void connected(ClockReading now) {
        there = now;
    }

    /**
     * Notes a response at {@code now}, possibly to a request that waited for this connection since the previous one.
     */
    public void heard(ClockReading sent, ClockReading now) {
        slowest.add(now.since(sent.isAfter(since) ? sent : since), now);
    }

    /** Notes a response at {@code now} to a request on the current connection that proves nothing by itself. */
    public void answered(ClockReading sent, ClockReading now) {
        heard(sent, now);
        // A client that only reads would remember all requests. Those that are too old prove nothing any more.
        while (!answered.isEmpty() && answered.getFirst().sent().plus(life).reachedAt(now)) {
            answered.removeFirst();
        }
        Exchange last = answered.peekLast();
        if (last == null || sent.isAfter(last.sent().plus(apart))) {
            answered.addLast(new Exchange(sent, now));
        }
    }

    /**
     * Notes the response to a committed write. Returns the earliest time at which the server can expire the session, if
     * the write proves one.
     *
     * @param standstill an upper bound on the process's standstill within the timeout before the write was sent
     */
    public Optional<ClockReading> committed(ClockReading sent, ClockReading now, Duration standstill) {
        Optional<ClockReading> pair = lastKnownBefore(sent);
        answered(sent, now);
        ClockReading ping = sent.minus(pinged.plus(slowest.within(span, now)).plus(standstill));
        Optional<ClockReading> connecting = asked.map(moment -> moment.minus(margin));
        return later(touchBy(ping), later(pair, connecting)).map(touch -> touch.plus(life));
    }

    /** Returns the number of remembered requests. */
    int remembered() {
        return answered.size();
    }

    /** Returns when the last request was sent that the leader certainly knew of before a write sent at {@code sent}. */
    private Optional<ClockReading> lastKnownBefore(ClockReading sent) {
        Exchange found = null;
        while (!answered.isEmpty()
                && !answered.getFirst().answered().plus(margin).isAfter(sent)) {
            found = answered.removeFirst();
        }
        if (found == null) {
            return Optional.empty();
        }
        answered.addFirst(found);
        return Optional.of(found.sent());
    }

    /** Returns the time of a touch by a ping or, if there may have been none yet, by connecting. */
    private Optional<ClockReading> touchBy(ClockReading ping) {
        boolean maybeNone = there == null || there.isAfter(ping);
        return maybeNone ? before.map(lost -> ping.isAfter(lost) ? lost : ping) : Optional.of(ping);
    }

    private static Optional<ClockReading> later(Optional<ClockReading> one, Optional<ClockReading> other) {
        return other.isEmpty() || (one.isPresent() && one.get().isAfter(other.get())) ? one : other;
    }
}
