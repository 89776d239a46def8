// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The interruption of one thread while it runs a body under a lease. {@link Lease#interruptOnLoss} hands it to the
 * lease, which calls {@link #lost} when it is lost. Only {@link Acquirable#call(OnLoss, LeaseFunction)} and
 * {@link Leadership} make one.
 *
 * <p>The thread is interrupted once at most, not while it is interrupted already, and never after its body has ended.
 * A body under another lock inside of this one may have cleared the status: the interrupt is sent again when that body
 * has ended.
 */
public final class BodyInterruption {
    /** Of the body that the thread runs now; a body may acquire another lock and run a body under that. */
    private static final ThreadLocal<@Nullable BodyInterruption> INNERMOST = new ThreadLocal<>();

    private final Thread thread;
    private final @Nullable BodyInterruption outer;

    // Under the monitor, so that no interrupt is under way once the body has ended.
    private boolean wanted;
    private boolean sent;
    private boolean ended;
    /** The body that the thread runs inside of this one. */
    private @Nullable BodyInterruption inner;
    /** Whether the thread ran such a body when it was to be interrupted, which may have cleared the status. */
    private boolean wantedInside;

    private @Nullable LossCause cause;

    /** For a body that the current thread is about to run. */
    BodyInterruption() {
        thread = Thread.currentThread();
        outer = INNERMOST.get();
        INNERMOST.set(this);
        if (outer != null) {
            outer.innerBegins(this);
        }
    }

    /** For the only body of {@code thread}, which need not be the current one. */
    BodyInterruption(Thread thread) {
        this.thread = thread;
        outer = null;
    }

    private synchronized void innerBegins(BodyInterruption body) {
        inner = body;
    }

    /**
     * Interrupts the body's thread, because the lease is lost. Returns at once, runs no code of users, and throws
     * nothing. Has no effect after the first call and after the end of the body.
     *
     * @param why why the lease is lost
     */
    public synchronized void lost(LossCause why) {
        if (!ended && cause == null) {
            cause = why;
            interrupt();
        }
    }

    /** Interrupts the body's thread as described above. */
    synchronized void interrupt() {
        if (!wanted && !ended) {
            wanted = true;
            wantedInside = inner != null;
            send();
        }
    }

    /** Whether the thread was to be interrupted, sent or not. */
    synchronized boolean isWanted() {
        return wanted;
    }

    private void send() {
        if (!thread.isInterrupted()) {
            sent = true;
            thread.interrupt();
        }
    }

    /**
     * Ends the body, in its thread: no interrupt comes later, and one that was sent is taken back. Each enclosing body
     * that was to be interrupted in the course of this one is interrupted now, since this one may have cleared the
     * status.
     *
     * @return why the lease was lost; empty if it was not, as far as is known
     */
    Optional<LossCause> end() {
        Optional<LossCause> loss;
        synchronized (this) {
            ended = true;
            boolean unused = sent && Thread.interrupted();
            loss = Optional.ofNullable(cause);
        }
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
        for (BodyInterruption enclosing = outer; enclosing != null; enclosing = enclosing.outer) {
            enclosing.innerEnded(this);
        }
        return loss;
    }

    /** A body between this one and {@code body} may clear the status as well: then its end sends again. */
    private synchronized void innerEnded(BodyInterruption body) {
        if (body == inner) {
            inner = null;
        }
        if (wantedInside) {
            wantedInside = inner != null;
            send();
        }
    }

    /**
     * Runs {@code body} under {@code lease}, which is released afterwards; see
     * {@link Acquirable#call(OnLoss, LeaseFunction)}.
     */
    static <T extends @Nullable Object, X extends Throwable> T call(Lease lease, LeaseFunction<T, X> body) throws X {
        BodyInterruption interruption = new BodyInterruption();
        T result;
        try {
            lease.interruptOnLoss(interruption);
            result = body.apply(lease);
        } catch (Throwable thrown) {
            interruption.finish(lease, thrown);
            throw thrown;
        }
        interruption.finish(lease, null);
        return result;
    }

    /** Releases the lease, after the end of the interruption: a loss that only the release shows interrupts no more. */
    private void finish(Lease lease, @Nullable Throwable thrown) {
        Optional<LossCause> known = end();
        boolean lost = lease.release() == ReleaseOutcome.LOST;
        if (known.isPresent() || lost) {
            LossCause why = known.orElseGet(() -> shownByRelease(lease));
            LeaseLostException loss = new LeaseLostException(
                    "The lease on " + lease.path() + " with token " + lease.token() + " was lost before its body had"
                            + " ended (" + why + "). Another client may hold the lock by now, and the body's result is"
                            + " dropped. Acquire again if the work is still to be done, and begin with what it reads.",
                    why);
            loss.initCause(thrown);
            throw loss;
        }
    }

    private static LossCause shownByRelease(Lease lease) {
        try {
            lease.ensureValid();
        } catch (LeaseLostException lost) {
            return lost.lossCause();
        } catch (IllegalStateException released) {
            // The client took it for valid: the server's answer says that the node had gone.
        }
        return LossCause.NODE_DELETED;
    }
}
