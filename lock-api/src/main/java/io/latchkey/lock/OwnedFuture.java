// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A future that only its owner completes, so that all callers share one object. A copy for each caller would stay
 * registered here until this one completes. Dependent stages are ordinary futures.
 */
final class OwnedFuture extends CompletableFuture<@Nullable Void> {
    void deliver() {
        super.complete(null);
    }

    void fail(Throwable why) {
        super.completeExceptionally(why);
    }

    @Override
    public <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }

    @Override
    public boolean complete(@Nullable Void value) {
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
    public void obtrudeValue(@Nullable Void value) {
        // Completed by its owner only.
    }

    @Override
    public void obtrudeException(Throwable failure) {
        // Completed by its owner only.
    }

    @Override
    public CompletableFuture<@Nullable Void> completeAsync(
            Supplier<? extends @Nullable Void> supplier, Executor executor) {
        return this;
    }

    /** Applies the timeout to a copy, which belongs to the caller. */
    @Override
    public CompletableFuture<@Nullable Void> orTimeout(long timeout, TimeUnit unit) {
        return copy().orTimeout(timeout, unit);
    }

    /** Applies the timeout to a copy, which belongs to the caller. */
    @Override
    public CompletableFuture<@Nullable Void> completeOnTimeout(@Nullable Void value, long timeout, TimeUnit unit) {
        return copy().completeOnTimeout(null, timeout, unit);
    }
}
