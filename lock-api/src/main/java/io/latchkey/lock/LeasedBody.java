// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs a body under a lease and releases it: {@link Acquirable#call(OnLoss, LeaseFunction)}. */
final class LeasedBody {
    private LeasedBody() {}

    static <T extends @Nullable Object, X extends Throwable> T call(
            OnLoss onLoss, Lease lease, LeaseFunction<T, X> body) throws X {
        return switch (onLoss) {
            case THROW -> thenThrow(lease, body);
            case INTERRUPT -> BodyInterruption.call(lease, body);
            case IGNORE -> ignoring(lease, body);
        };
    }

    private static <T extends @Nullable Object, X extends Throwable> T ignoring(Lease lease, LeaseFunction<T, X> body)
            throws X {
        try (lease) {
            return body.apply(lease);
        }
    }

    private static <T extends @Nullable Object, X extends Throwable> T thenThrow(Lease lease, LeaseFunction<T, X> body)
            throws X {
        T result;
        try {
            result = body.apply(lease);
        } catch (Throwable thrown) {
            release(lease, Optional.empty(), thrown);
            throw thrown;
        }
        release(lease, Optional.empty(), null);
        return result;
    }

    /**
     * Releases the lease after its body.
     *
     * @param known the cause of the loss, if it is known already
     * @param thrown what the body has thrown, if anything
     * @throws LeaseLostException if the lease was lost before the body had ended, or the release shows that it was
     */
    static void release(Lease lease, Optional<LossCause> known, @Nullable Throwable thrown) {
        boolean lost = lease.release() == ReleaseOutcome.LOST;
        if (known.isPresent() || lost) {
            // The client may have taken it for valid: then the server's answer says that the node had gone.
            LossCause why = known.or(lease::lossCause).orElse(LossCause.NODE_DELETED);
            LeaseLostException loss = new LeaseLostException(
                    "The lease on " + lease.path() + " with token " + lease.token() + " was lost before its body had"
                            + " ended (" + why + "). Another client may hold the lock by now, and the body's result is"
                            + " dropped. Acquire again if the work is still to be done, and begin with what it reads.",
                    why);
            loss.initCause(thrown);
            throw loss;
        }
    }
}
