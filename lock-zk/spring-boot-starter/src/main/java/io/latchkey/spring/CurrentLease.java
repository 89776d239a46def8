// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring;

import io.latchkey.lock.Lease;
import java.util.Optional;

/**
 * The lease under which the current thread runs a {@link Locked} method. A bean that has such a method gets this one
 * injected, and passes the {@link #token} to the stores that it writes to.
 */
public interface CurrentLease {
    /**
     * Returns the lease of the innermost {@link Locked} method of this thread. It ends with the method: do not release
     * it.
     *
     * @return the lease; empty outside of such a method, also if it was called from within its own bean
     */
    Optional<Lease> find();

    /**
     * Returns the lease of the innermost {@link Locked} method of this thread.
     *
     * @return the lease
     * @throws IllegalStateException if this thread is not in such a method, or the method was called from within its own
     *     bean and so without a lock
     */
    default Lease get() {
        return find().orElseThrow(() -> new IllegalStateException(
                "This thread holds no lease of a @Locked method. Either there is no such method around"
                        + " this call, or it was called from within its own bean, past the proxy that"
                        + " acquires the lock; or the work has moved to another thread: pass the lease"
                        + " to it."));
    }

    /**
     * Returns the fencing token of the lease: {@link Lease#token}.
     *
     * @return the token
     * @throws IllegalStateException as {@link #get} does
     */
    default long token() {
        return get().token();
    }
}
