// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring;

import io.latchkey.lock.LockTimeoutException;

/**
 * Thrown by a call of a {@link Locked} method when others held the lock for as long as the call could wait. The method
 * was not called. A web service may answer with 409 (Conflict).
 */
public class LockBusyException extends LockTimeoutException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception.
     *
     * @param message the path and the time
     */
    public LockBusyException(String message) {
        super(message, Reason.HELD_BY_OTHERS);
    }
}
