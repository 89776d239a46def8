// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;

/**
 * A lease was lost before it was released.
 *
 * <p>Others may hold now. What was written under the lease before the loss stands; what was not yet written must not
 * be. Stop, and acquire again if the work is still to be done, beginning with what it reads. The lease need not be
 * released.
 */
public class LeaseLostException extends LockException {
    private static final long serialVersionUID = 1L;

    /** Why the lease was lost. */
    private final LossCause lossCause;

    /**
     * Makes the exception.
     *
     * @param message which lease was lost, and why
     * @param lossCause why the lease was lost
     */
    public LeaseLostException(String message, LossCause lossCause) {
        super(message, Reason.LEASE_LOST);
        this.lossCause = Objects.requireNonNull(lossCause, "lossCause");
    }

    /**
     * Returns why the lease was lost.
     *
     * @return the cause of the loss
     */
    public LossCause lossCause() {
        return lossCause;
    }
}
