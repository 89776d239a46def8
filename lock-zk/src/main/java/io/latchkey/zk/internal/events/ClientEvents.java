// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.SessionStatus;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The events of one client, passed to each of its listeners: its observer if it has one, Flight Recorder if the runtime
 * has it, and the log. The observer is called on a thread of its own, the others in the thread of the event.
 * Thread-safe; no method blocks or throws.
 */
public final class ClientEvents {
    /** The module jdk.jfr may be missing from a custom runtime image. */
    private static final boolean FLIGHT_RECORDER =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final Optional<ObserverDispatcher> dispatcher;
    private final Optional<FlightRecorder> recorder;
    private final ConnectionLog connection;
    private final List<LockObserver> inPlace;
    private final Clock time;
    private final AtomicLong requests = new AtomicLong();
    /** Under the monitor. */
    private boolean closed;
    /** The number of requests that are reported and have not ended. Under the monitor. */
    private long open;
    /** Written under the monitor: by steps, also of a core that has failed, and by what follows a failure. */
    private volatile SessionStatus view;

    /**
     * @param timeout the session timeout that the client asks for
     * @param label the label of the client
     */
    public ClientEvents(Outbox outbox, Clock time, Duration timeout, String label) {
        this.dispatcher = outbox.observer();
        this.recorder = FLIGHT_RECORDER ? Optional.of(new FlightRecorder(label, () -> view().id())) : Optional.empty();
        this.connection = new ConnectionLog(outbox.log(), time);
        this.inPlace = new ArrayList<>(
                List.of(connection, new RequestLog(outbox.log()), new LossLog(outbox.log(), time, label)));
        recorder.ifPresent(inPlace::add);
        this.time = time;
        this.view = new SessionStatus(SessionState.DISCONNECTED, 0, wallTime(), timeout);
    }

    long nextRequest() {
        return requests.incrementAndGet();
    }

    long nanos() {
        return time.nanos();
    }

    /** Returns whether a new request is reported: it is not if the client is closed. */
    synchronized boolean begun() {
        if (!closed) {
            open++;
        }
        return !closed;
    }

    /** Notes that the end of a request has been reported. */
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
        inPlace.forEach(what);
    }

    /** Notes that the caller has the lease, in the caller's thread. */
    void received(LockObserver.Request about, long token) {
        recorder.ifPresent(recorder -> recorder.received(about, token));
    }

    /** Notes that the connection is lost, with the number of leases held and the time that they stay valid. */
    public synchronized void connectionLost(int leases, Duration left) {
        if (!closed) {
            connection.lost(leases, left);
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
     * Notes the session and the timeout that the server granted.
     *
     * @param id the id of the session
     * @param logged whether a change is logged; for a borrowed session this client has asked for no other timeout
     */
    public synchronized void timeoutGranted(long id, Duration timeout, boolean logged) {
        SessionStatus before = view;
        if (logged && !timeout.equals(before.timeout())) {
            connection.timeoutChanged(before.timeout(), timeout);
        }
        view = new SessionStatus(before.state(), id, before.since(), timeout);
    }

    /** Notes a change of the session. CLOSED is the observer's last call. */
    public synchronized void session(SessionState state) {
        if (closed) {
            return;
        }
        view = new SessionStatus(state, view.id(), wallTime(), view.timeout());
        if (state == SessionState.CLOSED) {
            closed = true;
            announceClosed();
            inPlace.forEach(listener -> listener.sessionChanged(state));
        } else {
            announce(listener -> listener.sessionChanged(state));
        }
    }
}
