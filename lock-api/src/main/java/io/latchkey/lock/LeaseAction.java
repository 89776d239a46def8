// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * An action to run while a lease is held, without a result.
 *
 * @param <X> the type of the checked exception that the action may throw
 * @see Acquirable#run
 */
@FunctionalInterface
public interface LeaseAction<X extends Throwable> {
    /**
     * Performs this action. The caller releases the lease afterwards; the action may release it earlier.
     *
     * @param lease the lease that is held
     * @throws X if the action fails
     */
    void accept(Lease lease) throws X;
}
