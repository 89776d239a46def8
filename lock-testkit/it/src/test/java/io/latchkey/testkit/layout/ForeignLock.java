// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.layout;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.curator.AdaptedLease;
import io.latchkey.testkit.curator.OtherLibrary;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;

/** A lock of another library. A request that gives up is granted some time, and released at once. */
record ForeignLock(ForeignClient client, String kind, String path) implements OtherLibrary.OneHolder {
    private static final int NO_LIMIT = -1;

    private CompletableFuture<Optional<Lease>> ask(long millis) {
        String id = client.newId();
        CompletableFuture<Optional<Lease>> outcome = new CompletableFuture<>();
        var unused = client.acquire(id, kind, path, millis).whenComplete((granted, failure) -> {
            if (failure != null) {
                outcome.completeExceptionally(failure);
            } else if (!granted) {
                outcome.complete(Optional.empty());
            } else {
                AdaptedLease lease =
                        new AdaptedLease(path, () -> client.release(id).thenApply(done -> ReleaseOutcome.RELEASED));
                client.keep(id, lease);
                if (!outcome.complete(Optional.of(lease))) {
                    var unused2 = lease.releaseAsync();
                }
            }
        });
        return outcome;
    }

    private static <T> T await(CompletableFuture<T> asked) throws InterruptedException {
        try {
            return asked.get();
        } catch (InterruptedException interrupted) {
            asked.cancel(false);
            throw interrupted;
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof LockException told ? told : new LockException("failed", failed);
        }
    }

    /** Whatever the other library fails with on a bad day, its user asks again. */
    @Override
    public Lease acquire() throws InterruptedException {
        while (true) {
            try {
                return await(ask(NO_LIMIT)).orElseThrow();
            } catch (LockServiceUnavailableException again) {
                // Asks again.
            }
        }
    }

    @Override
    public Lease acquireUninterruptibly() {
        throw new UnsupportedOperationException("not with another library");
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return await(ask(Math.max(1, timeout.toMillis())));
    }

    /** That library does not say why. */
    @Override
    public Lease acquire(Duration timeout) throws InterruptedException {
        return tryAcquire(timeout)
                .orElseThrow(() -> new LockTimeoutException("not acquired", LockException.Reason.HELD_BY_OTHERS));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(Duration timeout) {
        return tryAcquireAsync(timeout)
                .thenApply(lease -> lease.orElseThrow(
                        () -> new LockTimeoutException("not acquired", LockException.Reason.HELD_BY_OTHERS)));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> granted = new CompletableFuture<>();
        var unused = ask(NO_LIMIT).whenComplete((lease, failure) -> {
            if (failure != null) {
                granted.completeExceptionally(failure);
            } else if (!granted.complete(lease.orElseThrow())) {
                var unused2 = lease.orElseThrow().releaseAsync();
            }
        });
        return granted;
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        return ask(Math.max(1, timeout.toMillis()));
    }

    @Override
    public List<Contender> queue() throws InterruptedException {
        throw new UnsupportedOperationException("not with another library");
    }

    @Override
    public Lock asLock() {
        throw new UnsupportedOperationException("not with another library");
    }
}
