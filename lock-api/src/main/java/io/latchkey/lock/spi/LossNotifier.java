// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.spi;

import io.latchkey.lock.Lease;
import io.latchkey.lock.OnLoss;
import java.util.Objects;

/**
 * A {@link Lease} that tells of its loss without waiting for the client's callback executor. {@link OnLoss#INTERRUPT}
 * and {@code Leadership} interrupt a body through it. A wrapper of a lease implements this interface and passes the
 * handler to the wrapped lease by {@link #register}. Otherwise the interruption of a body waits for the callback
 * executor.
 */
public interface LossNotifier {
    /**
     * Has {@code handler} called once when the lease is lost; at once if it is lost already; never after a release. The
     * call is made as soon as {@link Lease#isValid} is {@code false}, or as soon after as that is found out. It is made
     * on a thread of its own without a lock, so the handler may block. The node of the lease is deleted when the call
     * has returned, or after the bound that {@link Lease#lost} names.
     *
     * @param handler acts on the loss; an exception of it has no effect
     */
    void onLoss(LossHandler handler);

    /**
     * Has {@code handler} called when {@code lease} is lost: at once if that is a {@code LossNotifier}, and otherwise
     * as a stage of {@link Lease#lost}.
     *
     * @param lease the lease
     * @param handler acts on the loss; an exception of it has no effect
     */
    static void register(Lease lease, LossHandler handler) {
        Objects.requireNonNull(handler, "handler");
        if (lease instanceof LossNotifier notifier) {
            notifier.onLoss(handler);
        } else {
            var unused = lease.lost().thenAccept(handler::lost);
        }
    }
}
