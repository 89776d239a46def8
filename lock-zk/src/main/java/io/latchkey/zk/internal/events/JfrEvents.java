// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import java.time.Duration;
import java.util.Optional;
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
 * The locks' events for Flight Recorder. Waits and holds are events with a duration. A wait is written by the thread
 * that continues with the lease, a hold by the one that releases, so the stack traces are the callers'. Events that the
 * client detects by itself have no stack trace. The class may be used only if {@link ClientEvents#recorded}.
 */
final class JfrEvents {
    private JfrEvents() {}

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

        final void of(LockObserver.Request about) {
            path = about.path();
            lock = about.lock();
            request = about.id();
        }
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
    static final class Wait extends OfRequest {
        @Label("Token")
        long token;
    }

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
    static final class Suspect extends OfRequest {
        @Label("Token")
        long token;
    }

    @Name("latchkey.Lost")
    @Label("Lock Lost")
    @Description("A lease was lost")
    @StackTrace(false)
    static final class Lost extends OfRequest {
        @Label("Token")
        long token;

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
    static final class Hold extends OfRequest {
        @Label("Token")
        long token;
    }

    @Name("latchkey.Session")
    @Label("Lock Session")
    @Description("The session of a client changed its state")
    @Category("Latchkey")
    @StackTrace(false)
    static final class OfSession extends Event {
        @Label("State")
        @Nullable
        String state;
    }

    static void requested(LockObserver.Request about) {
        Requested event = new Requested();
        event.of(about);
        event.commit();
    }

    static void queued(LockObserver.Request about, int position) {
        Queued event = new Queued();
        event.of(about);
        event.position = position;
        event.commit();
    }

    /** Begins a wait; returns null if it is not recorded. */
    static @Nullable Wait beginWait() {
        Wait event = new Wait();
        if (!event.isEnabled()) {
            return null;
        }
        event.begin();
        return event;
    }

    static void granted(Wait event, LockObserver.Request about, long token) {
        event.end();
        event.of(about);
        event.token = token;
        event.commit();
    }

    static void notGranted(
            LockObserver.Request about,
            LockObserver.AcquireFailure failure,
            Optional<LockException.Reason> reason,
            Duration waited) {
        NotGranted event = new NotGranted();
        event.of(about);
        event.failure = failure.name();
        event.reason = reason.map(Enum::name).orElse(null);
        event.waited = waited.toNanos();
        event.commit();
    }

    static void suspect(LockObserver.Request about, long token) {
        Suspect event = new Suspect();
        event.of(about);
        event.token = token;
        event.commit();
    }

    static void lost(LockObserver.Request about, long token, LossCause cause, Duration held) {
        Lost event = new Lost();
        event.of(about);
        event.token = token;
        event.cause = cause.name();
        event.held = held.toNanos();
        event.commit();
    }

    /** Begins a hold; returns null if it is not recorded. */
    static @Nullable Hold beginHold() {
        Hold event = new Hold();
        if (!event.isEnabled()) {
            return null;
        }
        event.begin();
        return event;
    }

    static void released(Hold event, LockObserver.Request about, long token) {
        event.end();
        event.of(about);
        event.token = token;
        event.commit();
    }

    static void session(SessionState state) {
        OfSession event = new OfSession();
        event.state = state.name();
        event.commit();
    }
}
