// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/** The fate of a running body whose lease is lost, as {@link Acquirable#call(OnLoss, LeaseFunction)} takes it. */
public enum OnLoss {
    /** The body goes on, and its result is returned, as {@link Acquirable#call(LeaseFunction)} describes. */
    CONTINUE,

    /**
     * The thread of the body is interrupted, and the call ends with a {@link LeaseLostException}, as {@link
     * Acquirable#call(OnLoss, LeaseFunction)} describes.
     */
    INTERRUPT
}
