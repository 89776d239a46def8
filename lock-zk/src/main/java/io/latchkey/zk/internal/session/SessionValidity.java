// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.validity.ClockReading;
import io.latchkey.zk.internal.validity.SessionExpiryBound;
import io.latchkey.zk.internal.validity.ValidityPeriod;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The validity of one session's leases: its timeout, the proofs on the current connection, the validity period that
 * follows from them, and the holders that are notified when it ends. Confined to the serial executor, except for
 * volatile fields.
 */
public final class SessionValidity {
    private final ClientContext context;
    /** A time before the request for the session was sent; unknown for a borrowed one. */
    private final Optional<ClockReading> asked;
    /** A time before the request for the latest connection was sent; unknown for a borrowed session. */
    private Optional<ClockReading> connecting;
    /** A time before the first request of the session was sent. */
    private final ClockReading opened;
    /** A time before the current connection was established: when the former one was found lost. */
    private Optional<ClockReading> beforeConnection;

    private Duration timeout;
    /**
     * The timeout that the server granted. If it is longer than before, it counts only after a heartbeat on the
     * connection.
     */
    private Duration offered;

    private SessionExpiryBound proofs;
    private volatile @Nullable ValidityPeriod period;
    private final RestartableTimer periodEnd;
    private final Set<SessionRequest> holding = new LinkedHashSet<>();

    SessionValidity(ClientContext context) {
        this.context = context;
        this.periodEnd = new RestartableTimer(context, this::periodEnds);
        this.timeout = context.sessionTimeout();
        this.offered = timeout;
        this.opened = context.now();
        this.asked = context.makesSessions() ? Optional.of(opened) : Optional.empty();
        this.connecting = asked;
        this.beforeConnection = asked;
        this.proofs = newProofs();
    }

    /** Returns the current validity period. No lease is granted without one. */
    public ValidityPeriod period() {
        return Objects.requireNonNull(period, "no write was committed in this session yet");
    }

    boolean isValid() {
        ValidityPeriod present = period;
        return present != null && present.isValid();
    }

    Duration remaining() {
        ValidityPeriod present = period;
        return present == null ? Duration.ZERO : present.remaining();
    }

    /** Returns the session timeout that counts now. */
    public Duration timeout() {
        return timeout;
    }

    /** Returns the validity margin: how long it may take until the leader hears of a touch. */
    Duration margin() {
        return context.margin(timeout);
    }

    // ---- the holders

    public void addHolder(SessionRequest request) {
        holding.add(request);
    }

    public void removeHolder(SessionRequest request) {
        holding.remove(request);
    }

    /** Returns whether the session has holders, whose leases the loss of the connection could end. */
    boolean hasHolders() {
        return !holding.isEmpty();
    }

    // ---- the connection

    /**
     * Notes a new connection with the session timeout that the server granted. Until that connection has proved
     * something, the shorter of both timeouts counts (docs/protocol.md, "Validity period"). The heartbeat that follows
     * the barrier is scheduled by it.
     *
     * @param id the id of the session
     * @param attempted a time before the request for the connection was sent; empty if unknown
     */
    void connectedWith(long id, Duration sessionTimeout, boolean first, Optional<ClockReading> attempted) {
        boolean shorter = sessionTimeout.compareTo(timeout) < 0;
        ValidityPeriod present = period;
        if (shorter && present != null) {
            present.shorten(timeout.minus(sessionTimeout));
            if (periodEnd.isSet()) {
                periodEnd.set(present.remaining());
            }
        }
        context.events().timeoutGranted(id, sessionTimeout, !first || context.makesSessions());
        offered = sessionTimeout;
        if (first || shorter) {
            timeout = sessionTimeout;
        }
        connecting = asked.flatMap(known -> attempted.or(() -> connecting));
        proofs = newProofs();
    }

    /** Accepts the granted timeout, as the connection is proved, and returns whether it is longer than before. */
    boolean believesOffer() {
        boolean longer = offered.compareTo(timeout) > 0;
        if (longer) {
            timeout = offered;
            proofs = newProofs();
        }
        return longer;
    }

    /** Notes that the servers know the current connection. */
    void connected() {
        proofs.connected(context.now());
    }

    /**
     * Begins a pair for the session of a borrowed handle. The age of its connection is unknown, so only a pair proves
     * that the session is alive; its first half is the request whose response reported the connection. Returns whether
     * that applies.
     */
    boolean beginsPair() {
        if (asked.isEmpty()) {
            proofs.answered(opened, context.now());
        }
        return asked.isEmpty();
    }

    /**
     * Discards the proofs of the former connection.
     *
     * @param lost whether the connection could be used until now
     */
    void connectionLost(boolean lost) {
        if (lost) {
            beforeConnection = Optional.of(context.now());
        }
        proofs = newProofs();
    }

    /** Notifies the holders that the connection is lost. */
    void suspect() {
        List.copyOf(holding).forEach(SessionRequest::suspect);
    }

    /** Notifies observers of the lost connection, and the holders if their deadline has passed. */
    void reportDisconnected() {
        context.events().connectionLost(holding.size(), remaining());
        checkPeriod();
    }

    private SessionExpiryBound newProofs() {
        return new SessionExpiryBound(timeout, margin(), connecting, beforeConnection, context.now());
    }

    // ---- proofs by responses

    /** Takes a response to a request that commits nothing, on the connection that it was sent on. */
    void answered(ClockReading sent, ClockReading now) {
        proofs.answered(sent, now);
    }

    /** Takes a response that proves only that the server was reachable. */
    void heard(ClockReading sent, ClockReading now) {
        proofs.heard(sent, now);
    }

    /** Takes a response to a committed request that was sent on the current connection. */
    void committed(ClockReading sent, ClockReading now) {
        Duration standstill = context.clock().standstill(timeout.plus(now.since(sent)));
        Optional<ClockReading> proved = proofs.committed(sent, now, standstill);
        if (proved.isEmpty()) {
            return;
        }
        ClockReading deadline = proved.get();
        ValidityPeriod present = period;
        if (present != null && present.extend(deadline)) {
            return;
        }
        if (present != null) {
            lapse();
            // The former period may have ended by the wall clock alone; its timer would then fire too late for the next
            // one.
            periodEnd.cancel();
        }
        // After a slow response it is over at once.
        period = new ValidityPeriod(context.clock(), deadline);
    }

    // ---- the end of the validity period

    /** Ends the leases if the deadline has passed, possibly by the wall clock alone, for which no timer fires. */
    public void checkPeriod() {
        ValidityPeriod present = period;
        if (present != null && !present.isValid()) {
            lapse();
        }
    }

    private void lapse() {
        List.copyOf(holding).forEach(SessionRequest::lapsed);
    }

    /** Sets the timer that reports a loss when the deadline passes, without a call by the holder. */
    void armPeriodEnd() {
        ValidityPeriod present = period;
        if (!periodEnd.isSet() && present != null && !present.isOver()) {
            periodEnd.set(present.remaining());
        }
    }

    private void periodEnds() {
        checkPeriod();
        if (!holding.isEmpty()) {
            armPeriodEnd();
        }
    }

    void end() {
        ValidityPeriod present = period;
        if (present != null) {
            present.end();
        }
        periodEnd.cancel();
        holding.clear();
    }
}
