// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Something to do while a lease is held, without a result.
 *
 * @param <X> the type of the checked exception that it may throw
 * @see Acquirable#run
 */
@FunctionalInterface
public interface LeaseAction<X extends Throwable> {
    /**
     * Does it. The caller releases the lease afterwards; to release it earlier, in here, is allowed.
     *
     * @param lease the lease that is held
     * @throws X if it fails
     */
    void accept(Lease lease) throws X;
}
