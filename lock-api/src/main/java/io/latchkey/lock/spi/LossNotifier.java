// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.spi;

import io.latchkey.lock.Lease;
import io.latchkey.lock.OnLoss;

/**
 * A {@link Lease} that tells of its loss without waiting for the client's callback executor. {@link OnLoss#INTERRUPT}
 * and {@code Leadership} interrupt a body through it. For a lease that is none, they use {@link Lease#lost}, whose
 * stages can wait for others on that executor. A wrapper of a lease implements this interface, and passes the handler
 * on.
 */
public interface LossNotifier {
    /**
     * Has {@code handler} called once when the lease is lost; at once if it is lost already; never after a release. The
     * call is made as soon as {@link Lease#isValid} is {@code false}, or as soon after as that is found out, on a
     * thread that may be blocked, without a lock. The node of the lease is deleted when the call has returned, or after
     * the bound that {@link Lease#lost} names.
     *
     * @param handler acts on the loss; an exception of it has no effect
     */
    void onLoss(LossHandler handler);

    /**
     * Has {@code handler} called when {@code lease} is lost, as early as that lease can.
     *
     * @param lease the lease
     * @param handler acts on the loss
     */
    static void onLoss(Lease lease, LossHandler handler) {
        if (lease instanceof LossNotifier notifier) {
            notifier.onLoss(handler);
        } else {
            var unused = lease.lost().thenAccept(handler::lost);
        }
    }
}
