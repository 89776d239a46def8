// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What answered requests prove about how long the server will keep the session (docs/protocol.md, "Validity period").
 *
 * <p>The server expires a session one time-out after it was last <em>touched</em>. A committed write proves that the
 * session lived when the leader took it, not that the leader touched it: behind a follower, touches reach the leader
 * only with the follower's answers to its pings, every half tick. There are three ways to know of a touch:
 *
 * <ul>
 *   <li>A request touches the session at the server we are connected to, at the earliest when it was sent, at the latest
 *       when it was answered. A committed write on the same connection, sent at least the <em>margin</em> after the
 *       answer, proves that the leader had heard of it in between: so the request's sending counts.
 *   <li>A lone committed write counts from the client's latest ping that the leader knew of by then. That one was sent a
 *       third of the time-out, the margin, and its time on its way before the write, at the earliest, and earlier by as
 *       long as the process stood still and sent none; for its time on its way we take that of the slowest request of
 *       the last time-out. If there was no connection then, it is the making of the connection that counts: the leader
 *       itself takes part in that. If its age is not known, as on a handle that has just been borrowed, the
 *       write proves nothing: the connection may be younger than the ping, and its answer may have been as long on its
 *       way as ZooKeeper's client waits for it, up to the whole time-out.
 *   <li>The leader starts the time of a session that it makes: so the moment before we asked for it counts; less the
 *       margin, so that who is cut off at once gives up that much before the server, as everybody else does.
 * </ul>
 */
public final class SessionExpiryBound {
    /** What is taken off for clocks that do not run alike: one part in a hundred. */
    private static final int DRIFT = 100;

    private final Duration margin;
    /** How far apart answered requests are remembered. */
    private final Duration apart;
    /** The session's time-out. */
    private final Duration span;
    /** How long a session lives at least after a touch. */
    private final Duration life;
    /** How long before a write the client's latest ping was sent that the leader knows of, if nothing takes time on its way. */
    private final Duration pinged;
    /** Before the server made the session; empty if nobody knows. */
    private final Optional<ClockReading> asked;
    /** Before the present connection was made; empty if nobody knows. */
    private final Optional<ClockReading> before;
    /** Since when requests did not have to wait for the present connection. */
    private final ClockReading since;
    /** Since when the client has sent pings on it for certain; null if it is not certain yet. */
    private @Nullable ClockReading there;
    /** What the present connection answered, oldest first, thinned out. */
    private final Deque<Exchange> answered = new ArrayDeque<>();

    private final SlidingMaximum slowest;

    private record Exchange(ClockReading sent, ClockReading answered) {}

    /**
     * @param sessionTimeout the session's time-out, as the server said it
     * @param margin how long a touch may take from the server we talk to to the leader
     * @param asked before the server made the session; empty if nobody knows
     * @param before before the present connection was made; empty if nobody knows
     * @param since when the present connection was there, as far as that was told
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
    }

    /** The present connection is there {@code now}. */
    public void connected(ClockReading now) {
        there = now;
    }

    /** A request is answered {@code now}, maybe one of the former connection that waited for this one. */
    public void heard(ClockReading sent, ClockReading now) {
        slowest.add(now.since(sent.isAfter(since) ? sent : since), now);
    }

    /** A request sent on the present connection is answered {@code now}, and proves nothing by itself. */
    public void answered(ClockReading sent, ClockReading now) {
        heard(sent, now);
        // Who only reads would remember all of it: what is too old proves nothing any more.
        while (!answered.isEmpty() && answered.getFirst().sent().plus(life).reachedAt(now)) {
            answered.removeFirst();
        }
        Exchange last = answered.peekLast();
        if (last == null || sent.isAfter(last.sent().plus(apart))) {
            answered.addLast(new Exchange(sent, now));
        }
    }

    /**
     * The same of a write that was committed: until when the server keeps the session at least, if it proves that.
     *
     * @param standstill for how long this process stood still at most within the time-out before it was sent
     */
    public Optional<ClockReading> committed(ClockReading sent, ClockReading now, Duration standstill) {
        Optional<ClockReading> pair = lastKnownBefore(sent);
        answered(sent, now);
        ClockReading ping = sent.minus(pinged.plus(slowest.within(span, now)).plus(standstill));
        Optional<ClockReading> made = asked.map(moment -> moment.minus(margin));
        return later(touchBy(ping), later(pair, made)).map(touch -> touch.plus(life));
    }

    /** How many requests are remembered. */
    int remembered() {
        return answered.size();
    }

    /** The sending of the last request that the leader knew of for certain when a write sent at {@code sent} came to it. */
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

    /** When the leader heard of us by a ping, or, when there may have been none yet, by the making of the connection. */
    private Optional<ClockReading> touchBy(ClockReading ping) {
        boolean maybeNone = there == null || there.isAfter(ping);
        return maybeNone ? before.map(lost -> ping.isAfter(lost) ? lost : ping) : Optional.of(ping);
    }

    private static Optional<ClockReading> later(Optional<ClockReading> one, Optional<ClockReading> other) {
        return other.isEmpty() || (one.isPresent() && one.get().isAfter(other.get())) ? one : other;
    }
}
