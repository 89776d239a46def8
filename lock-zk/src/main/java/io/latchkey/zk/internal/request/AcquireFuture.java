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
 * What the caller of a request waits for: a lease, nothing when time ran out, or the error. The caller may cancel it from
 * any thread, which gives the request up. The request answers on the engine's serial executor; its first answer counts.
 */
public class AcquireFuture extends CompletableFuture<Optional<ZkLease>> {
    private static final Logger LOG = LoggerFactory.getLogger(AcquireFuture.class);
    private static final int LONG_WAIT_SECONDS = 5;

    private final ClientContext context;
    private final Function<RequestEvents, Optional<Diagnosis.Own>> heldByCallerOf;
    private final RequestEvents signals;
    private final Runnable giveUp;
    private boolean answered;

    /**
     * @param heldByCallerOf the lease that the thread waiting for a request holds itself, so that it waits forever, if there is one
     * @param giveUp what to do when nobody wants to know any more; on the serial executor
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

    /** Waits in the thread that asked. It is the one to warn of a wait for itself, so that no request needs a timer for that. */
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

    /** Whether the request has answered; a caller that gave up is no answer. */
    boolean isAnswered() {
        return answered;
    }

    /** A lease that nobody wants any more is let go of. */
    public void answer(Optional<ZkLease> lease) {
        answered = true;
        if (lease.isEmpty()) {
            signals.notGranted(
                    isCancelled() ? LockObserver.AcquireFailure.CANCELLED : LockObserver.AcquireFailure.TIMED_OUT);
        }
        if (!complete(lease)) {
            lease.ifPresent(ZkLease::abandon);
        }
    }

    public void fail(Throwable error) {
        answered = true;
        signals.notGranted(LockObserver.AcquireFailure.EXCEPTION);
        completeExceptionally(error);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            context.serially(giveUp);
        }
        return cancelled;
    }
}
