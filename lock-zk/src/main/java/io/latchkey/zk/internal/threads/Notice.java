// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A future that only its owner completes, so that all callers can share one object: a caller's attempt to complete or
 * cancel it has no effect. A copy for each caller would stay registered here until this one completes, which for most
 * leases is never. Dependent stages are ordinary futures.
 */
public final class Notice<T> extends CompletableFuture<T> {
    public void deliver(T news) {
        super.complete(news);
    }

    public void fail(Throwable why) {
        super.completeExceptionally(why);
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }

    @Override
    public boolean complete(T value) {
        return false;
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        return false;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return false;
    }

    @Override
    public void obtrudeValue(T value) {
        // Completed by its owner only.
    }

    @Override
    public void obtrudeException(Throwable failure) {
        // Completed by its owner only.
    }

    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        return this;
    }

    /** Applies the timeout to a copy, which belongs to the caller. */
    @Override
    public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        return copy().orTimeout(timeout, unit);
    }

    /** Applies the timeout to a copy, which belongs to the caller. */
    @Override
    public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        return copy().completeOnTimeout(value, timeout, unit);
    }
}
