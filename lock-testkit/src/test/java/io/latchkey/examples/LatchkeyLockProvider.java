// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** ShedLock's locks: a mutex for each task name. */
public final class LatchkeyLockProvider implements LockProvider {
    private final LockClient locks;
    private final String parent;
    private final ScheduledExecutorService timer;

    public LatchkeyLockProvider(LockClient locks, String parent, ScheduledExecutorService timer) {
        this.locks = locks;
        this.parent = parent;
        this.timer = timer;
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration task) {
        String name = "task-" + URLEncoder.encode(task.getName(), StandardCharsets.UTF_8);
        try {
            return locks.mutex(parent + "/" + name).tryAcquire().map(lease -> () -> unlock(lease, task));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty(); // the task is skipped
        }
    }

    private void unlock(Lease lease, LockConfiguration task) {
        Duration early = Duration.between(Instant.now(), task.getLockAtLeastUntil());
        if (early.isNegative() || early.isZero()) {
            lease.close();
        } else {
            var unused = timer.schedule(lease::close, early.toNanos(), TimeUnit.NANOSECONDS);
        }
    }
}
