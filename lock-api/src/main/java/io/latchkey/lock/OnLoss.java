// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/** What happens to a running body when its lease is lost; see {@link Acquirable#call(OnLoss, LeaseFunction)}. */
public enum OnLoss {
    /** The body continues, and its result is returned, as {@link Acquirable#call(LeaseFunction)} describes. */
    CONTINUE,

    /**
     * The thread of the body is interrupted, and the call ends with a {@link LeaseLostException}, as {@link
     * Acquirable#call(OnLoss, LeaseFunction)} describes.
     */
    INTERRUPT
}
