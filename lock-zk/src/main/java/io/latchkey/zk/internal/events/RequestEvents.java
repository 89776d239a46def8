// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of one request, told once and in order to whoever wants to know. Told from several threads: the caller's,
 * the one that carries out events, that of whoever releases or finds the lease over. What is said under its monitor only
 * queues.
 */
public final class RequestEvents {
    private static final Logger LOG = LoggerFactory.getLogger(RequestEvents.class);

    private final ClientEvents signals;
    private final LockObserver.Request about;
    private final List<LockTarget> members;
    private final String thread;
    /** The id of that thread. */
    private final long caller;

    private final long askedAt;
    /** Told instead of the observer that this one is queued. */
    private final @Nullable RequestEvents toldQueued;

    private long grantedAt;
    private long token = Event.Created.UNKNOWN_TOKEN;
    private boolean over;
    private volatile boolean callerWaits;
    private JfrEvents.@Nullable Wait wait;
    private JfrEvents.@Nullable Hold hold;

    /**
     * In the caller's thread.
     *
     * @param path the first member's, as the user named it
     */
    public RequestEvents(ClientEvents signals, List<LockTarget> members, String path) {
        this.signals = signals;
        this.members = members;
        this.thread = Thread.currentThread().getName();
        this.caller = Thread.currentThread().getId();
        this.askedAt = signals.nanos();
        this.about = new LockObserver.Request(
                signals.nextRequest(), path, describe(members), members.get(0).label());
        this.toldQueued = null;
    }

    private RequestEvents(RequestEvents whole, List<LockTarget> members, boolean tellsQueued) {
        this.signals = whole.signals.muted();
        this.members = members;
        this.thread = whole.thread;
        this.caller = whole.caller;
        this.callerWaits = whole.callerWaits;
        this.askedAt = signals.nanos();
        this.about =
                new LockObserver.Request(whole.about.id(), whole.about.path(), describe(members), whole.about.label());
        this.toldQueued = tellsQueued ? whole : null;
    }

    /**
     * For a request that is made on behalf of this one, and tells no observer of itself.
     *
     * @param tellsQueued whether this one is queued when that one is
     */
    public RequestEvents ofPart(List<LockTarget> members, boolean tellsQueued) {
        return new RequestEvents(this, members, tellsQueued);
    }

    private static String describe(List<LockTarget> members) {
        Recipe first = members.get(0).recipe();
        return members.size() == 1 ? first.describe() : "multi-lock of " + members.size();
    }

    public LockObserver.Request about() {
        return about;
    }

    /** Who asked. */
    public String thread() {
        return thread;
    }

    public List<LockTarget> members() {
        return members;
    }

    /** The thread that asked waits for the answer, or has waited for it: it has the lease. */
    public void callerWaits() {
        callerWaits = true;
    }

    /** Whether the same thread asked for both, and waits or has waited for both. */
    public boolean sameCaller(RequestEvents other) {
        return caller == other.caller && callerWaits && other.callerWaits;
    }

    /** When it was granted, or asked for if it was not. */
    public synchronized Instant since(ClockReading now) {
        long at = token == Event.Created.UNKNOWN_TOKEN ? askedAt : grantedAt;
        return Instant.ofEpochMilli(now.wallMillis()).minusNanos(now.nanos() - at);
    }

    /** In the caller's thread. */
    public void requested() {
        if (signals.recorded()) {
            JfrEvents.requested(about);
            wait = JfrEvents.beginWait();
        }
        if (signals.observed()) {
            signals.tell(observer -> observer.requested(about));
        }
    }

    /** Unless it has ended: its caller may have given up in another thread. */
    public synchronized void queued(int position) {
        if (toldQueued != null) {
            toldQueued.queued(position);
        }
        if (over) {
            return;
        }
        if (signals.recorded()) {
            JfrEvents.queued(about, position);
        }
        if (signals.observed()) {
            signals.tell(observer -> observer.queued(about, position));
        }
    }

    /** Before its caller has the lease; who has given up by then is told no more. */
    public void granted(long tokenOfLease) {
        synchronized (this) {
            if (over) {
                return;
            }
            token = tokenOfLease;
            grantedAt = signals.nanos();
            if (signals.recorded()) {
                hold = JfrEvents.beginHold();
            }
            if (signals.observed()) {
                Duration waited = Duration.ofNanos(grantedAt - askedAt);
                signals.tell(observer -> observer.granted(about, tokenOfLease, waited));
            }
        }
        LOG.debug("Granted: {}, token {}", about, tokenOfLease);
    }

    /** The lease has its caller, in whose thread this is. */
    public void received() {
        JfrEvents.Wait ended;
        synchronized (this) {
            ended = wait;
            wait = null;
        }
        if (ended != null) {
            JfrEvents.granted(ended, about, token());
        }
    }

    private synchronized long token() {
        return token;
    }

    /** Unless it was granted before that. */
    public void notGranted(LockObserver.AcquireFailure failure) {
        Duration waited = Duration.ofNanos(signals.nanos() - askedAt);
        synchronized (this) {
            if (over || token != Event.Created.UNKNOWN_TOKEN) {
                return;
            }
            over = true;
            if (signals.observed()) {
                signals.tell(observer -> observer.notGranted(about, failure, waited));
            }
        }
        if (signals.recorded()) {
            JfrEvents.notGranted(about, failure, waited);
        }
        LOG.debug("Not granted: {}, {}", about, failure);
    }

    public synchronized void suspect() {
        if (over) {
            return;
        }
        long ofLease = token;
        if (signals.recorded()) {
            JfrEvents.suspect(about, ofLease);
        }
        if (signals.observed()) {
            signals.tell(observer -> observer.suspect(about, ofLease));
        }
    }

    public void lost(LossCause cause) {
        Duration held;
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            held = Duration.ofNanos(signals.nanos() - grantedAt);
            long ofLease = token;
            if (signals.observed()) {
                signals.tell(observer -> observer.lost(about, ofLease, cause, held));
            }
        }
        received();
        if (signals.recorded()) {
            JfrEvents.lost(about, token(), cause, held);
        }
        signals.logLoss(about, token(), cause, held);
    }

    /** In the thread that lets go. */
    public void released() {
        JfrEvents.Hold ended;
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            ended = hold;
            long ofLease = token;
            if (signals.observed()) {
                Duration held = Duration.ofNanos(signals.nanos() - grantedAt);
                signals.tell(observer -> observer.released(about, ofLease, held));
            }
        }
        received();
        if (ended != null) {
            JfrEvents.released(ended, about, token());
        }
        LOG.debug("Released: {}, token {}", about, token());
    }
}
