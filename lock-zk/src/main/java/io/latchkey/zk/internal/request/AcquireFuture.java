// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.Diagnosis;
import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outcome that the caller of a request waits for: a lease, nothing if the time ran out, or the error. The caller
 * may cancel it from any thread, which gives the request up. The request completes it on the engine's serial executor;
 * the first completion counts.
 */
public class AcquireFuture extends CompletableFuture<Optional<ZkLease>> {
    private static final Logger LOG = LoggerFactory.getLogger(AcquireFuture.class);
    private static final int LONG_WAIT_SECONDS = 5;

    private final ClientContext context;
    private final Function<RequestEvents, Optional<Diagnosis.Own>> heldByCallerOf;
    private final RequestEvents signals;
    private final Runnable giveUp;

    /**
     * @param heldByCallerOf finds a lease held by the thread that waits for a request, which makes it wait forever
     * @param giveUp runs on the serial executor when the caller no longer waits
     */
    public AcquireFuture(
            ClientContext context,
            Function<RequestEvents, Optional<Diagnosis.Own>> heldByCallerOf,
            RequestEvents signals,
            Runnable giveUp) {
        this.context = context;
        this.heldByCallerOf = heldByCallerOf;
        this.signals = signals;
        this.giveUp = giveUp;
    }

    public RequestEvents signals() {
        return signals;
    }

    /**
     * Waits in the calling thread. This thread also warns of a wait for itself, so that no request needs a timer for
     * that.
     */
    @Override
    public Optional<ZkLease> get() throws InterruptedException, ExecutionException {
        signals.callerWaits();
        try {
            return get(LONG_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException longWait) {
            heldByCallerOf
                    .apply(signals)
                    .ifPresent(held -> LOG.warn(
                            "Thread {} waits for a lock that it holds itself: acquiring is not re-entrant. It holds {}",
                            held.thread(),
                            held));
            return super.get();
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

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            context.execute(giveUp);
        }
        return cancelled;
    }
}
