// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/** What happens to a running body when its lease is lost; see {@link Acquirable#call(OnLoss, LeaseFunction)}. */
public enum OnLoss {
    /** The body runs to its end, and then the call throws a {@link LeaseLostException}. The default. */
    THROW,

    /** The thread of the body is interrupted. When the body has ended, the call throws as with {@link #THROW}. */
    INTERRUPT,

    /** The body runs to its end, and its result is returned, or its exception thrown, as if nothing had been lost. */
    IGNORE
}
