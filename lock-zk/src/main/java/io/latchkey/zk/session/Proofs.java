// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * What answered requests prove about how long the server will keep the session (protocol section 8).
 *
 * <p>The server expires a session one time-out after it was last <em>touched</em>. A committed write proves that the
 * session lived when the leader took it, not that the leader touched it: behind a follower, touches reach the leader
 * only with the follower's answers to its pings, every half tick. So a request answered at the server we are connected
 * to touches the session there, at the earliest when it was sent; and a committed write on the same connection, sent at
 * least the <em>margin</em> later, proves that the follower had been heard in between. With no such pair, a lone
 * committed write counts from the client's latest ping before it, at most a third of the time-out earlier, and the
 * margin before that.
 */
final class Proofs {
    /** What is taken off for clocks that do not run alike: one part in a hundred. */
    private static final int DRIFT = 100;

    private final Duration margin;
    /** How far apart answered requests are remembered. */
    private final Duration apart;
    /** How long a session lives at least after a touch. */
    private final Duration byTouch;
    /** How long a session lives at least after a committed write with no touch known before it. */
    private final Duration byWriteAlone;
    /** When requests that the present connection answered were sent, oldest first, thinned out. */
    private final Deque<Moment> answered = new ArrayDeque<>();

    /**
     * @param sessionTimeout the session's time-out, as the server said it
     * @param margin how long a touch may take from the server we talk to to the leader
     */
    Proofs(Duration sessionTimeout, Duration margin) {
        long timeout = sessionTimeout.toNanos();
        long drift = timeout / DRIFT;
        this.margin = margin;
        this.apart = Duration.ofNanos(margin.toNanos() / 8);
        this.byTouch = Duration.ofNanos(timeout - drift);
        this.byWriteAlone = Duration.ofNanos(timeout - timeout / 3 - margin.toNanos() - drift);
    }

    /** A request sent at {@code sent} was answered, and proves nothing by itself. */
    void answered(Moment sent) {
        Moment last = answered.peekLast();
        if (last == null || sent.isAfter(last.plus(apart))) {
            answered.addLast(sent);
        }
    }

    /** A write sent at {@code sent} was committed: until when the server keeps the session at least. */
    Moment committed(Moment sent) {
        Moment deadline = sent.plus(byWriteAlone);
        Optional<Moment> touch = lastAtLeastMarginBefore(sent);
        if (touch.isPresent()) {
            Moment later = touch.get().plus(byTouch);
            if (later.isAfter(deadline)) {
                deadline = later;
            }
        }
        answered(sent);
        return deadline;
    }

    private Optional<Moment> lastAtLeastMarginBefore(Moment sent) {
        Moment found = null;
        while (!answered.isEmpty() && !answered.getFirst().plus(margin).isAfter(sent)) {
            found = answered.removeFirst();
        }
        if (found == null) {
            return Optional.empty();
        }
        answered.addFirst(found);
        return Optional.of(found);
    }
}
