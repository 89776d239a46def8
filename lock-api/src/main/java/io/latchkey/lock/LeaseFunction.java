// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import org.jspecify.annotations.Nullable;

/**
 * Something to do while a lease is held, with a result.
 *
 * @param <T> the type of the result
 * @param <X> the type of the checked exception that it may throw
 * @see Acquirable#call
 */
@SuppressWarnings("exports") // who reads the annotations has org.jspecify; who does not must not need it
@FunctionalInterface
public interface LeaseFunction<T extends @Nullable Object, X extends Throwable> {
    /**
     * Does it. The caller releases the lease afterwards; to release it earlier, in here, is allowed.
     *
     * @param lease the lease that is held
     * @return the result
     * @throws X if it fails
     */
    T apply(Lease lease) throws X;
}
