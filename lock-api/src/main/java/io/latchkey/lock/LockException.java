// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import org.jspecify.annotations.Nullable;

/**
 * Something went wrong with a lock. The subclasses say what is true now and what can be done. An exception of this
 * class itself is a refusal by the server that has no class of its own; its message and cause tell which.
 *
 * <p>A call to acquire that throws holds nothing. Running out of time and being interrupted are no such exceptions.
 */
public class LockException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what is true now
     */
    public LockException(String message) {
        super(message);
    }

    /**
     * Makes the exception with a cause.
     *
     * @param message what is true now
     * @param cause what led to it, or {@code null} if there is no other exception behind it
     */
    @SuppressWarnings("exports") // who reads the annotations has org.jspecify; who does not must not need it
    public LockException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
