// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;

/** Tasks for a plain executor that wait for their lock without a thread. */
public final class LockedTasks {
    private final ExecutorService workers;

    public LockedTasks(ExecutorService workers) {
        this.workers = workers;
    }

    /** Runs {@code task} on a worker once {@code lock} is held, and releases it then. */
    public <T> CompletableFuture<T> submit(Acquirable lock, Function<Lease, T> task) {
        return lock.acquireAsync().thenCompose(lease -> {
            try {
                return CompletableFuture.supplyAsync(() -> holding(lease, task), workers);
            } catch (RejectedExecutionException full) {
                var unused = lease.releaseAsync();
                return CompletableFuture.failedFuture(full);
            }
        });
    }

    private static <T> T holding(Lease lease, Function<Lease, T> task) {
        try (lease) {
            lease.ensureValid(); // it may have waited for a worker
            return task.apply(lease);
        }
    }
}
