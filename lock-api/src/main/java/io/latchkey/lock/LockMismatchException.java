// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;

/**
 * The path is not what the caller takes it for; {@link #reason} tells the cases apart: another kind of lock, a semaphore
 * with another declared number of permits, requests of another layout, data that this version does not know, or a
 * semaphore whose present capacity is smaller than the permits asked for.
 *
 * <p>The call holds nothing, and the path is unchanged. To call again is of no use, except after a resize where the
 * reason is {@link LockException.Reason#TOO_MANY_PERMITS}: correct one of the two sides, use another path, or update the
 * client that is too old.
 */
public class LockMismatchException extends LockException {
    private static final long serialVersionUID = 1L;

    /** What the caller asked for. */
    private final String asked;

    /** What the server has. */
    private final String found;

    /**
     * Makes the exception.
     *
     * @param message what does not match, with the path and both values
     * @param reason which case it is
     * @param asked what the caller asked for
     * @param found what the server has
     */
    public LockMismatchException(String message, Reason reason, String asked, String found) {
        super(message, reason);
        this.asked = Objects.requireNonNull(asked, "asked");
        this.found = Objects.requireNonNull(found, "found");
    }

    /**
     * Returns what the caller asked for, for a person to read, such as {@code mutex}.
     *
     * @return what was asked for
     */
    public String asked() {
        return asked;
    }

    /**
     * Returns what the server has, for a person to read, such as {@code read-write lock}.
     *
     * @return what was found
     */
    public String found() {
        return found;
    }
}
