// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.OpenAnswers;
import io.latchkey.zk.internal.threads.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

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
    private final RequestEvents signals;
    private final Runnable giveUp;
    private volatile boolean throttled;

    /**
     * @param giveUp runs on the serial executor when the caller no longer waits
     */
    public AcquireFuture(ClientContext context, RequestEvents signals, Runnable giveUp) {
        super(context.answers());
        this.context = context;
        this.signals = signals;
        this.giveUp = giveUp;
    }

    public RequestEvents signals() {
        return signals;
    }

    /** Notes whether the servers have put the request off. */
    public void throttled(boolean putOff) {
        throttled = putOff;
    }

    /** Returns why the request was not granted, for a caller whose time is over. */
    public LockTimeoutException whyNotGranted(WaitPolicy waitPolicy) {
        return Errors.timedOut(
                signals.about().path(),
                waitPolicy instanceof WaitPolicy.AtMost atMost ? atMost.timeout() : Duration.ZERO,
                reasonToWait(waitPolicy));
    }

    private LockException.Reason reasonToWait(WaitPolicy waitPolicy) {
        // A try that does not wait ends without a lease only by an answer.
        boolean answered = waitPolicy instanceof WaitPolicy.Never
                || (signals.wasQueued() && context.signals().view().isConnected());
        if (answered) {
            return LockException.Reason.HELD_BY_OTHERS;
        }
        return throttled ? LockException.Reason.THROTTLED : LockException.Reason.NO_ANSWER;
    }

    /**
     * Waits in the calling thread. It keeps the caller's time by itself, so that the call returns in time whatever the
     * engine does, and it warns of a wait for itself, so that no request needs a timer for that. However the wait ends,
     * the request is given up unless the caller has the lease.
     *
     * @param waitPolicy that of the request
     */
    public Optional<ZkLease> await(WaitPolicy waitPolicy, boolean interruptibly) throws InterruptedException {
        boolean handedOver = false;
        try {
            signals.callerWaits();
            Optional<Duration> longest = waitPolicy.limit(context.sessionTimeout());
            Duration first = longest.filter(limit -> limit.compareTo(LONG_WAIT) <= 0)
                    .map(limit -> limit.plus(ENGINES_TURN))
                    .orElse(LONG_WAIT);
            if (!await(first, interruptibly) && first.equals(LONG_WAIT)) {
                warnOfWaitForItself();
                await(longest.map(limit -> limit.minus(LONG_WAIT).plus(ENGINES_TURN)), interruptibly);
            }
            if (!isDone()) {
                timeUp(waitPolicy);
                context.execute(giveUp);
            }
            Optional<ZkLease> lease = Waiting.valueOf(this).map(ZkLease::received);
            handedOver = true;
            return lease;
        } catch (ExecutionException failed) {
            throw Errors.toCaller(failed);
        } finally {
            if (!handedOver) {
                giveUp();
            }
        }
    }

    private boolean await(Duration longest, boolean interruptibly) throws InterruptedException {
        return interruptibly ? Waiting.await(this, longest) : Waiting.awaitUninterruptibly(this, longest);
    }

    private void await(Optional<Duration> longest, boolean interruptibly) throws InterruptedException {
        if (longest.isPresent()) {
            boolean unused = await(longest.get(), interruptibly);
        } else if (interruptibly) {
            Waiting.await(this);
        } else {
            Waiting.awaitUninterruptibly(this);
        }
    }

    private void warnOfWaitForItself() {
        context.heldByCallerOf(signals)
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

    /** Completes this. If the caller no longer waits, the task that gives the request up releases the lease. */
    public void answer(Optional<ZkLease> lease) {
        if (lease.isEmpty()) {
            signals.notGranted(
                    isCancelled() ? LockObserver.AcquireFailure.CANCELLED : LockObserver.AcquireFailure.TIMED_OUT);
        }
        complete(lease);
    }

    public void fail(Throwable error) {
        signals.notGranted(LockObserver.AcquireFailure.EXCEPTION);
        completeExceptionally(error);
    }

    /** Completes this, as the time for an answer has passed. A try that does not wait for holders had no answer. */
    public void timeUp(WaitPolicy waitPolicy) {
        if (waitPolicy instanceof WaitPolicy.Never) {
            fail(new LockUnavailableException(Errors.outOfReach(signals.about().path(), context.sessionTimeout())));
        } else {
            answer(Optional.empty());
        }
    }

    @Override
    protected void engineFailed(LockException why) {
        fail(why);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            context.execute(giveUp);
        }
        return cancelled;
    }
}
