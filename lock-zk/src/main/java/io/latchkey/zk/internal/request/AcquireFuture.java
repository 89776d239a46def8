// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver.AcquireFailure;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.CallerWait;
import io.latchkey.zk.internal.threads.OpenAnswers;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The outcome that the caller of a request waits for: a lease, nothing if the time ran out, or the error. The caller
 * may cancel it from any thread, which gives the request up. The request completes it on the engine's serial executor;
 * the first completion counts.
 */
public class AcquireFuture extends OpenAnswers.Answer<Optional<ZkLease>> {
    private static final Duration LONG_WAIT = Duration.ofSeconds(5);
    /** The engine ends a request in time, with what it knows of it. A caller that is still waiting then ends it. */
    private static final Duration ENGINES_TURN = Duration.ofMillis(10);

    private final ClientContext context;
    private final RequestEvents events;
    private final Runnable giveUp;
    private final WaitPolicy waitPolicy;
    private volatile @Nullable AcquireFailure without;

    /**
     * @param waitPolicy how long the caller waits
     * @param giveUp runs on the serial executor when the caller no longer waits
     */
    public AcquireFuture(ClientContext context, RequestEvents events, WaitPolicy waitPolicy, Runnable giveUp) {
        super(context.answers());
        this.context = context;
        this.events = events;
        this.waitPolicy = waitPolicy;
        this.giveUp = giveUp;
    }

    public RequestEvents events() {
        return events;
    }

    /** Returns the error of a caller whose request ended without a lease. */
    public LockTimeoutException whyNotGranted() {
        LockException.Reason reason =
                switch (Optional.ofNullable(without).orElseGet(this::whyWithout)) {
                    case BUSY, TIMED_OUT -> LockException.Reason.HELD_BY_OTHERS;
                    case THROTTLED -> LockException.Reason.THROTTLED;
                    default -> LockException.Reason.NO_ANSWER;
                };
        Duration time = waitPolicy instanceof WaitPolicy.AtMost atMost ? atMost.timeout() : Duration.ZERO;
        return Errors.timedOut(events.about().path(), time, reason);
    }

    /** Returns what keeps the request from a lease now. */
    private AcquireFailure whyWithout() {
        if (isCancelled()) {
            return AcquireFailure.CANCELLED;
        } else if (waitPolicy instanceof WaitPolicy.Never) {
            return AcquireFailure.BUSY; // without an answer it fails
        } else if (events.wasQueued() && context.events().view().isConnected()) {
            return AcquireFailure.TIMED_OUT;
        }
        return events.isPutOff() ? AcquireFailure.THROTTLED : AcquireFailure.NO_ANSWER;
    }

    /** Notes why the request ends without a lease, before its caller asks. */
    protected AcquireFailure endWithout() {
        AcquireFailure why = whyWithout();
        without = why;
        return why;
    }

    /**
     * Waits in the calling thread. It keeps the caller's time by itself, so that the call returns in time whatever the
     * engine does, and it warns of a wait for itself, so that no request needs a timer for that. However the wait ends,
     * the request is given up unless the caller has the lease.
     */
    public Optional<ZkLease> await(boolean interruptibly) throws InterruptedException {
        boolean handedOver = false;
        try {
            events.callerWaits();
            Optional<Duration> longest = waitPolicy.limit(context.sessionTimeout());
            Duration first = longest.filter(limit -> limit.compareTo(LONG_WAIT) <= 0)
                    .map(limit -> limit.plus(ENGINES_TURN))
                    .orElse(LONG_WAIT);
            if (!await(first, interruptibly) && first.equals(LONG_WAIT)) {
                warnOfWaitForItself();
                Duration rest = longest.map(limit -> limit.minus(LONG_WAIT).plus(ENGINES_TURN))
                        .orElse(ChronoUnit.FOREVER.getDuration());
                boolean unused = await(rest, interruptibly);
            }
            if (!isDone() && timeUp()) {
                context.execute(giveUp);
            }
            Optional<ZkLease> lease = Errors.valueOf(this).map(ZkLease::received);
            handedOver = true;
            return lease;
        } finally {
            if (!handedOver) {
                giveUp();
            }
        }
    }

    private boolean await(Duration longest, boolean interruptibly) throws InterruptedException {
        return interruptibly ? CallerWait.await(this, longest) : CallerWait.awaitUninterruptibly(this, longest);
    }

    private void warnOfWaitForItself() {
        context.heldByCallerOf(events)
                .map(held -> held.toDiagnosis(context.now(), false))
                .ifPresent(held -> context.log()
                        .warn(
                                AcquireFuture.class,
                                "Thread {} waits for a lock that it holds itself: acquiring is not re-entrant. It holds {}",
                                held.thread(),
                                held));
    }

    /** Ends the request, or releases its lease, as the caller does not take it. */
    private void giveUp() {
        if (!cancel(false) && !isCompletedExceptionally()) {
            getNow(Optional.empty()).ifPresent(ZkLease::abandon);
        }
    }

    /**
     * Completes this, and returns whether it does. If the caller no longer waits, the task that gives the request up
     * releases the lease.
     *
     * <p>The caller's time may be over in the moment in which a step grants: who completes this decides, and reports the
     * end. So no caller gets a lease that is given up, and no request is given up whose lease its caller has.
     */
    public boolean answer(Optional<ZkLease> lease) {
        Optional<AcquireFailure> without = lease.isPresent() ? Optional.empty() : Optional.of(endWithout());
        boolean decides = complete(lease);
        if (decides) {
            without.ifPresent(events::notGranted);
        }
        return decides;
    }

    /** Completes this by an error, and returns whether it does. */
    public boolean fail(Throwable error) {
        boolean decides = completeExceptionally(error);
        if (decides) {
            events.failed(error);
        }
        return decides;
    }

    /**
     * Completes this, as the time for an answer has passed, and returns whether it does. A try that does not wait for
     * holders had no answer.
     */
    public boolean timeUp() {
        return waitPolicy instanceof WaitPolicy.Never
                ? fail(new LockServiceUnavailableException(
                        Errors.outOfReach(events.about().path(), context.sessionTimeout())))
                : answer(Optional.empty());
    }

    @Override
    protected void engineFailed(LockException why) {
        fail(why);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            context.runWithRoom(() -> {
                // Not in the step, which is dropped if the engine fails before it.
                events.notGranted(endWithout());
                context.executeWithRoom(giveUp);
            });
        }
        return cancelled;
    }
}
