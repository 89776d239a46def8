// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.micrometer;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseAction;
import io.latchkey.lock.LeaseFunction;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.OnLoss;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose callers are observed. In a tracing system the times of waiting and holding appear as spans below the
 * caller's.
 *
 * <ul>
 *   <li>{@code latchkey.acquire} lasts while a caller waits. Its {@code outcome} is {@code granted}, {@code
 *       not_granted} or {@code failed}.
 *   <li>{@code latchkey.hold} lasts while the body of {@link #call} or {@link #run} is executed, and is the current
 *       observation there. Its {@code outcome} is {@code kept} or {@code lost}. A lease from the other methods may end
 *       in any thread and has no such observation; {@link LockMeters} times it.
 * </ul>
 *
 * <p>Both have the low-cardinality key {@code lock}, the name that was given. If the lock is granted, they have the
 * high-cardinality keys {@code path} and {@code token}.
 *
 * <p>Leases and futures are those of the lock itself. If a method needs the client's own locks, such as {@code
 * multiLock}, pass it the wrapped lock.
 */
@SuppressWarnings("try") // a scope ends with its block, and nothing else is done with it
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
     * Wraps a lock.
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

    @Override
    public Lease acquire() throws InterruptedException {
        return observed(lock::acquire);
    }

    @Override
    public Lease acquireUninterruptibly() {
        return observed(lock::acquireUninterruptibly);
    }

    private interface Acquiring<X extends Exception> {
        Lease acquire() throws X;
    }

    private <X extends Exception> Lease observed(Acquiring<X> acquiring) throws X {
        Observation waiting = started("latchkey.acquire");
        try (Observation.Scope unused = waiting.openScope()) {
            Lease lease = acquiring.acquire();
            granted(waiting, lease);
            return lease;
        } catch (Throwable failed) {
            failed(waiting, failed);
            throw failed;
        } finally {
            waiting.stop();
        }
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Observation waiting = started("latchkey.acquire");
        try (Observation.Scope unused = waiting.openScope()) {
            Optional<Lease> lease = lock.tryAcquire(timeout);
            lease.ifPresentOrElse(found -> granted(waiting, found), () -> outcome(waiting, "not_granted"));
            return lease;
        } catch (Throwable failed) {
            failed(waiting, failed);
            throw failed;
        } finally {
            waiting.stop();
        }
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> request = lock.acquireAsync();
        observe(request, Optional::of);
        return request; // to cancel a stage that depends on it would not reach it
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        CompletableFuture<Optional<Lease>> request = lock.tryAcquireAsync(timeout);
        observe(request, lease -> lease);
        return request;
    }

    @Override
    @SuppressWarnings("exports") // as in the interface
    public <T extends @Nullable Object, X extends Throwable> T call(LeaseFunction<T, X> body)
            throws X, InterruptedException {
        return call(OnLoss.CONTINUE, body);
    }

    @Override
    @SuppressWarnings("exports") // as in the interface
    public <T extends @Nullable Object, X extends Throwable> T call(OnLoss onLoss, LeaseFunction<T, X> body)
            throws X, InterruptedException {
        Objects.requireNonNull(onLoss, "onLoss");
        Objects.requireNonNull(body, "body");
        Waiting waiting = new Waiting();
        try {
            return lock.call(onLoss, (LeaseFunction<T, X>) lease -> {
                waiting.granted(lease);
                Observation holding = held(lease);
                try (Observation.Scope unused = holding.openScope()) {
                    return body.apply(lease);
                } catch (Throwable thrown) {
                    holding.error(thrown);
                    throw thrown;
                } finally {
                    ended(holding, lease);
                }
            });
        } catch (Throwable failed) {
            waiting.failed(failed);
            throw failed;
        }
    }

    @Override
    public <X extends Throwable> void run(LeaseAction<X> body) throws X, InterruptedException {
        Objects.requireNonNull(body, "body");
        this.<Optional<Lease>, X>call(lease -> {
            body.accept(lease);
            return Optional.empty();
        });
    }

    @Override
    public ObservedLock labelled(String label) {
        return new ObservedLock(lock.labelled(label), name, observations);
    }

    @Override
    public ObservedLock heldAtMost(Duration limit) {
        return new ObservedLock(lock.heldAtMost(limit), name, observations);
    }

    @Override
    public List<Contender> queue() {
        return lock.queue();
    }

    @Override
    public CompletableFuture<List<Contender>> queueAsync() {
        return lock.queueAsync();
    }

    /** The observed wait of a caller whose body the lock runs. */
    private final class Waiting {
        private final Observation observation = started("latchkey.acquire");
        private boolean over;

        void granted(Lease lease) {
            over = true;
            ObservedLock.granted(observation, lease);
            observation.stop();
        }

        void failed(Throwable failed) {
            if (!over) {
                ObservedLock.failed(observation, failed);
                observation.stop();
            }
        }
    }

    private Observation held(Lease lease) {
        Observation holding = started("latchkey.hold");
        outcome(holding, "kept");
        identify(holding, lease);
        return holding;
    }

    private static void ended(Observation holding, Lease lease) {
        if (lease.state() == LeaseState.LOST) {
            holding.event(Observation.Event.of("lost"));
            outcome(holding, "lost");
        }
        holding.stop();
    }

    private <R> void observe(CompletableFuture<R> request, Function<R, Optional<Lease>> leaseOf) {
        Observation waiting = started("latchkey.acquire");
        var unused = request.whenComplete((response, failed) -> {
            if (failed != null) {
                failed(waiting, failed);
            } else {
                leaseOf.apply(response)
                        .ifPresentOrElse(lease -> granted(waiting, lease), () -> outcome(waiting, "not_granted"));
            }
            waiting.stop();
        });
    }

    private Observation started(String what) {
        return Observation.createNotStarted(what, observations)
                .contextualName(what.substring(what.indexOf('.') + 1) + " " + name)
                .lowCardinalityKeyValue("lock", name)
                .start();
    }

    private static void granted(Observation waiting, Lease lease) {
        outcome(waiting, "granted");
        identify(waiting, lease);
    }

    private static void failed(Observation waiting, Throwable failed) {
        outcome(waiting, "failed");
        waiting.error(failed);
    }

    private static void identify(Observation observation, Lease lease) {
        observation
                .highCardinalityKeyValue("path", lease.path())
                .highCardinalityKeyValue("token", Long.toString(lease.token()));
    }

    private static void outcome(Observation observation, String outcome) {
        observation.lowCardinalityKeyValue(KeyValue.of("outcome", outcome));
    }
}
