// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReleaseOutcome;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The stage that a locked method returns, with the release of its lease at the end. */
final class LeasedStage {
    private LeasedStage() {}

    /** Returns a future of the result of {@code work} that completes after the release. */
    static <T extends @Nullable Object> CompletableFuture<T> of(Lease lease, CompletionStage<T> work, OnLoss onLoss) {
        CompletableFuture<T> after = new CompletableFuture<>();
        var unused = work.whenComplete((result, failure) -> {
            var unusedRelease = lease.releaseAsync().whenComplete((outcome, problem) -> {
                if (outcome == ReleaseOutcome.LOST && onLoss == OnLoss.THROW) {
                    after.completeExceptionally(loss(lease, failure));
                } else if (failure != null) {
                    after.completeExceptionally(failure);
                } else {
                    after.complete(result);
                }
            });
        });
        var unusedStage = after.whenComplete((result, failure) -> {
            if (after.isCancelled()) {
                var unusedCancel = work.toCompletableFuture().cancel(true);
            }
        });
        return after;
    }

    private static LeaseLostException loss(Lease lease, @Nullable Throwable failure) {
        LossCause why = lease.lossCause().orElse(LossCause.NODE_DELETED);
        LeaseLostException lost = new LeaseLostException(
                "The lease on " + lease.path() + " with token " + lease.token() + " was lost before the stage of its"
                        + " method was complete (" + why + "). Another client may hold the lock by now, and the result"
                        + " is dropped.",
                why);
        lost.initCause(failure);
        return lost;
    }
}
