// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.Mutex;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;

/** A mutex that counts its grants. */
final class MeteredMutex implements Mutex {
    private final Mutex inner;
    private final AtomicLong grants;

    MeteredMutex(Mutex inner, AtomicLong grants) {
        this.inner = inner;
        this.grants = grants;
    }

    private Lease counted(Lease lease) {
        grants.incrementAndGet();
        return lease;
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return counted(inner.acquire());
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return inner.tryAcquire().map(this::counted);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        return inner.tryAcquire(timeout).map(this::counted);
    }

    /** Returns the future itself: to cancel another that depends on it would leave the request in the queue. */
    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> asked = inner.acquireAsync();
        var unused = asked.thenApply(this::counted);
        return asked;
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        CompletableFuture<Optional<Lease>> asked = inner.tryAcquireAsync(timeout);
        var unused = asked.thenApply(granted -> granted.map(this::counted));
        return asked;
    }

    @Override
    public List<Contender> queue() {
        return inner.queue();
    }

    @Override
    public Lock asLock() {
        return inner.asLock();
    }

    @Override
    public Mutex labelled(String label) {
        return new MeteredMutex(inner.labelled(label), grants);
    }
}
