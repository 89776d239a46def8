// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.admin.Contender;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** A lock whose attempts and leases are recorded. Does nothing else. */
final class RecordedLock implements Acquirable {
    private final EventLog log;
    private final String client;
    private final List<LockClaim> claims;
    private final Acquirable lock;
    private final Supplier<ServerObservation> observation;

    RecordedLock(
            EventLog log,
            String client,
            List<LockClaim> claims,
            Acquirable lock,
            Supplier<ServerObservation> observation) {
        this.log = log;
        this.client = client;
        this.claims = claims;
        this.lock = lock;
        this.observation = observation;
    }

    private interface AcquireCall {
        Optional<Lease> acquire() throws InterruptedException;
    }

    private Attempt asking(String how) {
        return log.attempt(client, claims, observation.get(), how);
    }

    private Optional<Lease> recording(String how, AcquireCall acquiring) throws InterruptedException {
        Attempt attempt = asking(how);
        Optional<Lease> lease;
        try {
            lease = acquiring.acquire();
        } catch (InterruptedException | RuntimeException e) {
            attempt.gaveUp(e.getClass().getSimpleName());
            throw e;
        }
        if (lease.isEmpty()) {
            attempt.gaveUp(HistoryEvent.OUT_OF_TIME);
        }
        return lease.map(granted -> RecordedLease.granted(attempt, granted));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return recording("", () -> Optional.of(lock.acquire())).orElseThrow();
    }

    @Override
    public Lease acquire(Duration timeout) throws InterruptedException {
        return recording(timeout.toString(), () -> Optional.of(lock.acquire(timeout)))
                .orElseThrow();
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

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return recordingAsync("", lock::acquireAsync, Optional::of, granted -> granted);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(Duration timeout) {
        return recordingAsync(timeout.toString(), () -> lock.acquireAsync(timeout), Optional::of, granted -> granted);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        return recordingAsync(timeout.toString(), () -> lock.tryAcquireAsync(timeout), lease -> lease, Optional::of);
    }

    /** Cancelling the returned future cancels the lock's own; a lease whose caller no longer waits is released. */
    private <T> CompletableFuture<T> recordingAsync(
            String how,
            Supplier<CompletableFuture<T>> acquiring,
            Function<T, Optional<Lease>> leaseOf,
            Function<Lease, T> answerWith) {
        Attempt attempt = asking(how);
        CompletableFuture<T> asked;
        try {
            asked = acquiring.get();
        } catch (RuntimeException e) {
            attempt.gaveUp(e.getClass().getSimpleName());
            throw e;
        }
        CompletableFuture<T> recorded = new CompletableFuture<>();
        var unused = asked.whenComplete((answer, failure) -> {
            if (answer == null) {
                attempt.gaveUp(String.valueOf(failure));
                recorded.completeExceptionally(failure);
                return;
            }
            Optional<Lease> lease = leaseOf.apply(answer);
            if (lease.isEmpty()) {
                attempt.gaveUp(HistoryEvent.OUT_OF_TIME);
                recorded.complete(answer);
                return;
            }
            Lease granted = RecordedLease.granted(attempt, lease.get());
            if (!recorded.complete(answerWith.apply(granted))) {
                granted.close();
            }
        });
        var unused2 = recorded.whenComplete((answer, failure) -> {
            if (recorded.isCancelled()) {
                asked.cancel(false);
            }
        });
        return recorded;
    }

    @Override
    public List<Contender> queue() throws InterruptedException {
        return lock.queue();
    }

    @Override
    public CompletableFuture<List<Contender>> queueAsync() {
        return lock.queueAsync();
    }

    @Override
    public Acquirable heldAtMost(Duration limit) {
        return new RecordedLock(log, client, claims, lock.heldAtMost(limit), observation);
    }

    @Override
    public Acquirable labelled(String label) {
        return new RecordedLock(log, client, claims, lock.labelled(label), observation);
    }
}
