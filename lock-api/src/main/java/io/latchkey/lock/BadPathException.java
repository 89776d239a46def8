// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Thrown when a path cannot name a lock. The message has the path, or its beginning, and the rule that it breaks.
 *
 * <p>Nothing was sent. The same path will never be accepted; {@link LockClient} has the rules.
 *
 * <p>Other bad arguments cause an {@link IllegalArgumentException}, because they are errors of the program. A path
 * often contains a key from user input, so callers of locks handle a bad path like other failures of the lock.
 */
public class BadPathException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception.
     *
     * @param message the rule that is broken, with the path
     */
    public BadPathException(String message) {
        super(message, Reason.BAD_PATH);
    }
}
