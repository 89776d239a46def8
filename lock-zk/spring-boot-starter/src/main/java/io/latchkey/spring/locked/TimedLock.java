// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.admin.Contender;
import io.latchkey.spring.LockBusyException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock whose plain {@code acquire()}, and so {@code call} and {@code run}, wait for a limited time. A lock that others
 * hold and servers that do not answer are two exceptions.
 */
record TimedLock(Acquirable lock, String path, Duration timeout) implements Acquirable {
    @Override
    public Lease acquire() throws InterruptedException {
        try {
            return lock.acquire(timeout);
        } catch (LockTimeoutException late) {
            if (late.reason() == LockException.Reason.HELD_BY_OTHERS) {
                LockBusyException busy = new LockBusyException("Others held the lock at " + path + " for "
                        + timeout.toMillis() + " ms, as long as the call could wait. The method was not called.");
                busy.initCause(late);
                throw busy;
            }
            LockServiceUnavailableException unavailable =
                    new LockServiceUnavailableException(String.valueOf(late.getMessage()), late.reason());
            unavailable.initCause(late);
            throw unavailable;
        }
    }

    @Override
    public Lease acquire(Duration time) throws InterruptedException {
        return lock.acquire(time);
    }

    @Override
    public Lease acquireUninterruptibly() {
        return lock.acquireUninterruptibly();
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return lock.tryAcquire();
    }

    @Override
    public Optional<Lease> tryAcquire(Duration time) throws InterruptedException {
        return lock.tryAcquire(time);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return lock.acquireAsync();
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(Duration time) {
        return lock.acquireAsync(time);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration time) {
        return lock.tryAcquireAsync(time);
    }

    @Override
    public Acquirable labelled(String label) {
        return new TimedLock(lock.labelled(label), path, timeout);
    }

    @Override
    public Acquirable heldAtMost(Duration limit) {
        return new TimedLock(lock.heldAtMost(limit), path, timeout);
    }

    @Override
    public List<Contender> queue() throws InterruptedException {
        return lock.queue();
    }

    @Override
    public CompletableFuture<List<Contender>> queueAsync() {
        return lock.queueAsync();
    }
}
