// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;

/**
 * Thrown when the path does not match the request. {@link #reason} distinguishes the cases: another kind of lock, a
 * semaphore with another declared number of permits, requests of another layout, data that this version does not
 * understand, or a semaphore whose current capacity is smaller than the number of permits requested.
 *
 * <p>The call holds nothing, and the path is unchanged. Calling again fails in the same way while the path is as it is.
 * For {@link LockException.Reason#TOO_MANY_PERMITS} a resize changes that, for the others the removal of the path, some
 * time after its last request. Correct one of the two clients, use another path, or update the client that is too old.
 */
public class LockMismatchException extends LockException {
    private static final long serialVersionUID = 1L;

    /** The requested lock. */
    private final String requested;

    /** The lock at the server. */
    private final String found;

    /**
     * Constructs the exception.
     *
     * @param message the mismatch, with the path and both values
     * @param reason the reason
     * @param requested the requested lock
     * @param found the lock at the server
     */
    public LockMismatchException(String message, Reason reason, String requested, String found) {
        super(message, reason);
        this.requested = Objects.requireNonNull(requested, "requested");
        this.found = Objects.requireNonNull(found, "found");
    }

    /**
     * Returns the lock that the caller requested, as text for people, such as {@code mutex}.
     *
     * @return the requested lock
     */
    public String requested() {
        return requested;
    }

    /**
     * Returns the lock that was found at the server, as text for people, such as {@code read-write lock}.
     *
     * @return the lock at the server
     */
    public String found() {
        return found;
    }
}
