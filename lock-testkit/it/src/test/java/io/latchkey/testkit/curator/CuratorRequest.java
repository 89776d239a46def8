// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.zookeeper.KeeperException;

/**
 * One acquisition with a lock object and a thread of its own: Curator's mutexes are re-entrant, and only the thread
 * that acquired may release.
 */
final class CuratorRequest {
    private final CuratorLockClient client;
    private final String path;
    private final InterProcessLock lock;
    private final Optional<Duration> timeout;
    private final CompletableFuture<Optional<Lease>> granted = new CompletableFuture<>();
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final CompletableFuture<ReleaseOutcome> released = new CompletableFuture<>();
    private final Thread thread;
    private boolean acquiring = true;

    CuratorRequest(CuratorLockClient client, String path, InterProcessLock lock, Optional<Duration> timeout) {
        this.client = client;
        this.path = path;
        this.lock = lock;
        this.timeout = timeout;
        this.thread = new Thread(this::run, "curator-request-" + path);
        thread.setDaemon(true);
    }

    /** Asks. To complete what it returns gives up. */
    CompletableFuture<Optional<Lease>> start() {
        var unused = granted.whenComplete((lease, failure) -> giveUp());
        thread.start();
        return granted;
    }

    private synchronized void giveUp() {
        if (acquiring) {
            thread.interrupt();
        }
    }

    /** Interrupts Curator, and returns when that has ended. */
    void abandon() {
        granted.cancel(false);
        uninterruptibly(released);
    }

    CompletableFuture<ReleaseOutcome> letGo() {
        over.complete(null);
        return released;
    }

    private void run() {
        try {
            boolean acquired = acquire();
            synchronized (this) {
                acquiring = false;
            }
            if (acquired) {
                hold();
            } else {
                granted.complete(Optional.empty());
            }
            released.complete(ReleaseOutcome.RELEASED);
        } catch (Exception failed) {
            granted.completeExceptionally(client.translated(failed));
            released.complete(ReleaseOutcome.PENDING);
        }
    }

    private boolean acquire() throws Exception {
        if (timeout.isPresent()) {
            return lock.acquire(timeout.get().toMillis(), TimeUnit.MILLISECONDS);
        }
        lock.acquire();
        return true;
    }

    private void hold() throws Exception {
        Thread.interrupted(); // a late one, of a request that was given up when it had been granted
        AdaptedLease lease = new AdaptedLease(path, this::letGo);
        var unused = lease.lost().thenCompose(cause -> letGo());
        client.keep(lease);
        if (granted.complete(Optional.of(lease))) {
            uninterruptibly(over);
        }
        client.forget(lease);
        lock.release();
    }

    static LockException translated(Exception failed) {
        if (failed instanceof LockException told) {
            return told;
        }
        return failed instanceof KeeperException.ConnectionLossException
                        || failed instanceof KeeperException.OperationTimeoutException
                ? new LockServiceUnavailableException(String.valueOf(failed))
                : new LockException(String.valueOf(failed), failed);
    }

    /**
     * Did Curator say so, because it was given no path for its own node? That happens when the node is lost between two
     * looks of a create with protection: the mutex goes on with {@code null}, and so does the semaphore.
     */
    static boolean isWithoutPath(String message) {
        return message.contains(
                        "NullPointerException: Cannot invoke \"String.substring(int)\" because \"ourPath\" is null")
                || message.contains("LockException: java.lang.IllegalArgumentException: Path cannot be null");
    }

    private static <T> T uninterruptibly(CompletableFuture<T> awaited) {
        try {
            return Uninterruptibles.getUninterruptibly(awaited);
        } catch (ExecutionException failed) {
            throw new LockException("Curator failed", failed.getCause());
        }
    }
}
