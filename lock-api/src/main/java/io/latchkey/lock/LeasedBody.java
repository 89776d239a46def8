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
            BodyRelease.release(lease, Optional.empty(), thrown);
            throw thrown;
        }
        BodyRelease.release(lease, Optional.empty(), null);
        return result;
    }
}
