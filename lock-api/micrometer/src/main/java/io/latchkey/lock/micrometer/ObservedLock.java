// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseAction;
import io.latchkey.lock.LeaseFunction;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.admin.Contender;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose callers are observed. In a tracing system the times of waiting and holding appear as spans below the
 * caller's.
 *
 * <ul>
 *   <li>{@code latchkey.acquire} lasts while a caller waits. Its {@code outcome} is {@code granted}, {@code
 *       not_granted} or {@code failed}. Its {@code reason} is that of a {@link LockException} in lower case, such as
 *       {@code held_by_others} or {@code no_answer}; {@code other} for another exception, {@code none} without one.
 *   <li>{@code latchkey.body} lasts while the body of {@link #call} or {@link #run} is executed, and is the current
 *       observation there. Its {@code outcome} is {@code kept} or {@code lost}. A lease from the other methods may end
 *       in any thread and has no such observation; {@link LockMeters} times it.
 * </ul>
 *
 * <p>Both have the low-cardinality key {@code lock}, the name that was given. If the lock is granted, they have the
 * high-cardinality keys {@code path} and {@code token}.
 *
 * <p>Handlers, filters and conventions of a registry run in the caller's thread, between the grant and the return of
 * the call. An exception or error of theirs is dropped, so that no caller loses its lease on the way.
 *
 * <p>Leases and futures are those of the lock itself. If a method needs the client's own locks, such as {@code
 * multiLock}, pass it the wrapped lock.
 */
public final class ObservedLock implements Acquirable {
    private final Acquirable lock;
    private final String name;
    private final ObservationRegistry observations;

    private ObservedLock(Acquirable lock, String name, ObservationRegistry observations) {
        this.lock = lock;
        this.name = name;
        this.observations = observations;
    }

    /**
     * Returns a lock that acquires another one, and reports the waits of its callers and the holds of {@code call} and
     * {@code run} to an observation registry.
     *
     * @param lock the lock to acquire
     * @param name the purpose of the lock; one of few values, so no path with a key in it
     * @param observations the registry of the observations
     * @return the lock, observed
     */
    public static ObservedLock of(Acquirable lock, String name, ObservationRegistry observations) {
        return new ObservedLock(
                Objects.requireNonNull(lock, "lock"),
                Objects.requireNonNull(name, "name"),
                Objects.requireNonNull(observations, "observations"));
    }

    /** Acquires the lock, and observes the wait. See {@link Acquirable#acquire()}. */
    @Override
    public Lease acquire() throws InterruptedException {
        return observed(() -> lock.acquire());
    }

    /**
     * Acquires the lock within a time, and observes the wait. See {@link
     * Acquirable#acquire(Duration)}.
     */
    @Override
    public Lease acquire(Duration timeout) throws InterruptedException {
        return observed(() -> lock.acquire(timeout));
    }

    /**
     * Acquires the lock through interrupts, and observes the wait. See {@link
     * Acquirable#acquireUninterruptibly}.
     */
    @Override
    public Lease acquireUninterruptibly() {
        return observed(lock::acquireUninterruptibly);
    }

    private interface AcquireCall<T, X extends Exception> {
        T acquire() throws X;
    }

    private <X extends Exception> Lease observed(AcquireCall<Lease, X> acquiring) throws X {
        return observed(acquiring, Optional::of);
    }

    private <T, X extends Exception> T observed(AcquireCall<T, X> acquiring, Function<T, Optional<Lease>> leaseOf)
            throws X {
        SafeObservation waiting = started("latchkey.acquire", "acquire");
        waiting.enter();
        try {
            T result = acquiring.acquire();
            waiting.answered(leaseOf.apply(result));
            return result;
        } catch (Throwable failed) {
            waiting.failed(failed);
            throw failed;
        } finally {
            waiting.leave();
            waiting.stop();
        }
    }

    /**
     * Acquires the lock if it is available now, and observes the wait. See {@link
     * Acquirable#tryAcquire()}.
     */
    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    /**
     * Acquires the lock if it becomes available in time, and observes the wait. See {@link
     * Acquirable#tryAcquire(Duration)}.
     */
    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return observed(() -> lock.tryAcquire(timeout), lease -> lease);
    }

    /**
     * Acquires the lock without blocking, and observes the wait. See {@link
     * Acquirable#acquireAsync()}.
     */
    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> request = lock.acquireAsync();
        observe(request, Optional::of);
        return request; // to cancel a stage that depends on it would not reach it
    }

    /**
     * Acquires the lock within a time without blocking, and observes the wait. See {@link
     * Acquirable#acquireAsync(Duration)}.
     */
    @Override
    public CompletableFuture<Lease> acquireAsync(Duration timeout) {
        CompletableFuture<Lease> request = lock.acquireAsync(timeout);
        observe(request, Optional::of);
        return request;
    }

    /**
     * Acquires the lock if it becomes available in time, without blocking, and observes the wait. See
     * {@link Acquirable#tryAcquireAsync}.
     */
    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        CompletableFuture<Optional<Lease>> request = lock.tryAcquireAsync(timeout);
        observe(request, lease -> lease);
        return request;
    }

    /**
     * Runs a body under the lock, and observes the wait and the hold, with what the body throws. See {@link
     * Acquirable#call(LeaseFunction)}.
     */
    @Override
    @SuppressWarnings("exports") // as in the interface
    public <T extends @Nullable Object, X extends Throwable> T call(LeaseFunction<T, X> body)
            throws X, InterruptedException {
        return call(OnLoss.THROW, body);
    }

    /**
     * Runs a body under the lock with a choice of what a loss does to it, and observes the wait and the hold. See
     * {@link Acquirable#call(OnLoss, LeaseFunction)}.
     */
    @Override
    @SuppressWarnings("exports") // as in the interface
    public <T extends @Nullable Object, X extends Throwable> T call(OnLoss onLoss, LeaseFunction<T, X> body)
            throws X, InterruptedException {
        Objects.requireNonNull(onLoss, "onLoss");
        Objects.requireNonNull(body, "body");
        SafeObservation waiting = started("latchkey.acquire", "acquire");
        try {
            return lock.call(onLoss, (LeaseFunction<T, X>) lease -> {
                waiting.answered(Optional.of(lease));
                waiting.stop();
                return observed(lease, body);
            });
        } catch (Throwable failed) {
            waiting.failed(failed);
            waiting.stop();
            throw failed;
        }
    }

    private <T extends @Nullable Object, X extends Throwable> T observed(Lease lease, LeaseFunction<T, X> body)
            throws X {
        SafeObservation holding = started("latchkey.body", "hold");
        holding.outcome("kept");
        holding.identify(lease);
        holding.enter();
        try {
            return body.apply(lease);
        } catch (Throwable thrown) {
            holding.error(thrown);
            throw thrown;
        } finally {
            if (lease.state() == LeaseState.LOST) {
                holding.lost();
            }
            holding.leave();
            holding.stop();
        }
    }

    /**
     * Runs a body without a result under the lock, and observes the wait and the hold. See {@link
     * Acquirable#run(LeaseAction)}.
     */
    @Override
    public <X extends Throwable> void run(LeaseAction<X> body) throws X, InterruptedException {
        Objects.requireNonNull(body, "body");
        this.<Optional<Lease>, X>call(lease -> {
            body.accept(lease);
            return Optional.empty();
        });
    }

    /**
     * Returns a view of this lock whose requests carry a label, and that is observed as well. See {@link
     * Acquirable#labelled}.
     */
    @Override
    public ObservedLock labelled(String label) {
        return new ObservedLock(lock.labelled(label), name, observations);
    }

    /** Returns a view of this lock with a limit, which is observed as well. See {@link Acquirable#heldAtMost}. */
    @Override
    public ObservedLock heldAtMost(Duration limit) {
        return new ObservedLock(lock.heldAtMost(limit), name, observations);
    }

    /** Returns the requests of the lock in their order. See {@link Acquirable#queue}. */
    @Override
    public List<Contender> queue() throws InterruptedException {
        return lock.queue();
    }

    /** Returns the requests of the lock in their order, without waiting. See {@link Acquirable#queueAsync}. */
    @Override
    public CompletableFuture<List<Contender>> queueAsync() {
        return lock.queueAsync();
    }

    private <R> void observe(CompletableFuture<R> request, Function<R, Optional<Lease>> leaseOf) {
        SafeObservation waiting = started("latchkey.acquire", "acquire");
        var unused = request.whenComplete((response, failed) -> {
            if (failed != null) {
                waiting.failed(failed);
            } else {
                waiting.answered(leaseOf.apply(response));
            }
            waiting.stop();
        });
    }

    private SafeObservation started(String what, String verb) {
        return new SafeObservation(() -> Observation.createNotStarted(what, observations)
                .contextualName(verb + " " + name)
                .lowCardinalityKeyValue("lock", name)
                .start());
    }

    /** An observation that throws nothing, whatever its registry does. */
    private static final class SafeObservation {
        private Observation observation = Observation.NOOP;
        private Optional<Observation.Scope> scope = Optional.empty();
        private boolean stopped;

        SafeObservation(Supplier<Observation> start) {
            attempt(() -> observation = start.get());
        }

        private static void attempt(Runnable part) {
            try {
                part.run();
            } catch (Throwable theirs) {
                // The caller gets its lease, or its error.
            }
        }

        void enter() {
            attempt(() -> scope = Optional.of(observation.openScope()));
        }

        void leave() {
            scope.ifPresent(opened -> attempt(opened::close));
        }

        void answered(Optional<Lease> lease) {
            outcome(lease.isPresent() ? "granted" : "not_granted");
            reason("none");
            lease.ifPresent(this::identify);
        }

        void failed(Throwable failed) {
            if (!stopped) {
                outcome("failed");
                Throwable thrown =
                        failed instanceof CompletionException && failed.getCause() != null ? failed.getCause() : failed;
                reason(thrown instanceof LockException refused ? LockSeries.label(refused.reason()) : "other");
                error(failed);
            }
        }

        void lost() {
            outcome("lost"); // first: a handler of the event reads it
            attempt(() -> observation.event(Observation.Event.of("lost")));
        }

        void outcome(String outcome) {
            attempt(() -> observation.lowCardinalityKeyValue(KeyValue.of("outcome", outcome)));
        }

        void reason(String reason) {
            attempt(() -> observation.lowCardinalityKeyValue(KeyValue.of("reason", reason)));
        }

        void identify(Lease lease) {
            attempt(() -> observation
                    .highCardinalityKeyValue("path", lease.path())
                    .highCardinalityKeyValue("token", Long.toString(lease.token())));
        }

        void error(Throwable thrown) {
            attempt(() -> observation.error(thrown));
        }

        void stop() {
            if (!stopped) {
                stopped = true;
                attempt(observation::stop);
            }
        }
    }
}
