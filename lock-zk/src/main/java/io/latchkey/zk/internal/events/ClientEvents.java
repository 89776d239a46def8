// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionView;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Where one client's news goes out: to its observer if it has one, to the flight recorder if the machine has one, and to
 * the log. Any thread may tell; nothing of it blocks or throws.
 */
public final class ClientEvents {
    /** The module may be missing in an image that was made without it. */
    private static final boolean FLIGHT_RECORDER =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final Optional<ObserverDispatcher> feed;
    private final boolean recorded;
    private final Optional<LossLog> losses;
    private final Optional<ConnectionLog> connection;
    private final Clock time;
    private final AtomicLong requests;
    private boolean closed;
    /** Written on the serial executor. */
    private volatile SessionView view;

    /**
     * @param timeout the session timeout that the client asks for
     */
    public ClientEvents(Optional<ObserverDispatcher> feed, Clock time, Duration timeout) {
        this.feed = feed;
        this.recorded = FLIGHT_RECORDER;
        this.losses = Optional.of(new LossLog(time));
        this.connection = Optional.of(new ConnectionLog(time));
        this.time = time;
        this.requests = new AtomicLong();
        this.view = new SessionView(LockObserver.SessionState.DISCONNECTED, wallTime(), timeout);
    }

    private ClientEvents(ClientEvents muted) {
        this.feed = Optional.empty();
        this.recorded = false;
        this.losses = Optional.empty();
        this.connection = Optional.empty();
        this.time = muted.time;
        this.requests = muted.requests;
        this.view = muted.view;
    }

    /** One of the same client that tells nobody. */
    ClientEvents muted() {
        return new ClientEvents(this);
    }

    long nextRequest() {
        return requests.incrementAndGet();
    }

    long nanos() {
        return time.nanos();
    }

    boolean observed() {
        return feed.isPresent();
    }

    /** Only then may {@link JfrEvents} be touched. */
    boolean recorded() {
        return recorded;
    }

    void tell(Consumer<LockObserver> what) {
        feed.ifPresent(observer -> observer.tell(what));
    }

    void logLoss(LockObserver.Request request, long token, LossCause cause, Duration held) {
        losses.ifPresent(log -> log.lost(
                request.path() + (request.label().isEmpty() ? "" : " for " + request.label()), token, cause, held));
    }

    /** The connection is away; how many leases are held, and for how long they stay valid. On the serial executor. */
    public void away(int leases, Duration left) {
        if (!closed) {
            connection.ifPresent(log -> log.lost(leases, left));
        }
    }

    private Instant wallTime() {
        return Instant.ofEpochMilli(time.wallMillis());
    }

    /** The session as it is known now; from any thread. */
    public SessionView view() {
        return view;
    }

    /**
     * The server gives a session of this length. On the serial executor.
     *
     * @param logged whether a change is news: of a borrowed session nobody has asked for another timeout before
     */
    public void timeoutGranted(Duration timeout, boolean logged) {
        SessionView before = view;
        if (logged && !timeout.equals(before.timeout())) {
            connection.ifPresent(log -> log.timeoutChanged(before.timeout(), timeout));
        }
        view = new SessionView(before.state(), before.since(), timeout);
    }

    /** On the serial executor. */
    public void session(LockObserver.SessionState state) {
        if (closed) {
            return;
        }
        view = new SessionView(state, wallTime(), view.timeout());
        tell(observer -> observer.sessionChanged(state));
        if (recorded) {
            JfrEvents.session(state);
        }
        if (state == LockObserver.SessionState.CONNECTED) {
            connection.ifPresent(ConnectionLog::connected);
        } else if (state == LockObserver.SessionState.EXPIRED) {
            connection.ifPresent(ConnectionLog::sessionOver);
        }
        if (state == LockObserver.SessionState.CLOSED) {
            closed = true;
            losses.ifPresent(LossLog::close);
        }
    }
}
