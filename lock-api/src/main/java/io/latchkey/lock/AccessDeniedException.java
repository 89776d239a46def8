// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Thrown when the server denies this client an operation that the lock needs: reading the path, creating the path or
 * its parents, or creating and deleting requests under it. Also thrown when the server has refused the client's login.
 *
 * <p>The call holds nothing and has left nothing behind. Calling again fails in the same way until the access rights at
 * the server or the credentials of the client are changed. A client whose login was refused is closed: correct the
 * credentials and create a new client.
 */
public class AccessDeniedException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception.
     *
     * @param message the operation that was refused, with the path
     */
    public AccessDeniedException(String message) {
        super(message, Reason.ACCESS_DENIED);
    }
}
