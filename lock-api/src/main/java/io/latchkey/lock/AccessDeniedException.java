// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * The server does not let this client do what the lock needs: read the path, create the path or those above it, or
 * create and delete requests under it; or it has refused the client's login.
 *
 * <p>The call holds nothing and has left nothing behind. To call again is of no use until the access rights at the
 * server or the credentials of the client have been changed.
 */
public class AccessDeniedException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what was refused, with the path
     */
    public AccessDeniedException(String message) {
        super(message, Reason.ACCESS_DENIED);
    }
}
