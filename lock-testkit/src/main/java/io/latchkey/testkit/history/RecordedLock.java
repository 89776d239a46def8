// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A lock whose attempts and leases are recorded. Does nothing else. */
final class RecordedLock implements Acquirable {
    /** The note of an attempt whose time was over. */
    static final String OUT_OF_TIME = "out of time";

    private final History history;
    private final String client;
    private final List<LockClaim> claims;
    private final Acquirable lock;
    private final Supplier<ServerObservation> observation;

    RecordedLock(
            History history,
            String client,
            List<LockClaim> claims,
            Acquirable lock,
            Supplier<ServerObservation> observation) {
        this.history = history;
        this.client = client;
        this.claims = claims;
        this.lock = lock;
        this.observation = observation;
    }

    private interface Acquiring {
        Optional<Lease> acquire() throws InterruptedException;
    }

    private Attempt asking(String how) {
        return history.attempt(client, claims, observation.get(), how);
    }

    private Optional<Lease> recording(String how, Acquiring acquiring) throws InterruptedException {
        Attempt attempt = asking(how);
        Optional<Lease> lease;
        try {
            lease = acquiring.acquire();
        } catch (InterruptedException | RuntimeException e) {
            attempt.gaveUp(e.getClass().getSimpleName());
            throw e;
        }
        if (lease.isEmpty()) {
            attempt.gaveUp(OUT_OF_TIME);
        }
        return lease.map(granted -> RecordedLease.granted(attempt, granted));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return recording("", () -> Optional.of(lock.acquire())).orElseThrow();
    }

    @Override
    public Lease acquireUninterruptibly() {
        Attempt attempt = asking("");
        try {
            return RecordedLease.granted(attempt, lock.acquireUninterruptibly());
        } catch (RuntimeException e) {
            attempt.gaveUp(e.getClass().getSimpleName());
            throw e;
        }
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return recording(Duration.ZERO.toString(), lock::tryAcquire);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return recording(timeout.toString(), () -> lock.tryAcquire(timeout));
    }

    /** Cancelling the returned future cancels the lock's own. */
    @Override
    public CompletableFuture<Lease> acquireAsync() {
        Attempt attempt = asking("");
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
        Attempt attempt = asking(timeout.toString());
        CompletableFuture<Optional<Lease>> asked = lock.tryAcquireAsync(timeout);
        CompletableFuture<Optional<Lease>> recorded = new CompletableFuture<>();
        var unused = asked.whenComplete((lease, failure) -> {
            if (lease != null && lease.isPresent()) {
                RecordedLease granted = RecordedLease.granted(attempt, lease.get());
                if (!recorded.complete(Optional.of(granted))) {
                    granted.close();
                }
            } else if (lease != null) {
                attempt.gaveUp(OUT_OF_TIME);
                recorded.complete(lease);
            } else {
                attempt.gaveUp(String.valueOf(failure));
                recorded.completeExceptionally(failure);
            }
        });
        return cancelling(recorded, asked);
    }

    /** Releases a lease whose caller no longer waits for it. */
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

    @Override
    public Acquirable labelled(String label) {
        return new RecordedLock(history, client, claims, lock.labelled(label), observation);
    }
}
