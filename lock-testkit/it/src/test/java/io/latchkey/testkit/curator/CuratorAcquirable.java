// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.admin.Contender;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/** Asks Curator, each time with a lock object of its own. */
abstract class CuratorAcquirable implements OtherLibrary.Lock {
    private final CuratorLockClient client;
    private final String path;

    CuratorAcquirable(CuratorLockClient client, String path) {
        this.client = client;
        this.path = path;
    }

    /** A new lock object of Curator's. */
    abstract InterProcessLock lock();

    final CuratorLockClient client() {
        return client;
    }

    final String path() {
        return path;
    }

    private CuratorRequest request(Optional<Duration> timeout) {
        return new CuratorRequest(client, path, lock(), timeout);
    }

    private Optional<Lease> ask(Optional<Duration> timeout) throws InterruptedException {
        client.checkOpen();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        CuratorRequest request = request(timeout);
        try {
            return request.start().get();
        } catch (InterruptedException interrupted) {
            request.abandon();
            throw interrupted;
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof LockException told
                    ? told
                    : new LockException("Curator failed", failed.getCause());
        }
    }

    private CompletableFuture<Optional<Lease>> askAsync(Optional<Duration> timeout) {
        try {
            client.checkOpen();
        } catch (LockException closed) {
            return CompletableFuture.failedFuture(closed);
        }
        return request(timeout).start();
    }

    private static Duration checked(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout is negative: " + timeout);
        }
        return timeout;
    }

    @Override
    public final Lease acquire() throws InterruptedException {
        return ask(Optional.empty()).orElseThrow();
    }

    @Override
    public final Lease acquireUninterruptibly() {
        client.checkOpen();
        try {
            return Uninterruptibles.getUninterruptibly(request(Optional.empty()).start())
                    .orElseThrow();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof LockException told
                    ? told
                    : new LockException("Curator failed", failed.getCause());
        }
    }

    @Override
    public final Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    @Override
    public final Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return ask(Optional.of(checked(timeout)));
    }

    /** That library does not say why. */
    @Override
    public final Lease acquire(Duration timeout) throws InterruptedException {
        return tryAcquire(timeout)
                .orElseThrow(() -> new LockTimeoutException("not acquired", LockException.Reason.HELD_BY_OTHERS));
    }

    @Override
    public final CompletableFuture<Lease> acquireAsync(Duration timeout) {
        return tryAcquireAsync(timeout)
                .thenApply(lease -> lease.orElseThrow(
                        () -> new LockTimeoutException("not acquired", LockException.Reason.HELD_BY_OTHERS)));
    }

    @Override
    public final CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Optional<Lease>> asked = askAsync(Optional.empty());
        CompletableFuture<Lease> granted = new CompletableFuture<>();
        var handedOver = asked.whenCompleteAsync((lease, failure) -> {
            if (failure != null) {
                granted.completeExceptionally(failure);
            } else if (!granted.complete(lease.orElseThrow())) {
                lease.orElseThrow().close();
            }
        });
        var unused = granted.whenComplete((lease, failure) -> {
            if (!handedOver.isDone()) {
                asked.cancel(false);
            }
        });
        return granted;
    }

    @Override
    public final CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        return askAsync(Optional.of(checked(timeout)));
    }

    @Override
    public List<Contender> queue() throws InterruptedException {
        return client.queue(path);
    }
}
