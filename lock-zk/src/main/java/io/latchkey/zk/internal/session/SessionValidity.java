// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.threads.SerialExecutor;
import io.latchkey.zk.internal.validity.ClockReading;
import io.latchkey.zk.internal.validity.SessionExpiryBound;
import io.latchkey.zk.internal.validity.ValidityPeriod;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Until when the leases of one session are valid: the time-out, what answers prove on the present connection, the validity period that
 * follows from that, and the holders that are told when it is over. Confined to the serial executor, but for what is volatile.
 */
public final class SessionValidity {
    private final ClientContext context;
    /** Before the server made the session; nobody knows of a borrowed one. */
    private final Optional<ClockReading> asked;
    /** Before anything was sent in it. */
    private final ClockReading opened;
    /** Before the present connection was made: when the former was found lost. */
    private Optional<ClockReading> beforeConnection;

    private Duration timeout;
    /** What the server says; believed once a beat on the connection has proved it, if it is longer than before. */
    private Duration offered;

    private SessionExpiryBound proofs;
    private volatile @Nullable ValidityPeriod term;
    private final RestartableTimer termEnd;
    private final Set<SessionRequest> holding = new LinkedHashSet<>();

    SessionValidity(ClientContext context) {
        this.context = context;
        this.termEnd = new RestartableTimer(context, this::termEnds);
        this.timeout = context.sessionTimeout();
        this.offered = timeout;
        this.opened = context.now();
        this.asked = context.makesSessions() ? Optional.of(opened) : Optional.empty();
        this.beforeConnection = asked;
        this.proofs = newProofs();
    }

    /** The present period; a lease is granted only in one. */
    public ValidityPeriod term() {
        return Objects.requireNonNull(term, "nothing was ever committed in this session");
    }

    boolean isValid() {
        ValidityPeriod present = term;
        return present != null && present.isValid();
    }

    Duration remaining() {
        ValidityPeriod present = term;
        return present == null ? Duration.ZERO : present.remaining();
    }

    /** The time-out of the session, as far as it is believed. */
    Duration timeout() {
        return timeout;
    }

    /** How long a touch may take from a server to the leader. */
    Duration margin() {
        return context.margin(timeout);
    }

    // ---- the holders

    public void holds(SessionRequest request) {
        holding.add(request);
    }

    public void holdsNoMore(SessionRequest request) {
        holding.remove(request);
    }

    /** Whether a lease of this session could be harmed by the loss of the connection. */
    boolean hasHolders() {
        return !holding.isEmpty();
    }

    // ---- the connection

    /**
     * The session has a connection, on which the server says {@code sessionTimeout}. Until that connection has proved something the
     * shorter of both time-outs counts (docs/protocol.md, "Validity period"). Says whether that is shorter than before.
     */
    boolean connectedWith(Duration sessionTimeout, boolean first) {
        boolean shorter = sessionTimeout.compareTo(timeout) < 0;
        ValidityPeriod present = term;
        if (shorter && present != null) {
            present.shorten(timeout.minus(sessionTimeout));
            if (termEnd.isSet()) {
                termEnd.set(present.remaining());
            }
        }
        context.signals().timeoutGranted(sessionTimeout, !first || context.makesSessions());
        offered = sessionTimeout;
        if (first || shorter) {
            timeout = sessionTimeout;
        }
        proofs = newProofs();
        return shorter;
    }

    /** The connection is proved: from now on a longer time-out counts. Says whether there is one. */
    boolean believesOffer() {
        boolean longer = offered.compareTo(timeout) > 0;
        if (longer) {
            timeout = offered;
            proofs = newProofs();
        }
        return longer;
    }

    /** The present connection is known to the servers, from now on. */
    void connected() {
        proofs.connected(context.now());
    }

    /**
     * The session is a borrowed handle's, of whose connection the age is not known: only a pair proves that the session lives. The first
     * half of one is the request whose answer told of the connection. Says whether that is so.
     */
    boolean beginsPair() {
        if (asked.isEmpty()) {
            proofs.answered(opened, context.now());
        }
        return asked.isEmpty();
    }

    /**
     * What was sent before proves nothing any more.
     *
     * @param lost whether there was a connection until now
     */
    void connectionLost(boolean lost) {
        if (lost) {
            beforeConnection = Optional.of(context.now());
        }
        proofs = newProofs();
    }

    /** Tells the holders that the connection is lost. */
    void suspect() {
        SerialExecutor.attemptEach(holding, SessionRequest::suspect);
    }

    /** Tells observers that the client is out of touch, and the holders if their time has run out. */
    void away() {
        context.signals().away(holding.size(), remaining());
        checkTerm();
    }

    private SessionExpiryBound newProofs() {
        return new SessionExpiryBound(timeout, context.margin(timeout), asked, beforeConnection, context.now());
    }

    // ---- what answers prove

    /** A request that commits nothing was answered on the connection that it was sent on. */
    void answered(ClockReading sent, ClockReading now) {
        proofs.answered(sent, now);
    }

    /** A request was answered that proves no more than that the server was there. */
    void heard(ClockReading sent, ClockReading now) {
        proofs.heard(sent, now);
    }

    /** The quorum has committed a request that was sent on the present connection. */
    void committed(ClockReading sent, ClockReading now) {
        Duration standstill = context.time().standstill(timeout.plus(now.since(sent)));
        Optional<ClockReading> proved = proofs.committed(sent, now, standstill);
        if (proved.isEmpty()) {
            return;
        }
        ClockReading deadline = proved.get();
        ValidityPeriod present = term;
        if (present != null && present.prolong(deadline)) {
            return;
        }
        if (present != null) {
            lapse();
            // The former may have ended by the wall clock alone: its alarm would ring too late for the next one.
            termEnd.cancel();
        }
        if (!deadline.reachedAt(now)) {
            term = new ValidityPeriod(context.time(), deadline);
        }
    }

    // ---- its end

    /** Looks whether the term has run out while something was held in it, maybe by the wall clock alone, which sets off no alarm. */
    public void checkTerm() {
        ValidityPeriod present = term;
        if (present != null && !present.isValid()) {
            lapse();
        }
    }

    private void lapse() {
        SerialExecutor.attemptEach(holding, SessionRequest::lapsed);
    }

    /** Loss is told when the deadline passes, not when somebody looks. */
    void armTermEnd() {
        ValidityPeriod present = term;
        if (!termEnd.isSet() && present != null && !present.isOver()) {
            termEnd.set(present.remaining());
        }
    }

    private void termEnds() {
        checkTerm();
        if (!holding.isEmpty()) {
            armTermEnd();
        }
    }

    /** The session is over. */
    void end() {
        ValidityPeriod present = term;
        if (present != null) {
            present.end();
        }
        termEnd.cancel();
        holding.clear();
    }
}
