// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockObserver.AcquireFailure;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.threads.ThreadIdentity;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The events of one request, each reported once and in order. They come from several threads: the caller's, the one
 * that runs the engine's tasks, and the one that releases or finds the lease lost. Under the monitor, which gives the
 * order, calls are queued and events of Flight Recorder written.
 */
public final class RequestEvents {
    private final ClientEvents events;
    private final LockObserver.Request about;
    private final List<LockTarget> members;
    private final String thread;
    /** The thread that asked for the lock. */
    private final ThreadIdentity caller;

    private final long askedAt;
    /** The request on behalf of which this one is made; null if a caller waits for this one. */
    private final @Nullable RequestEvents partOf;

    /** Reported as queued when this request is, in place of a report of this one; null if there is no such request. */
    private final @Nullable RequestEvents queuedInstead;

    /** Whether the listeners hear of it. Set before anything can happen to it; not for a part of another request. */
    private boolean isReported;

    private long grantedAt;
    private long token = Event.Created.UNKNOWN_TOKEN;
    private boolean over;
    private volatile boolean callerWaits;
    private volatile boolean queued;
    private volatile boolean putOff;

    /** Called in the caller's thread. */
    public RequestEvents(ClientEvents events, List<LockTarget> members) {
        this.events = events;
        this.members = members;
        this.thread = Thread.currentThread().getName();
        this.caller = ThreadIdentity.current();
        this.askedAt = events.nanos();
        this.about = about(
                events.nextRequest(),
                members.get(0).path().shown(),
                members,
                members.get(0).label());
        this.queuedInstead = null;
        this.partOf = null;
    }

    private RequestEvents(RequestEvents whole, List<LockTarget> members, boolean tellsQueued) {
        this.events = whole.events;
        this.members = members;
        this.thread = whole.thread;
        this.caller = whole.caller;
        this.callerWaits = whole.callerWaits;
        this.askedAt = events.nanos();
        this.about = about(whole.about.id(), whole.about.path(), members, whole.about.label());
        this.queuedInstead = tellsQueued ? whole : null;
        this.partOf = whole;
    }

    /**
     * Returns the events of a request that is made on behalf of this one, and is not reported itself.
     *
     * @param tellsQueued whether this request is reported as queued when that one is
     */
    public RequestEvents ofPart(List<LockTarget> members, boolean tellsQueued) {
        return new RequestEvents(this, members, tellsQueued);
    }

    /** The same for a request that no caller waits for. */
    public RequestEvents ofNoCaller(List<LockTarget> members) {
        RequestEvents part = new RequestEvents(this, members, false);
        part.callerWaits = false;
        return part;
    }

    private static LockObserver.Request about(long id, String path, List<LockTarget> members, String label) {
        Recipe first = members.get(0).recipe();
        return members.size() == 1
                ? new LockObserver.Request(id, path, kind(first), first.permits(), label)
                : new LockObserver.Request(id, path, LockObserver.Kind.MULTI_LOCK, members.size(), label);
    }

    private static LockObserver.Kind kind(Recipe recipe) {
        return switch (recipe.tag()) {
            case WRITE ->
                recipe.purpose().kind() == Kind.MUTEX ? LockObserver.Kind.MUTEX : LockObserver.Kind.WRITE_LOCK;
            case READ -> LockObserver.Kind.READ_LOCK;
            case LEASE -> LockObserver.Kind.SEMAPHORE;
        };
    }

    public LockObserver.Request about() {
        return about;
    }

    /** Returns the name of the thread that asked for the lock. */
    public String thread() {
        return thread;
    }

    public List<LockTarget> members() {
        return members;
    }

    /** Returns the smallest limit of its members: the longest time for which the lease is held. */
    public Optional<Duration> limit() {
        return members.stream().flatMap(member -> member.limit().stream()).min(Duration::compareTo);
    }

    /** Notes that the thread that asked waits for the result, or has waited for it and has the lease. */
    public void callerWaits() {
        callerWaits = true;
    }

    /** Returns whether the thread that asked waits for the result, or has waited for it. */
    public boolean isAwaited() {
        return callerWaits;
    }

    /** Returns the thread that asked. */
    public ThreadIdentity caller() {
        return caller;
    }

    /** Returns the request as a client is shown it. */
    public Diagnosis.OwnRequest toDiagnosis(ClockReading now, boolean waitsForItself) {
        return new Diagnosis.OwnRequest(about, since(now), thread, waitsForItself);
    }

    /** Returns the time of the grant, or of the call if the request is not granted. */
    public synchronized Instant since(ClockReading now) {
        long at = token == Event.Created.UNKNOWN_TOKEN ? askedAt : grantedAt;
        return Instant.ofEpochMilli(now.wallMillis()).minusNanos(now.nanos() - at);
    }

    /** Reports the call, in the caller's thread. */
    public void requested() {
        isReported = events.begun();
        announce(observer -> observer.requested(about));
    }

    private void announce(Consumer<LockObserver> what) {
        if (isReported) {
            events.announce(what);
        }
    }

    private void announceEnd(Consumer<LockObserver> what) {
        over = true;
        announce(what);
        if (isReported) {
            events.ended();
        }
    }

    /**
     * Reports the position in the queue, unless the request has ended, as its caller gave up in another thread, or was
     * granted by the node of another request.
     */
    public synchronized void queued(int position) {
        if (queuedInstead != null) {
            queuedInstead.queued(position);
        }
        if (over || token != Event.Created.UNKNOWN_TOKEN) {
            return;
        }
        queued = true;
        announce(observer -> observer.queued(about, position));
    }

    /** Notes that others are ahead of the request. Its position is reported when it is looked up. */
    public void behindOthers() {
        queued = true;
    }

    /** Notes that the servers put the request off, or that they have taken it. */
    public void putOff(boolean now) {
        putOff = now;
        if (partOf != null) {
            partOf.putOff(now);
        }
    }

    /** Returns whether the servers put the request off when it was last sent. */
    public boolean isPutOff() {
        return putOff;
    }

    /** Returns whether others were ahead of the request when it came into the queue, as far as that is known. */
    public boolean wasQueued() {
        return queued;
    }

    /** Reports the grant, before the caller has the lease. A request that was given up by then reports nothing more. */
    public synchronized void granted(long tokenOfLease) {
        if (over) {
            return;
        }
        token = tokenOfLease;
        grantedAt = events.nanos();
        Duration waited = Duration.ofNanos(grantedAt - askedAt);
        announce(observer -> observer.granted(about, tokenOfLease, waited));
    }

    /** Notes that the caller has the lease, in the caller's thread. */
    public synchronized void received() {
        if (isReported) {
            events.received(about, token);
        }
    }

    /** Reports the error with which the request ends, unless it was granted before. */
    public void failed(Throwable error) {
        LockException.Reason reason =
                error instanceof LockException refused ? refused.reason() : LockException.Reason.OTHER;
        boolean unanswered = reason == LockException.Reason.NO_ANSWER || reason == LockException.Reason.NO_SESSION;
        notGranted(unanswered ? AcquireFailure.NO_ANSWER : AcquireFailure.REFUSED, Optional.of(reason));
    }

    /** Reports that the request ended without a lease and without an error, unless it was granted before. */
    public void notGranted(AcquireFailure failure) {
        notGranted(failure, Optional.empty());
    }

    private synchronized void notGranted(AcquireFailure failure, Optional<LockException.Reason> reason) {
        if (over || token != Event.Created.UNKNOWN_TOKEN) {
            return;
        }
        Duration waited = Duration.ofNanos(events.nanos() - askedAt);
        announceEnd(observer -> observer.notGranted(about, failure, reason, waited));
    }

    public synchronized void suspect() {
        if (over) {
            return;
        }
        long ofLease = token;
        announce(observer -> observer.suspect(about, ofLease));
    }

    /** Reports the loss. One that comes before the report of the grant is reported again behind it. */
    public synchronized void lost(LossCause cause) {
        if (over || token == Event.Created.UNKNOWN_TOKEN) {
            return;
        }
        long ofLease = token;
        Duration held = Duration.ofNanos(events.nanos() - grantedAt);
        announceEnd(observer -> observer.lost(about, ofLease, cause, held));
    }

    /** Reports the release, in the thread that releases. */
    public synchronized void released() {
        if (over) {
            return;
        }
        long ofLease = token;
        Duration held = Duration.ofNanos(events.nanos() - grantedAt);
        announceEnd(observer -> observer.released(about, ofLease, held));
    }
}
