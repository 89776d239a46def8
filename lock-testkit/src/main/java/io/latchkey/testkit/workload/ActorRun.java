// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.workload.Workload.Turn;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The turns of one actor, step by step: on servers a thread of its own takes all of them, in a simulation one thread
 * takes those of all actors.
 */
final class ActorRun extends Steps {
    private final Workload.Actor actor;
    private final Place place;
    private final History history;
    private final String base;

    private State state = State.PAUSING;
    private int turn;

    /** Completes with a lease, or with an optional one. */
    private @Nullable CompletableFuture<?> asked;

    private @Nullable Lease held;
    private @Nullable CompletableFuture<?> left;

    private enum State {
        PAUSING,
        ASKING,
        HOLDING,
        /** As a reader, after the downgrade. */
        READING,
        LEAVING,
        DONE
    }

    ActorRun(Workload.Actor actor, Place place, History history, String base) {
        this.actor = actor;
        this.place = place;
        this.history = history;
        this.base = base;
        pause();
    }

    /** Waits until the next step may be due. */
    void awaitNext() throws InterruptedException {
        long millis = Math.max(0, next - place.millis());
        if (state != State.ASKING) {
            Thread.sleep(millis);
            return;
        }
        try {
            Object unused = Objects.requireNonNull(asked).get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException | CancellationException seenByTheNextStep) {
            return;
        }
    }

    @Override
    boolean isOver() {
        return state == State.DONE;
    }

    @Override
    boolean step() {
        place.settle();
        State before = state;
        switch (state) {
            case PAUSING -> {
                if (isDue()) {
                    ask();
                }
            }
            case ASKING -> asking();
            case HOLDING, READING -> holding();
            case LEAVING -> {
                if (left == null || left.isDone()) {
                    turn++;
                    pause();
                }
            }
            case DONE -> {}
        }
        return state != before;
    }

    private boolean isDue() {
        return place.millis() >= next;
    }

    private Turn turn() {
        return actor.turns().get(turn);
    }

    private void pause() {
        boolean more = turn < actor.turns().size();
        state = more ? State.PAUSING : State.DONE;
        next = more ? place.millis() + turn().pauseMillis() : NEVER;
    }

    private void ask() {
        LockSpec wanted = turn().lock();
        Acquirable lock = place.recorded(
                actor.client(),
                wanted.of(place.client(actor.client()), base),
                wanted.claims(base).toArray(LockClaim[]::new));
        boolean cancels = turn().form() == Turn.Form.CANCEL;
        next = cancels ? place.millis() + turn().patienceMillis() : NEVER;
        asked = cancels || !place.mayWait() ? askAsync(lock) : askAndWait(lock);
        state = State.ASKING;
    }

    private CompletableFuture<?> askAsync(Acquirable lock) {
        return switch (turn().form()) {
            case ACQUIRE, DOWNGRADE, CANCEL -> lock.acquireAsync();
            case TRY_NOW -> lock.tryAcquireAsync(Duration.ZERO);
            case TRY_WITHIN -> lock.tryAcquireAsync(Duration.ofMillis(turn().patienceMillis()));
        };
    }

    private CompletableFuture<?> askAndWait(Acquirable lock) {
        try {
            return CompletableFuture.completedFuture(
                    switch (turn().form()) {
                        case ACQUIRE, DOWNGRADE, CANCEL -> Optional.of(lock.acquire());
                        case TRY_NOW -> lock.tryAcquire();
                        case TRY_WITHIN -> lock.tryAcquire(Duration.ofMillis(turn().patienceMillis()));
                    });
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
            return CompletableFuture.failedFuture(closed);
        } catch (RuntimeException failed) {
            return CompletableFuture.failedFuture(failed);
        }
    }

    /** A grant that comes while it is cancelled is given back by the lock itself. */
    private void asking() {
        CompletableFuture<?> asking = Objects.requireNonNull(asked);
        if (!asking.isDone() && isDue()) {
            asking.cancel(false);
        }
        if (asking.isDone()) {
            held = answer(asking);
            hold(State.HOLDING);
        }
    }

    private @Nullable Lease answer(CompletableFuture<?> answered) {
        try {
            Object granted = answered.join();
            return (Lease) (granted instanceof Optional<?> maybe ? maybe.orElse(null) : granted);
        } catch (CancellationException cancelled) {
            return null;
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof LockServiceUnavailableException && isTry()) {
                return null;
            }
            throw new AssertionError("an actor failed: " + failed.getCause(), failed.getCause());
        }
    }

    /** A try that reaches no server may throw: no grant, and no error of the lock. */
    private boolean isTry() {
        return turn().form() == Turn.Form.TRY_NOW || turn().form() == Turn.Form.TRY_WITHIN;
    }

    private void hold(State how) {
        state = how;
        next = place.millis() + (held != null && held.isValid() ? turn().holdMillis() : 0);
    }

    private void holding() {
        if (!isDue()) {
            return;
        }
        if (state == State.HOLDING
                && held != null
                && turn().form() == Turn.Form.DOWNGRADE
                && turn().lock() instanceof LockSpec.Write write
                && !place.isCutOff(actor.client())) {
            try {
                held = History.downgrade(place.client(actor.client()).readWriteLock(base + write.path()), held);
                hold(State.READING);
                return;
            } catch (LeaseLostException lost) {
                // It was the write lease that was lost; its loss is recorded.
            } catch (UnsupportedOperationException lacking) {
                history.note(place.name(actor.client()), "goes on without a downgrade: " + lacking.getMessage());
            }
        }
        // What is lost is not released: the loss is what the history is to show.
        left = held != null && held.isValid() ? release(held) : null;
        held = null;
        next = NEVER;
        state = State.LEAVING;
    }

    private @Nullable CompletableFuture<?> release(Lease lease) {
        if (!place.mayWait()) {
            return lease.releaseAsync().toCompletableFuture();
        }
        lease.close();
        return null;
    }
}
