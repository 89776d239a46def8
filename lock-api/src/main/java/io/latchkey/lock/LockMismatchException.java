// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;

/**
 * The path is not what the caller takes it for: it is another kind of lock, a semaphore with another number of permits,
 * a semaphore with a smaller capacity than the permits asked for, or a node with data that this version does not know.
 *
 * <p>The call holds nothing, and the path is unchanged. To call again is of no use: correct whichever of the two sides
 * is wrong, use another path, or update the client that is too old.
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
     * @param asked what the caller asked for
     * @param found what the server has
     */
    public LockMismatchException(String message, String asked, String found) {
        super(message);
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
     * Returns what the server has, for a person to read, such as {@code read-write}.
     *
     * @return what was found
     */
    public String found() {
        return found;
    }
}
