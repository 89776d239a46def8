// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.shedlock;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.spring.LockKeys;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * ShedLock's locks: a mutex for each task, at {@code PATH/task-NAME}.
 *
 * <ul>
 *   <li>{@code lockAtMostFor} ends the lock of a task that hangs, as {@link Mutex#heldAtMost} does. The task goes on:
 *       ShedLock does not interrupt it. If the process dies, the lock is free when its session has ended.
 *   <li>{@code lockAtLeastFor} keeps the lock of a task that was quick, and counts from the grant. The end of the client, or of the process, and a
 *       request to release end it earlier.
 *   <li>{@link SimpleLock#extend} is not supported: a lease needs no extension.
 *   <li>If no server answers, {@link #lock} throws a {@link io.latchkey.lock.LockServiceUnavailableException}, and the
 *       task does not run.
 * </ul>
 */
public final class LatchkeyLockProvider implements LockProvider, AutoCloseable {
    private static final Duration IDLE = Duration.ofSeconds(5);

    private final LockClient client;
    private final String path;
    /** Releases locks whose task was quick. Its thread ends when nothing is left to be released. */
    private final ScheduledThreadPoolExecutor later;

    /**
     * Makes a provider.
     *
     * @param client the client, which the provider does not close
     * @param path the path above the locks
     */
    public LatchkeyLockProvider(LockClient client, String path) {
        this.client = Objects.requireNonNull(client, "client");
        this.path = Objects.requireNonNull(path, "path");
        var unused = client.mutex(LockKeys.path(path, "task-", "name")); // a bad path fails here
        later = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "latchkey-shedlock");
            thread.setDaemon(true);
            return thread;
        });
        later.setKeepAliveTime(IDLE.toSeconds(), TimeUnit.SECONDS);
        later.allowCoreThreadTimeOut(true);
        later.setRemoveOnCancelPolicy(true);
    }

    /** Acquires the lock of a task, if it is free now. */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration task) {
        try {
            Mutex mutex = client.mutex(LockKeys.path(path, "task-", task.getName()));
            return mutex.heldAtMost(task.getLockAtMostFor()).tryAcquire().map(lease -> new HeldTask(task, lease));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return Optional.empty(); // the task is skipped
        }
    }

    private final class HeldTask extends AbstractSimpleLock {
        private final Lease lease;
        private final long granted = System.nanoTime();

        HeldTask(LockConfiguration task, Lease lease) {
            super(task);
            this.lease = lease;
        }

        @Override
        protected void doUnlock() {
            Duration held = Duration.ofNanos(System.nanoTime() - granted);
            Duration early = lockConfiguration.getLockAtLeastFor().minus(held);
            if (early.isNegative() || early.isZero()) {
                lease.close();
                return;
            }
            try { // later, or when the client is closed with a grace
                var release = later.schedule(() -> lease.releaseAsync(), early.toMillis() + 1, TimeUnit.MILLISECONDS);
                var unused = lease.releaseRequested().thenRun(() -> {
                    release.cancel(false);
                    var unusedRelease = lease.releaseAsync();
                });
            } catch (RejectedExecutionException closed) {
                lease.close();
            }
        }
    }

    /** Ends the provider's thread. Locks that are kept are released with the client. */
    @Override
    public void close() {
        var unused = later.shutdownNow();
    }
}
