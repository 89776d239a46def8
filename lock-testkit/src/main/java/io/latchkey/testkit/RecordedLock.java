package io.latchkey.testkit;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;

/** A lock whose attempts and leases are recorded. Does nothing else. */
final class RecordedLock implements Acquirable {
    private final History history;
    private final String client;
    private final List<Claim> claims;
    private final Acquirable lock;
    private final LongFunction<OptionalLong> sessions;

    RecordedLock(
            History history, String client, List<Claim> claims, Acquirable lock, LongFunction<OptionalLong> sessions) {
        this.history = history;
        this.client = client;
        this.claims = claims;
        this.lock = lock;
        this.sessions = sessions;
    }

    private interface Acquiring {
        Optional<Lease> acquire() throws InterruptedException;
    }

    private Optional<Lease> recording(Acquiring acquiring) throws InterruptedException {
        Attempt attempt = history.attempt(client, claims, sessions);
        Optional<Lease> lease;
        try {
            lease = acquiring.acquire();
        } catch (InterruptedException | RuntimeException e) {
            attempt.gaveUp(e.getClass().getSimpleName());
            throw e;
        }
        if (lease.isEmpty()) {
            attempt.gaveUp("out of time");
        }
        return lease.map(granted -> RecordedLease.granted(attempt, granted));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return recording(() -> Optional.of(lock.acquire())).orElseThrow();
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return recording(lock::tryAcquire);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return recording(() -> lock.tryAcquire(timeout));
    }

    /** Cancelling the returned future cancels the lock's own. */
    @Override
    public CompletableFuture<Lease> acquireAsync() {
        Attempt attempt = history.attempt(client, claims, sessions);
        CompletableFuture<Lease> asked = lock.acquireAsync();
        CompletableFuture<Lease> recorded = new CompletableFuture<>();
        var unused = asked.whenComplete((lease, failure) -> {
            if (lease != null) {
                handOver(RecordedLease.granted(attempt, lease), recorded);
            } else {
                attempt.gaveUp(String.valueOf(failure));
                recorded.completeExceptionally(failure);
            }
        });
        return cancelling(recorded, asked);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        Attempt attempt = history.attempt(client, claims, sessions);
        CompletableFuture<Optional<Lease>> asked = lock.tryAcquireAsync(timeout);
        CompletableFuture<Optional<Lease>> recorded = new CompletableFuture<>();
        var unused = asked.whenComplete((lease, failure) -> {
            if (lease != null && lease.isPresent()) {
                RecordedLease granted = RecordedLease.granted(attempt, lease.get());
                if (!recorded.complete(Optional.of(granted))) {
                    granted.close();
                }
            } else if (lease != null) {
                attempt.gaveUp("out of time");
                recorded.complete(lease);
            } else {
                attempt.gaveUp(String.valueOf(failure));
                recorded.completeExceptionally(failure);
            }
        });
        return cancelling(recorded, asked);
    }

    /** A lease that nobody waits for any more is given back. */
    private static void handOver(Lease lease, CompletableFuture<Lease> to) {
        if (!to.complete(lease)) {
            lease.close();
        }
    }

    private static <T> CompletableFuture<T> cancelling(CompletableFuture<T> recorded, CompletableFuture<?> asked) {
        var unused = recorded.whenComplete((result, failure) -> {
            if (recorded.isCancelled()) {
                asked.cancel(false);
            }
        });
        return recorded;
    }

    @Override
    public List<Contender> queue() {
        return lock.queue();
    }
}
