// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A path cannot name a lock. The message has the path, or how it begins, and says what is wrong with it.
 *
 * <p>Nothing was sent. The same path will never be accepted; {@link LockClient} has the rules.
 */
public class BadPathException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what is wrong, with the path
     */
    public BadPathException(String message) {
        super(message);
    }
}
