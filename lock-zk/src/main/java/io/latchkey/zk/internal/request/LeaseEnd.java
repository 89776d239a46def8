// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.spi.LossHandler;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.validity.Clock;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * How one lease ended, and the notices of its loss. The end is decided once, on any thread: only the first counts.
 *
 * <p>Notices go their own ways, and none waits for another: handlers interrupt a body on threads of their own, stages run
 * on the callback threads. What deletes the node of a lost lease waits for both.
 */
final class LeaseEnd {
    private static final int BOUNDS_IN_A_TIMEOUT = 20;

    private final ClientContext context;
    private final Session session;
    private final Lease lease;
    /** How the lease ended; null while it has not. */
    private final AtomicReference<@Nullable Outcome> outcome = new AtomicReference<>();

    private final CompletableFuture<LossCause> lost = new CompletableFuture<>();
    /** One stage for all callers: one for each would stay registered here until a loss, which most leases never have. */
    private final CompletionStage<LossCause> lossStage = lost.minimalCompletionStage();
    /** Whether a caller has asked for {@link #lost}. */
    private volatile boolean lossIsAwaited;
    /**
     * What interrupts a thread that runs a body under this lease. They are not stages of {@link #lost}, which wait for
     * the callback threads.
     */
    private final List<LossHandler> handlers = new CopyOnWriteArrayList<>();

    /** Completes when the owner is notified of the loss as far as it wants to be, or the bound of that has passed. */
    private final CompletableFuture<@Nullable Void> notified = new CompletableFuture<>();
    /** The notices of the loss that are on their way, and one more until all are. */
    private final AtomicInteger unnotified = new AtomicInteger(1);

    private sealed interface Outcome {
        /** @param by what has released it */
        record Released(Object by) implements Outcome {}

        /** @param by what has found it lost */
        record Lost(LossCause cause, Object by) implements Outcome {}
    }

    LeaseEnd(Session session, Lease lease) {
        this.context = session.context();
        this.session = session;
        this.lease = lease;
    }

    // ---- the end

    /** Ends it as released, and returns whether it had not ended before. */
    boolean release() {
        return release(new Object());
    }

    /** Ends it as released, and returns whether it ends by this call, or has ended by another with the same argument. */
    boolean release(Object by) {
        return outcome.compareAndSet(null, new Outcome.Released(by))
                || (outcome.get() instanceof Outcome.Released it && it.by() == by);
    }

    /** Ends it as lost, and returns whether it had not ended before. */
    boolean lose(LossCause cause) {
        return lose(cause, new Object());
    }

    /** Ends it as lost, and returns whether it ends by this call, or has ended by another with the same {@code by}. */
    boolean lose(LossCause cause, Object by) {
        return outcome.compareAndSet(null, new Outcome.Lost(cause, by))
                || (outcome.get() instanceof Outcome.Lost it && it.by() == by);
    }

    boolean isOver() {
        return outcome.get() != null;
    }

    boolean isReleased() {
        return outcome.get() instanceof Outcome.Released;
    }

    Optional<LossCause> lossCause() {
        return outcome.get() instanceof Outcome.Lost loss ? Optional.of(loss.cause()) : Optional.empty();
    }

    // ---- the notices of a loss

    /** Returns a stage that completes with the cause. From now on, the owner is notified once its stages have run. */
    CompletionStage<LossCause> lossStage() {
        lossIsAwaited = true;
        return lossStage;
    }

    /** A loss between the two statements is reported twice; the second report has no effect. */
    void onLoss(LossHandler handler) {
        handlers.add(Objects.requireNonNull(handler, "handler"));
        lossCause().ifPresent(cause -> handle(handler, cause));
    }

    /** Puts all notices on their ways. */
    void notifyOwner(LossCause cause, RequestEvents events) {
        handlers.forEach(handler -> handle(handler, cause));
        boolean awaited = lossIsAwaited;
        if (awaited) {
            unnotified.incrementAndGet();
        }
        context.callBack(() -> {
            lost.complete(cause);
            if (awaited) {
                noticeGiven();
            }
        });
        events.lost(cause);
        noticeGiven();
    }

    /** Calls the handler on a thread of its own: an interrupt runs code of the body's thread, and of its channel. */
    private void handle(LossHandler handler, LossCause cause) {
        unnotified.incrementAndGet();
        context.outbox().alarms().execute(() -> {
            try {
                handler.lost(cause);
            } catch (Throwable theirs) {
                context.log().warn(LeaseEnd.class, "The interruption of a body under {} failed", lease.path(), theirs);
            } finally {
                noticeGiven();
            }
        });
    }

    private void noticeGiven() {
        if (unnotified.decrementAndGet() == 0) {
            notified.complete(null);
        }
    }

    CompletableFuture<@Nullable Void> notified() {
        return notified;
    }

    /**
     * Returns whether the node may be deleted: the lease was not lost, or its bodies are interrupted and the stages of
     * {@link #lossStage} have run if a caller had asked for it.
     */
    boolean isNotified() {
        return !(outcome.get() instanceof Outcome.Lost) || notified.isDone();
    }

    /**
     * Runs {@code then} on the serial executor once the owner is notified, and after a twentieth of the session timeout
     * at the latest, since a stage or an interrupt may block (docs/protocol.md, "Deletion after a loss").
     */
    void onceNotified(Runnable then) {
        Clock.Timer bound = context.clock()
                .after(session.validity().timeout().dividedBy(BOUNDS_IN_A_TIMEOUT), () -> notified.complete(null));
        var unused = notified.thenRun(() -> {
            bound.cancel();
            context.execute(then);
        });
    }
}
