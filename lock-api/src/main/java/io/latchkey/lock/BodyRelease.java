// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The release of a lease whose body has ended. */
final class BodyRelease {
    private BodyRelease() {}

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
