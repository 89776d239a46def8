// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A path cannot name a lock. The message has the path, or how it begins, and says what is wrong with it.
 *
 * <p>Nothing was sent. The same path will never be accepted; {@link LockClient} has the rules.
 *
 * <p>Other bad arguments are an {@link IllegalArgumentException}, for they are mistakes of the program. A path often
 * contains a key that comes from outside, so a bad one is among the errors that a caller of a lock handles.
 */
public class BadPathException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what is wrong, with the path
     */
    public BadPathException(String message) {
        super(message, Reason.BAD_PATH);
    }
}
