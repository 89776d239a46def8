// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * Writes the events of one client for Flight Recorder. Waits and holds are events with a duration. A wait is written by
 * the thread that continues with the lease, a hold by the one that releases, so the stack traces are the callers'.
 * Events that the client detects by itself have no stack trace. The class may be used only where the module jdk.jfr is.
 */
final class FlightRecorder implements LockObserver {
    /** By number of the request, while they are recorded. */
    private final Map<Long, Wait> waits = new ConcurrentHashMap<>();

    private final Map<Long, Hold> holds = new ConcurrentHashMap<>();

    @Category("Latchkey")
    abstract static class OfRequest extends Event {
        @Label("Path")
        @Nullable
        String path;

        @Label("Lock")
        @Nullable
        String lock;

        @Label("Request")
        @Description("Number of the request, counted for each client")
        long request;

        @Label("Label")
        @Description("Label of the request, or else of the client")
        @Nullable
        String label;

        @Label("Session")
        @Description("Id of the client's session in hexadecimal, as in the servers' logs")
        @Nullable
        String session;
    }

    abstract static class OfLease extends OfRequest {
        @Label("Token")
        long token;
    }

    @Name("latchkey.Requested")
    @Label("Lock Requested")
    @Description("A caller asks for a lock")
    @Enabled(false)
    static final class Requested extends OfRequest {}

    @Name("latchkey.Queued")
    @Label("Lock Queued")
    @Description("A request waits for others")
    @StackTrace(false)
    static final class Queued extends OfRequest {
        @Label("Position")
        @Description("Number of requests before it, including holders")
        int position;
    }

    @Name("latchkey.Granted")
    @Label("Lock Granted")
    @Description("From the call until its caller continues with the lease")
    @Threshold("10 ms")
    static final class Wait extends OfLease {}

    @Name("latchkey.NotGranted")
    @Label("Lock Not Granted")
    @Description("A request ended without a lease")
    @StackTrace(false)
    static final class NotGranted extends OfRequest {
        @Label("Failure")
        @Nullable
        String failure;

        @Label("Reason")
        @Description("The reason of the error, if there is one")
        @Nullable
        String reason;

        @Label("Waited")
        @Timespan(Timespan.NANOSECONDS)
        long waited;
    }

    @Name("latchkey.Suspect")
    @Label("Lock Suspect")
    @Description("The connection of a holder is lost")
    @StackTrace(false)
    static final class Suspect extends OfLease {}

    @Name("latchkey.Lost")
    @Label("Lock Lost")
    @Description("A lease was lost")
    @StackTrace(false)
    static final class Lost extends OfLease {
        @Label("Cause")
        @Nullable
        String cause;

        @Label("Held")
        @Timespan(Timespan.NANOSECONDS)
        long held;
    }

    @Name("latchkey.Released")
    @Label("Lock Released")
    @Description("From the grant until the holder releases")
    @Threshold("10 ms")
    static final class Hold extends OfLease {}

    @Name("latchkey.Session")
    @Label("Lock Session")
    @Description("The session of a client changed its state")
    @Category("Latchkey")
    @StackTrace(false)
    static final class OfSession extends Event {
        @Label("State")
        @Nullable
        String state;

        @Label("Session")
        @Nullable
        String session;
    }

    private final String label;
    private final LongSupplier session;

    /**
     * @param label the label of the client
     * @param session the id of its session
     */
    FlightRecorder(String label, LongSupplier session) {
        this.label = label;
        this.session = session;
    }

    private void write(OfRequest event, Request about) {
        if (event.isEnabled()) {
            event.path = about.path();
            event.lock = about.lock();
            event.request = about.id();
            event.label = about.label().isEmpty() ? label : about.label();
            event.session = sessionId();
            event.commit();
        }
    }

    private String sessionId() {
        return "0x" + Long.toHexString(session.getAsLong());
    }

    private void write(OfLease event, Request about, long token) {
        event.token = token;
        write(event, about);
    }

    @Override
    public void requested(Request about) {
        write(new Requested(), about);
        Wait wait = new Wait();
        if (wait.isEnabled()) {
            wait.begin();
            waits.put(about.id(), wait);
        }
    }

    @Override
    public void queued(Request about, int position) {
        Queued event = new Queued();
        event.position = position;
        write(event, about);
    }

    @Override
    public void granted(Request about, long token, Duration waited) {
        Hold hold = new Hold();
        if (hold.isEnabled()) {
            hold.begin();
            holds.put(about.id(), hold);
        }
    }

    /** Ends the wait, as its caller has the lease or will not get it. */
    void received(Request about, long token) {
        Wait wait = waits.remove(about.id());
        if (wait != null) {
            write(wait, about, token);
        }
    }

    @Override
    public void notGranted(
            Request about, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
        waits.remove(about.id());
        NotGranted event = new NotGranted();
        event.failure = failure.name();
        event.reason = reason.map(Enum::name).orElse(null);
        event.waited = waited.toNanos();
        write(event, about);
    }

    @Override
    public void suspect(Request about, long token) {
        write(new Suspect(), about, token);
    }

    @Override
    public void lost(Request about, long token, LossCause cause, Duration held) {
        received(about, token);
        holds.remove(about.id());
        Lost event = new Lost();
        event.cause = cause.name();
        event.held = held.toNanos();
        write(event, about, token);
    }

    @Override
    public void released(Request about, long token, Duration held) {
        received(about, token);
        Hold hold = holds.remove(about.id());
        if (hold != null) {
            write(hold, about, token);
        }
    }

    @Override
    public void sessionChanged(SessionState state) {
        OfSession event = new OfSession();
        event.state = state.name();
        event.session = sessionId();
        event.commit();
    }
}
