// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import org.jspecify.annotations.Nullable;

/**
 * A function to apply while a lease is held, with a result.
 *
 * @param <T> the type of the result
 * @param <X> the type of the checked exception that the function may throw
 * @see Acquirable#call
 */
@SuppressWarnings("exports") // org.jspecify is needed only by tools that read its annotations
@FunctionalInterface
public interface LeaseFunction<T extends @Nullable Object, X extends Throwable> {
    /**
     * Applies this function. The caller releases the lease afterwards; the function may release it earlier.
     *
     * @param lease the lease that is held
     * @return the result
     * @throws X if the function fails
     */
    T apply(Lease lease) throws X;
}
