// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import java.time.Duration;
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
 * The locks' events in the flight recorder. Waits and holds are events that last: a wait is written by the thread that
 * goes on with the lease, a hold by the one that lets go, so that the stack traces are the callers'. What the client finds
 * out by itself has none. Only who has asked whether there is a flight recorder may touch this class.
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
        @Description("Counts the requests of one client")
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
    @Description("A request has to wait for others")
    @StackTrace(false)
    static final class Queued extends OfRequest {
        @Label("Position")
        @Description("How many requests are before it, holders included")
        int position;
    }

    @Name("latchkey.Granted")
    @Label("Lock Granted")
    @Description("From the call that acquires until its caller goes on with the lease")
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
    @Description("From the grant until the holder lets go")
    @Threshold("10 ms")
    static final class Hold extends OfRequest {
        @Label("Token")
        long token;
    }

    @Name("latchkey.Session")
    @Label("Lock Session")
    @Description("What became of a client's session")
    @Category("Latchkey")
    @StackTrace(false)
    static final class OfSession extends Event {
        @Label("State")
        @Nullable
        String state;
    }

    static void requested(LockObserver.Request about) {
        Requested event = new Requested();
        if (event.isEnabled()) {
            event.of(about);
            event.commit();
        }
    }

    static void queued(LockObserver.Request about, int position) {
        Queued event = new Queued();
        if (event.isEnabled()) {
            event.of(about);
            event.position = position;
            event.commit();
        }
    }

    /** A wait that begins now, or null if nobody records it. */
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
        if (event.shouldCommit()) {
            event.of(about);
            event.token = token;
            event.commit();
        }
    }

    static void notGranted(LockObserver.Request about, LockObserver.AcquireFailure failure, Duration waited) {
        NotGranted event = new NotGranted();
        if (event.isEnabled()) {
            event.of(about);
            event.failure = failure.name();
            event.waited = waited.toNanos();
            event.commit();
        }
    }

    static void suspect(LockObserver.Request about, long token) {
        Suspect event = new Suspect();
        if (event.isEnabled()) {
            event.of(about);
            event.token = token;
            event.commit();
        }
    }

    static void lost(LockObserver.Request about, long token, LossCause cause, Duration held) {
        Lost event = new Lost();
        if (event.isEnabled()) {
            event.of(about);
            event.token = token;
            event.cause = cause.name();
            event.held = held.toNanos();
            event.commit();
        }
    }

    /** A hold that begins now, or null if nobody records it. */
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
        if (event.shouldCommit()) {
            event.of(about);
            event.token = token;
            event.commit();
        }
    }

    static void session(LockObserver.SessionState state) {
        OfSession event = new OfSession();
        if (event.isEnabled()) {
            event.state = state.name();
            event.commit();
        }
    }
}
