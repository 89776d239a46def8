// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.spi.LossNotifier;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The interruption of one thread while it runs a body under a lease. Its {@link #lost} is called when the
 * lease is lost, through {@link LossNotifier}. Only {@link Acquirable#call(OnLoss, LeaseFunction)} and
 * {@link Leadership} make one.
 *
 * <p>The thread is interrupted once for each demand, not while it is interrupted already, and not after its body has
 * ended. A body under another lock inside of this one may have cleared the status: the interrupt is sent again when
 * that body has ended.
 *
 * <p>{@link Thread#interrupt} can run code of users: that of a thread class that overrides it, and the close of a
 * channel in which the thread is blocked. So it is called without a monitor. The end of the body waits for a call that
 * is under way until that has set the status, for a second at most. A call that takes longer can interrupt the thread
 * later, in whatever it does then.
 */
final class BodyInterruption {
    /** What the thread is to know. Each interrupts once, but for {@link #STEP_DOWN} after another one. */
    enum Demand {
        STEP_DOWN,
        CLOSE,
        LOSS
    }

    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Between two looks at a lease, so that neither a lease without a deadline nor one at its end matters. */
    private static final long SHORTEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long LONGEST_LOOK_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Of the body that the thread runs now; a body may acquire another lock and run a body under that. */
    private static final ThreadLocal<@Nullable BodyInterruption> INNERMOST = new ThreadLocal<>();

    private final Thread thread;
    private final @Nullable BodyInterruption outer;
    private final Runnable onLoss;

    // Under the monitor, in which no code of others runs.
    private final Set<Demand> demands = EnumSet.noneOf(Demand.class);
    /** Whether an interrupt is still to be sent. */
    private boolean due;
    /** The calls of {@link Thread#interrupt} that have not returned. */
    private int underWay;
    /** Those of them that are known to have set the status. */
    private int arrived;
    /** Whether there was such a call. */
    private boolean sent;

    private boolean ended;
    /** Whether the body has ended before a call that had not set the status by then. */
    private boolean leftUnderWay;
    /** The body that the thread runs inside of this one. */
    private @Nullable BodyInterruption inner;
    /** Whether such a body may have cleared the status of an interrupt that this one has not noticed. */
    private boolean demandedInside;

    private @Nullable LossCause cause;

    /** For a body that the current thread is about to run. */
    BodyInterruption() {
        this(() -> {});
    }

    /**
     * For a body that the current thread is about to run.
     *
     * @param onLoss run once if the lease is lost, in the thread of {@link #lost}, before the interrupt is sent, which
     *     can block; it neither blocks nor throws
     */
    BodyInterruption(Runnable onLoss) {
        this.onLoss = onLoss;
        thread = Thread.currentThread();
        outer = INNERMOST.get();
        INNERMOST.set(this);
        if (outer != null) {
            outer.innerBegins(this);
        }
    }

    /** For the only body of {@code thread}, which need not be the current one. */
    BodyInterruption(Thread thread) {
        this.onLoss = () -> {};
        this.thread = thread;
        outer = null;
    }

    /**
     * An interrupt from before that this body has not noticed can be noticed by {@code body} alone: it is pending, or
     * on its way.
     */
    private void innerBegins(BodyInterruption body) {
        boolean mayBePending;
        synchronized (this) {
            inner = body;
            boolean onItsWay = due || underWay > arrived;
            demandedInside |= onItsWay;
            mayBePending = !demands.isEmpty() && !onItsWay;
        }
        if (mayBePending && isInterrupted()) {
            synchronized (this) {
                demandedInside = true;
            }
        }
    }

    /**
     * Interrupts the body's thread, because the lease is lost. Has no effect after the first call and after the end of
     * the body.
     *
     * <p>The interrupt is sent by {@link Thread#interrupt} in the calling thread. That can block, as long as the close
     * of a channel does in which the body is blocked, or an {@code interrupt} that a thread class overrides. So an
     * implementation calls this method in a thread that may be blocked, without a lock. By then the loss is noted: the
     * body can end, and its call can release and throw. An exception of {@code interrupt} is dropped, so this method
     * throws nothing.
     *
     * @param why why the lease is lost
     */
    void lost(LossCause why) {
        synchronized (this) {
            if (ended || cause != null) {
                return;
            }
            cause = why;
            boolean unused = demand(Demand.LOSS);
        }
        onLoss.run();
        send();
    }

    /**
     * Notes what the thread is to know, for {@link #send}. Runs no code of others and does not block.
     *
     * @return whether the demand says more than those before, and the body has not ended
     */
    synchronized boolean demand(Demand next) {
        if (ended || (next == Demand.STEP_DOWN && !demands.isEmpty()) || !demands.add(next)) {
            return false;
        }
        due = true;
        demandedInside |= inner != null;
        LockSupport.unpark(thread);
        return true;
    }

    /** Returns whether the thread was to be interrupted, sent or not. */
    synchronized boolean isDemanded() {
        return !demands.isEmpty();
    }

    /** Sends an interrupt again, for code that may have cleared the status and goes on, unless the body has ended. */
    void sendAgain() {
        synchronized (this) {
            due = !ended;
        }
        send();
    }

    /**
     * Interrupts the thread if that is due. Blocks as long as {@link Thread#interrupt} does. Never throws: an
     * exception of that method has no effect here.
     */
    void send() {
        synchronized (this) {
            if (!due) {
                return;
            }
        }
        boolean pending = isInterrupted();
        synchronized (this) {
            if (!due) {
                return;
            }
            due = false;
            if (pending) {
                return; // of another source, or not noticed yet
            }
            sent = true;
            underWay++;
        }
        try {
            thread.interrupt();
        } catch (Throwable dropped) {
            // Of an overridden method, or of a channel's close. The state is the same whether or not it was sent.
        } finally {
            synchronized (this) {
                underWay--;
                arrived = Math.min(arrived, underWay);
            }
            LockSupport.unpark(thread);
        }
    }

    private boolean isInterrupted() {
        try {
            return thread.isInterrupted();
        } catch (Throwable dropped) {
            return false; // of an overridden method
        }
    }

    /**
     * Waits, in the body's thread, until an end of the body is demanded or {@code lease} is no longer valid. It does
     * not depend on an interrupt, which other code may have cleared.
     *
     * @throws InterruptedException if the thread is interrupted otherwise
     */
    void awaitDemand(Lease lease) throws InterruptedException {
        while (!isDemanded() && lease.isValid()) {
            if (Thread.interrupted() && !isDemanded()) {
                throw new InterruptedException("The candidate's thread was interrupted, but not by its leadership.");
            }
            long left = Math.min(LONGEST_LOOK_NANOS, TimeUnit.NANOSECONDS.convert(lease.remaining()));
            LockSupport.parkNanos(this, Math.max(SHORTEST_LOOK_NANOS, left));
        }
    }

    /**
     * Notes, in the body's thread, that it knows what was demanded, or that {@code lease} is lost: no interrupt follows
     * for that, and one that was sent is taken back. A demand that says more still interrupts.
     */
    void acknowledge(Lease lease) {
        boolean lost = !lease.isValid();
        synchronized (this) {
            if (lost) {
                demands.add(Demand.LOSS);
            }
            if (demands.isEmpty()) {
                return;
            }
            due = false;
        }
        takeBack();
    }

    /**
     * Ends the body, in its thread: no interrupt follows, with the exception that the class comment names, and one that
     * was sent is taken back. Each enclosing body that was to be interrupted in the course of this one is interrupted
     * now, since this one may have cleared the status.
     *
     * @return why the lease was lost; empty if it was not, as far as is known
     */
    Optional<LossCause> end() {
        Optional<LossCause> loss;
        synchronized (this) {
            ended = true;
            due = false;
            loss = Optional.ofNullable(cause);
        }
        takeBack();
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

    /** Clears the status, once it has been set by the calls that are under way. */
    private void takeBack() {
        long start = System.nanoTime();
        while (isOnItsWay()) {
            long left = LONGEST_WAIT_NANOS - (System.nanoTime() - start);
            if (Thread.interrupted()) {
                noteArrival();
            } else if (left <= 0) {
                leave();
            } else {
                LockSupport.parkNanos(this, left);
            }
        }
        synchronized (this) {
            boolean unused = sent && Thread.interrupted();
        }
    }

    private synchronized boolean isOnItsWay() {
        return underWay > arrived;
    }

    private synchronized void noteArrival() {
        arrived = underWay;
    }

    private synchronized void leave() {
        leftUnderWay = true;
        arrived = underWay;
    }

    /** Returns whether an interrupt of this body can reach its thread after the end. */
    synchronized boolean wasLeftUnderWay() {
        return leftUnderWay;
    }

    /** A body between this one and {@code body} may clear the status as well: then its end sends again. */
    private void innerEnded(BodyInterruption body) {
        synchronized (this) {
            if (body == inner) {
                inner = null;
            }
            if (!demandedInside) {
                return;
            }
            demandedInside = inner != null;
            due = true;
        }
        send();
    }

    /**
     * Runs {@code body} under {@code lease}, which is released afterwards; see
     * {@link Acquirable#call(OnLoss, LeaseFunction)}.
     */
    static <T extends @Nullable Object, X extends Throwable> T call(Lease lease, LeaseFunction<T, X> body) throws X {
        BodyInterruption interruption;
        try {
            interruption = new BodyInterruption();
        } catch (Throwable failed) {
            ReleaseOutcome unused = lease.release();
            throw failed;
        }
        T result;
        try {
            LossNotifier.register(lease, interruption::lost);
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
        BodyRelease.release(lease, end(), thrown);
    }
}
