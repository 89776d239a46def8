// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.testkit.history.History;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The turns of one actor in a simulation, step by step; the counterpart of {@link ActorRun}, which has a thread. */
final class SimulatedActor {
    private final Workload.Actor actor;
    private final LockClient client;
    private final Function<LockSpec, Acquirable> locks;
    private final BooleanSupplier cutOff;
    private final String base;

    private State state = State.PAUSING;
    private int turn;
    /** The end of the pause, of the wait before a cancel, or of the hold. */
    private long until;

    private @Nullable CompletableFuture<Optional<Lease>> asked;
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

    /**
     * @param locks gives the recorded locks
     * @param cutOff whether nothing passes between the client and the server at the moment
     */
    SimulatedActor(
            Workload.Actor actor,
            LockClient client,
            Function<LockSpec, Acquirable> locks,
            BooleanSupplier cutOff,
            String base) {
        this.actor = actor;
        this.client = client;
        this.locks = locks;
        this.cutOff = cutOff;
        this.base = base;
        pause(0);
    }

    boolean isDone() {
        return state == State.DONE;
    }

    /** The time of its next step that does not depend on other actors. */
    long next() {
        boolean timed = state != State.LEAVING && state != State.DONE;
        return timed ? until : SimulatedRun.NEVER;
    }

    /** Does the next thing if it can; says whether it did. */
    boolean step(long now) {
        State before = state;
        switch (state) {
            case PAUSING -> {
                if (now >= until) {
                    ask(now);
                }
            }
            case ASKING -> asking(now);
            case HOLDING, READING -> holding(now);
            case LEAVING -> {
                if (left == null || left.isDone()) {
                    turn++;
                    pause(now);
                }
            }
            case DONE -> {}
        }
        return state != before;
    }

    private Turn turn() {
        return actor.turns().get(turn);
    }

    private void pause(long now) {
        boolean more = turn < actor.turns().size();
        state = more ? State.PAUSING : State.DONE;
        until = more ? now + turn().pauseMillis() : SimulatedRun.NEVER;
    }

    private void ask(long now) {
        Acquirable lock = locks.apply(turn().lock());
        until = SimulatedRun.NEVER;
        asked = switch (turn().form()) {
            case ACQUIRE, DOWNGRADE -> lock.acquireAsync().thenApply(Optional::of);
            case TRY_NOW -> lock.tryAcquireAsync(Duration.ZERO);
            case TRY_WITHIN -> lock.tryAcquireAsync(Duration.ofMillis(turn().patienceMillis()));
            case CANCEL -> {
                until = now + turn().patienceMillis();
                yield cancellable(lock.acquireAsync());
            }
        };
        state = State.ASKING;
    }

    /** Cancelling what this returns cancels what was asked. */
    private static CompletableFuture<Optional<Lease>> cancellable(CompletableFuture<Lease> asking) {
        CompletableFuture<Optional<Lease>> answer = asking.thenApply(Optional::of);
        var unused = answer.whenComplete((lease, failure) -> {
            if (answer.isCancelled()) {
                asking.cancel(false);
            }
        });
        return answer;
    }

    private void asking(long now) {
        CompletableFuture<Optional<Lease>> asking = Objects.requireNonNull(asked);
        if (!asking.isDone() && now >= until) {
            asking.cancel(false);
        }
        if (asking.isDone()) {
            answered(asking, now);
        }
    }

    private void answered(CompletableFuture<Optional<Lease>> answer, long now) {
        Optional<Lease> granted;
        try {
            granted = answer.join();
        } catch (CancellationException cancelled) {
            granted = Optional.empty();
        } catch (CompletionException failed) {
            if (!(failed.getCause() instanceof LockUnavailableException) || !isTry()) {
                throw new AssertionError("an actor failed: " + failed.getCause(), failed.getCause());
            }
            granted = Optional.empty();
        }
        held = granted.orElse(null);
        hold(State.HOLDING, now);
    }

    /** A try that reaches no server may throw: no grant, and no error of the lock. */
    private boolean isTry() {
        return turn().form() == Turn.Form.TRY_NOW || turn().form() == Turn.Form.TRY_WITHIN;
    }

    private void hold(State how, long now) {
        state = how;
        until = now + (held != null && held.isValid() ? turn().holdMillis() : 0);
    }

    private void holding(long now) {
        if (now < until) {
            return;
        }
        if (state == State.HOLDING
                && held != null
                && turn().form() == Turn.Form.DOWNGRADE
                && turn().lock() instanceof LockSpec.Write write
                && !cutOff.getAsBoolean()) {
            try {
                held = History.downgrade(client.readWriteLock(base + write.path()), held);
                hold(State.READING, now);
                return;
            } catch (LeaseLostException lost) {
                // It was the write lease that was lost; its loss is recorded.
            }
        }
        // What is lost is not released: the loss is what the history is to show.
        left = held != null && held.isValid() ? held.releaseAsync() : null;
        held = null;
        until = SimulatedRun.NEVER;
        state = State.LEAVING;
    }
}
