// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.SessionStatus;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The events of one client, passed to its observer if it has one, to Flight Recorder if the runtime has it, and to the
 * log. Thread-safe; no method blocks or throws.
 */
public final class ClientEvents {
    /** The module jdk.jfr may be missing from a custom runtime image. */
    private static final boolean FLIGHT_RECORDER =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final Optional<ObserverDispatcher> dispatcher;
    private final ClientLog log;
    private final boolean recorded;
    private final Optional<LossLog> losses;
    private final Optional<ConnectionLog> connection;
    private final Clock time;
    private final AtomicLong requests;
    /** Written under the monitor, on the serial executor. */
    private boolean closed;
    /** The number of requests that the observer was called for and that have not ended. Under the monitor. */
    private long open;
    /** Written on the serial executor only. */
    private volatile SessionStatus view;

    /**
     * @param timeout the session timeout that the client asks for
     */
    public ClientEvents(Outbox outbox, Clock time, Duration timeout) {
        this.dispatcher = outbox.observer();
        this.log = outbox.log();
        this.recorded = FLIGHT_RECORDER;
        this.losses = Optional.of(new LossLog(log, time));
        this.connection = Optional.of(new ConnectionLog(log, time));
        this.time = time;
        this.requests = new AtomicLong();
        this.view = new SessionStatus(SessionState.DISCONNECTED, 0, wallTime(), timeout);
    }

    private ClientEvents(ClientEvents muted) {
        this.dispatcher = Optional.empty();
        this.log = muted.log;
        this.recorded = false;
        this.losses = Optional.empty();
        this.connection = Optional.empty();
        this.time = muted.time;
        this.requests = muted.requests;
        this.view = muted.view;
    }

    /** Returns events of the same client that are not reported. */
    ClientEvents muted() {
        return new ClientEvents(this);
    }

    long nextRequest() {
        return requests.incrementAndGet();
    }

    long nanos() {
        return time.nanos();
    }

    /** Logs what happens to single requests. */
    void debug(String line, Object... arguments) {
        log.debugRequest(line, arguments);
    }

    /** Returns whether {@link JfrEvents} may be used. */
    boolean recorded() {
        return recorded;
    }

    /** Reports a new request, and returns whether it is reported: it is not if the client is closed. */
    synchronized boolean requested(LockObserver.Request about) {
        if (closed || dispatcher.isEmpty()) {
            return false;
        }
        open++;
        announce(observer -> observer.requested(about));
        return true;
    }

    /** Notes that the end of such a request has been reported. */
    synchronized void ended() {
        open--;
        announceClosed();
    }

    /** Reports CLOSED once the requests have ended whose callers were faster than the close. */
    private void announceClosed() {
        if (closed && open == 0) {
            dispatcher.ifPresent(last -> last.announceLast(observer -> observer.sessionChanged(SessionState.CLOSED)));
        }
    }

    void announce(Consumer<LockObserver> what) {
        dispatcher.ifPresent(observer -> observer.announce(what));
    }

    void logLoss(LockObserver.Request request, long token, LossCause cause, Duration held) {
        losses.ifPresent(log -> log.lost(
                request.path() + (request.label().isEmpty() ? "" : " for " + request.label()), token, cause, held));
    }

    /**
     * Notes that the connection is lost, with the number of leases held and the time that they stay valid. On the
     * serial executor.
     */
    public void connectionLost(int leases, Duration left) {
        if (!closed) {
            connection.ifPresent(log -> log.lost(leases, left));
        }
    }

    private Instant wallTime() {
        return Instant.ofEpochMilli(time.wallMillis());
    }

    /** Returns the session as it is known now; from any thread. */
    public SessionStatus view() {
        return view;
    }

    /**
     * Notes the session and the timeout that the server granted. On the serial executor.
     *
     * @param id the id of the session
     * @param logged whether a change is logged; for a borrowed session this client has asked for no other timeout
     */
    public void timeoutGranted(long id, Duration timeout, boolean logged) {
        SessionStatus before = view;
        if (logged && !timeout.equals(before.timeout())) {
            connection.ifPresent(log -> log.timeoutChanged(before.timeout(), timeout));
        }
        view = new SessionStatus(before.state(), id, before.since(), timeout);
    }

    /** Notes a change of the session. CLOSED is the observer's last call. On the serial executor. */
    public void session(SessionState state) {
        if (closed) {
            return;
        }
        view = new SessionStatus(state, view.id(), wallTime(), view.timeout());
        if (state == SessionState.CLOSED) {
            synchronized (this) {
                closed = true;
                announceClosed();
            }
            losses.ifPresent(LossLog::close);
        } else {
            announce(observer -> observer.sessionChanged(state));
        }
        if (recorded) {
            JfrEvents.session(state);
        }
        if (state == SessionState.CONNECTED) {
            connection.ifPresent(ConnectionLog::connected);
        } else if (state == SessionState.EXPIRED) {
            connection.ifPresent(ConnectionLog::sessionOver);
        }
    }
}
