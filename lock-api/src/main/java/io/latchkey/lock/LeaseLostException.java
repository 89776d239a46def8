// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;

/**
 * Thrown when a lease was lost before it was released.
 *
 * <p>Other requests may hold now. Writes made under the lease before the loss remain; no further write may be made
 * under it. Stop; if the work is still needed, acquire again and start over, from the first read. The lease need not be
 * released.
 */
public class LeaseLostException extends LockException {
    private static final long serialVersionUID = 1L;

    /** The cause of the loss. */
    private final LossCause lossCause;

    /**
     * Constructs the exception.
     *
     * @param message the lease that was lost, and the cause
     * @param lossCause the cause of the loss
     */
    public LeaseLostException(String message, LossCause lossCause) {
        super(message, Reason.LEASE_LOST);
        this.lossCause = Objects.requireNonNull(lossCause, "lossCause");
    }

    /**
     * Returns the cause of the loss.
     *
     * @return the cause of the loss
     */
    public LossCause lossCause() {
        return lossCause;
    }
}
