// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import io.latchkey.lock.LockObserver;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What the caller of a request waits for: a lease, nothing when time ran out, or the error. The caller may cancel it from
 * any thread, which gives the request up. The request answers on the engine's serial executor; its first answer counts.
 */
final class Outcome extends CompletableFuture<Optional<ZkLease>> {
    private final Engine engine;
    private final RequestSignals signals;
    private final Runnable giveUp;
    private boolean answered;

    /**
     * @param giveUp what to do when nobody wants to know any more; on the serial executor
     */
    Outcome(Engine engine, RequestSignals signals, Runnable giveUp) {
        this.engine = engine;
        this.signals = signals;
        this.giveUp = giveUp;
    }

    /** Whether the request has answered; a caller that gave up is no answer. */
    boolean isAnswered() {
        return answered;
    }

    /** A lease that nobody wants any more is let go of. */
    void answer(Optional<ZkLease> lease) {
        answered = true;
        if (lease.isEmpty()) {
            signals.notGranted(isCancelled() ? LockObserver.Ending.WITHDRAWN : LockObserver.Ending.OUT_OF_TIME);
        }
        if (!complete(lease)) {
            lease.ifPresent(ZkLease::abandon);
        }
    }

    void fail(Throwable error) {
        answered = true;
        signals.notGranted(LockObserver.Ending.FAILED);
        completeExceptionally(error);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            engine.serially(giveUp);
        }
        return cancelled;
    }
}
