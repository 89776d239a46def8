// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** ShedLock's locks: a mutex for each task name. */
public final class LatchkeyLockProvider implements LockProvider {
    private final LockClient locks;
    private final String parent;

    public LatchkeyLockProvider(LockClient locks, String parent) {
        this.locks = locks;
        this.parent = parent;
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration task) {
        String name = "task-" + URLEncoder.encode(task.getName(), StandardCharsets.UTF_8);
        try {
            Mutex mutex = locks.mutex(parent + "/" + name).heldAtMost(task.getLockAtMostFor());
            return mutex.tryAcquire().map(lease -> () -> unlock(lease, task));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty(); // the task is skipped
        }
    }

    private static void unlock(Lease lease, LockConfiguration task) {
        Duration early = Duration.between(Instant.now(), task.getLockAtLeastUntil());
        if (early.isNegative() || early.isZero()) {
            lease.close();
        } else { // later, or when the client is closed with a grace
            CompletableFuture.delayedExecutor(early.toNanos(), TimeUnit.NANOSECONDS).execute(lease::releaseAsync);
            lease.releaseRequested().thenRun(lease::releaseAsync);
        }
    }
}
