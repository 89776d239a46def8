// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.spi;

import io.latchkey.lock.LossCause;

/** Acts on the loss of a lease. It may block: it can interrupt a thread, which runs code of that thread. */
@FunctionalInterface
public interface LossHandler {
    /**
     * Acts on the loss.
     *
     * @param cause why the lease was lost
     */
    void lost(LossCause cause);
}
